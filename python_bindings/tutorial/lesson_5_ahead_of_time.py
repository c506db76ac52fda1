# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lesson 5: a generator. Compiled once, run without a compiler.

This file is two things. Without arguments it tells the story below. With arguments it is a generator
executable, as those of C++ are; `python lesson_5_ahead_of_time.py --help` lists what it takes.
"""

import pathlib
import shutil
import subprocess
import sys

import calotype as ct


@ct.generator(name="threshold")
class Threshold:
    """The members are the function's arguments, and what can be chosen when it is made."""

    inverted = ct.GeneratorParam(False)

    image = ct.InputBuffer(ct.UInt(8), 2)
    limit = ct.InputScalar(ct.UInt(8))
    result = ct.OutputBuffer(ct.UInt(8), 2)

    def generate(self):
        x, y = ct.vars("x y")
        above = self.image[x, y] > self.limit
        if self.inverted:
            above = ~above
        self.result[x, y] = ct.select(above, ct.u8(255), ct.u8(0))
        self.result.vectorize(x, self.natural_vector_size(ct.UInt(8)))


def story():
    # In a build this is done by CMake: add_calotype_generator, add_calotype_library and
    # add_calotype_python_extension. By hand, it is one command ...
    subprocess.run(
        [sys.executable, __file__, "-g", "threshold", "-f", "mask", "-o", "made"]
        + ["-e", "static_library,h", "target=host", "inverted=true"],
        check=True,
    )
    print(pathlib.Path("made/mask.h").read_text().split("int mask")[1].split(";")[0])

    # ... and a linker.
    compiler = shutil.which("c++")
    if compiler is None:
        print("there is no C++ compiler to link with: the story ends here")
        return
    subprocess.run(
        [compiler, "-shared", "-o", "made/mask.so", "-Wl,--whole-archive", "made/mask.a"]
        + ["-Wl,--no-whole-archive", "-lpthread", "-ldl"],
        check=True,
    )

    # Who calls it needs calotype.runtime alone: no compiler, no LLVM.
    program = (
        "import numpy, sys\n"
        "from calotype import runtime\n"
        "mask = runtime.load('made/mask.so')\n"
        "image = numpy.arange(64, dtype=numpy.uint8).reshape(1, 64)\n"
        "result = numpy.empty_like(image)\n"
        "mask(image, 9, result)\n"
        "assert (result == numpy.where(image > 9, 0, 255)).all()\n"
        "assert 'calotype._core' not in sys.modules\n"
        "print(mask)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)

    # The same generator in this process, as a function of Funcs ...
    x, y = ct.vars("x y")
    ramp = ct.Func("ramp")
    ramp[x, y] = ct.u8(x * 4)
    mask = Threshold.call(ramp, ct.u8(100))
    assert mask.realize([64, 1])[30, 0] == 255

    # ... and as a function of arrays.
    apply = Threshold({"inverted": True}).compile_to_callable()
    image, result = ct.Buffer(ct.UInt(8), [64, 4]), ct.Buffer(ct.UInt(8), [64, 4])
    image.fill(7)
    apply(image, 9, result)
    assert result.all_equal(255)
    print("all three ways agree")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        ct.main()
    story()
