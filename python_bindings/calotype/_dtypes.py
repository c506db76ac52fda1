# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""numpy's types of the elements of Buffers."""

import importlib

import numpy

from ._typing import Any


def dtype_named(name: str) -> Any:
    """The dtype of a Type with this name."""
    try:
        if name == "bfloat16":
            return numpy.dtype(importlib.import_module("ml_dtypes").bfloat16)
        return numpy.dtype(name)
    except (ImportError, TypeError):
        raise AttributeError(f"numpy has no type for {name}") from None
