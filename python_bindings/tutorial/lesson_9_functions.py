# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lesson 9: functions from elsewhere.

A pipeline can call functions of C: of the process, of a library, or of Python by way of ctypes.
"""

import ctypes
import math

import calotype as ct

x = ct.Var("x")

# A function of the C library, which depends on its arguments alone: calls of it may be merged or left out.
f = ct.Func("lengths")
f[x] = ct.extern_call("hypotf", ct.Float(32), [ct.f32(x), 4.0], pure=True)
lengths = f.realize([5])
assert abs(lengths[3] - 5.0) < 1e-6

# A function of Python. It must stay alive as long as the pipeline; each call of it takes Python's lock.
calls: list = []


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
def collatz(n):
    """How many steps n takes to 1."""
    calls.append(n)
    steps = 0
    while n > 1:
        n, steps = (n // 2 if n % 2 == 0 else 3 * n + 1), steps + 1
    return steps


g = ct.Func("steps")
g[x] = ct.extern_call("collatz", ct.Int(32), [x])
pipeline = ct.Pipeline(g)
pipeline.set_jit_externs({"collatz": collatz})
steps = pipeline.realize([28])
assert steps[27] == 111 and len(calls) == 28
print("27 takes", steps[27], "steps")

# Or another pipeline: compiled by itself, called as a stage. It gets the buffer that it is to fill.
inner = ct.Func("inner")
inner[x] = ct.f32(x) * x
outer, stage = ct.Func("outer"), ct.Func("stage")
stage.define_extern("square", [], ct.Float(32), 1)
outer[x] = ct.sqrt(stage[x])
stage.compute_root()
pipeline = ct.Pipeline(outer)
pipeline.set_jit_externs({"square": inner})
assert math.isclose(pipeline.realize([10])[9], 9.0)
