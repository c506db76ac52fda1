# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The name of the extension module of Halide's, from which some programs import."""

from . import *  # noqa: F403
