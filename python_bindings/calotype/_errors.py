# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The exceptions of the package."""

import builtins


class Error(Exception):
    """Base of all that the compiler and pipelines raise."""


class CompileError(Error):
    """An algorithm, a schedule, a generator or a call is wrong."""


class ArgumentError(Error, ValueError, TypeError, builtins.RuntimeError):
    """An argument of a compiled pipeline, or an array, is not what it must be."""


class CallError(CompileError, ArgumentError):
    """A call of the language is given what it cannot take."""


class RuntimeError(Error, builtins.RuntimeError):
    """A pipeline reported an error as it ran."""


class InternalError(Error):
    """A bug of the compiler."""


class CompileWarning(UserWarning):
    """What the compiler warns of."""


for _class in (Error, CompileError, ArgumentError, CallError, RuntimeError, InternalError, CompileWarning):
    _class.__module__ = "calotype"
