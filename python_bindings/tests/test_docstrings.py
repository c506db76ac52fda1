# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every public name says what it is to help()."""

import enum
import inspect
import types

import calotype as ct
import calotype.halide
import calotype.imageio
import calotype.runtime
import pytest

# Of Python's own classes, or attributes that a class sets to say what it has not.
OF_PYTHON = {*dir(Exception), *dir(tuple), *dir(dict), *dir(enum.Enum)}


def is_documented(value):
    overloads = getattr(value, "__nb_signature__", None)
    if overloads is not None:
        return any(doc for _, doc, *_ in overloads)
    return bool(value.__doc__)


def undocumented_in(owner, names):
    for name in names:
        value = inspect.getattr_static(owner, name)
        if isinstance(value, (staticmethod, classmethod)):
            value = value.__func__
        kinds = (type, property, types.FunctionType, types.ModuleType)
        if isinstance(value, kinds) or hasattr(value, "__nb_signature__") or callable(value):
            if not is_documented(value):
                yield name


def members_of(cls):
    is_enum = issubclass(cls, enum.Enum)
    return [] if is_enum else [m for m in dir(cls) if not m.startswith("_") and m not in OF_PYTHON]


modules = [ct, ct.halide, ct.imageio, ct.runtime]
left_out = {"torch"}  # needs that library
public = {
    m: [n for n in getattr(m, "__all__", dir(m)) if not n.startswith("_") and n not in left_out]
    for m in modules
}
classes = {v for m in modules for v in (getattr(m, n) for n in public[m]) if isinstance(v, type)}


@pytest.mark.parametrize("module", modules, ids=lambda m: m.__name__)
def test_names_of_modules(module):
    for name in public[module]:
        getattr(module, name)  # those of calotype are there once they were asked for
    assert list(undocumented_in(module, public[module])) == []


@pytest.mark.parametrize("cls", sorted(classes, key=lambda c: c.__name__), ids=lambda c: c.__name__)
def test_members_of_classes(cls):
    assert cls.__doc__
    assert list(undocumented_in(cls, members_of(cls))) == []


def test_comments_of_the_headers_are_docstrings():
    assert "the inner has `factor` iterations" in ct.Func.split.__doc__
    assert ct.Func.split.__doc__.count("the inner has") == 1
    assert "/// " not in ct.Func.split.__doc__ and "::" not in ct.Func.specialize.__doc__
    assert "The square root" in ct.sqrt.__doc__
    assert "image[x, y]" in ct.Func.realize.__doc__
