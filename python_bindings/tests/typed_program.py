# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Not run: what a type checker must accept, and what it must refuse (the lines marked so)."""

import calotype as ct
import calotype.halide as hl
from calotype import runtime


def blur(width: int) -> ct.Buffer:
    x, y = ct.vars("x y")
    image = ct.ImageParam(ct.UInt(8), 2, "image")
    gain = ct.Param(ct.Float(32), "gain", 2.0)
    f = ct.Func("f")
    f[x, y] = ct.u8_sat(image[x, y] * gain + 1)
    f[x, 0] += 1
    f.tile(x, y, ct.Var(), ct.Var(), 8, 4).parallel(y).vectorize(x, 8)
    f.compute_at(f, x).store_in(ct.MemoryType.Stack)
    e: ct.Expr = ct.select(x > 3, x, 2 * y) + f[x, y]
    two = ct.Func("two")
    two[x] = (x, x + 1)
    first, second = two[x]
    ct.sum(first + second)
    r = ct.RDom([(0, width)])
    ct.sum(f[r, 0] + e)
    image.set(bytearray(3))
    f.compile_to_callable([image, gain])(bytearray(3), 1.0)
    result: ct.Buffer = f.realize([width, 4])
    return result


@ct.generator(name="typed")
class Typed(ct.Generator):
    out = ct.OutputBuffer(ct.UInt(8), 1)

    def generate(self) -> None:
        self.out[ct.Var("x")] = ct.u8(3)


def run(path: str) -> None:
    kernel: runtime.Kernel = runtime.load(path)
    loaded: bool = kernel.prefetch(0).wait(1.5)
    with ct.progress(lambda step: print(step.stage, step.number + 1, loaded)):
        ct.Func("g").compile_jit()
    kernel(bytearray(3))
    hl.Func("f").vectorize(hl.Var("x"))
    ct.torch.op(kernel)(3)


def use_generator() -> None:
    f: ct.Func = Typed.call(generator_params={})
    Typed({}).compile_to_callable()(bytearray(3))
    for element in f.realize([3]):
        print(element)
    for element in ct.Buffer(bytearray(3)):
        print(element)


def wrong() -> None:
    ct.Func("f").vectorize("x")  # refused
    ct.Func(None)  # refused
    ct.Var("x") + "text"  # refused
    ct.no_such_name  # refused
    runtime.load(3)  # refused
