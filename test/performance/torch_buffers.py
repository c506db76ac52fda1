# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch's tensors as calotype_buffer_t (runtime/abi/buffer.h), for benchmarks that call generated functions by ctypes."""
import ctypes

import torch

from raw_buffers import Buffer, Dimension, Type

CODES = {torch.int8: (0, 8), torch.int32: (0, 32), torch.float16: (2, 16), torch.float32: (2, 32),
         torch.bfloat16: (4, 16)}  # code and bits of calotype_type_t
DEVICE_DIRTY = 2


def dense(tensor, extents):
    """A dense tensor of the extents, innermost first, with its memory if that is the host's. The dimensions must live as long."""
    dims, stride = (Dimension * len(extents))(), 1
    for d, extent in enumerate(extents):
        dims[d] = Dimension(0, extent, stride, 0)
        stride *= extent
    host = None if tensor.is_cuda else tensor.data_ptr()
    return Buffer(0, None, host, 0, Type(*CODES[tensor.dtype], 1), len(extents), dims, None), dims


def on_device(library, tensor, extents):
    """The same with its memory on the device, which the generated library is told of."""
    buffer, dims = dense(tensor, extents)
    if library.calotype_cuda_wrap_device_ptr(None, ctypes.byref(buffer), ctypes.c_uint64(tensor.data_ptr())) != 0:
        raise RuntimeError("the array cannot be used")
    buffer.flags |= DEVICE_DIRTY
    return buffer, dims
