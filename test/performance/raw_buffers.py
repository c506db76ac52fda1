# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""calotype_buffer_t (runtime/abi/buffer.h), for benchmarks that call generated functions by ctypes."""
import ctypes


class Dimension(ctypes.Structure):
    _fields_ = [("min", ctypes.c_int32), ("extent", ctypes.c_int32), ("stride", ctypes.c_int32), ("flags", ctypes.c_uint32)]


class Type(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Buffer(ctypes.Structure):
    _fields_ = [("device", ctypes.c_uint64), ("device_interface", ctypes.c_void_p), ("host", ctypes.c_void_p),
                ("flags", ctypes.c_uint64), ("type", Type), ("dimensions", ctypes.c_int32),
                ("dim", ctypes.POINTER(Dimension)), ("padding", ctypes.c_void_p)]
