# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generators in Python: parameters, inputs, outputs, in this process and from a command line."""

import array
import dataclasses
import enum
import functools
import os
import subprocess
import sys

import calotype as ct
import pytest

x, y = ct.vars("x y")


@ct.alias(brighten_by_40={"offset": 40})
@ct.generator(name="brighten")
class Brighten:
    """Adds."""

    offset = ct.GeneratorParam(10)
    vectorize = ct.GeneratorParam(True)
    kind = ct.GeneratorParam(ct.UInt(8))
    scale = ct.GeneratorParam(1.0)
    mode = ct.GeneratorParam("plain")

    image = ct.InputBuffer(ct.UInt(8), 2)
    gain = ct.InputScalar(float)
    brighter = ct.OutputBuffer(ct.UInt(8), 2)

    def generate(self):
        assert isinstance(self.image, ct.ImageParam) and isinstance(self.gain, (ct.Param, ct.Expr))
        assert isinstance(self.offset, int) and isinstance(self.vectorize, bool)
        e = ct.f32(self.image[x, y]) * self.gain * self.scale + self.offset
        self.brighter[x, y] = ct.u8_sat(e)
        if self.vectorize:
            self.brighter.vectorize(x, self.natural_vector_size(ct.UInt(8)))


def image(value=5):
    b = ct.Buffer(ct.UInt(8), [128, 4])
    b.fill(value)
    return b


def test_callable_of_a_generator():
    out = image(0)
    Brighten().compile_to_callable()(image(), 2.0, out)
    assert out.all_equal(20)
    with ct.GeneratorContext(ct.Target("host-no_asserts")):
        g = Brighten({"offset": 1, "vectorize": False, "scale": 2.0})
        assert g.target().has_feature(ct.TargetFeature.NoAsserts)
    g.compile_to_callable()(gain=1, image=image(), brighter=out)
    assert out.all_equal(11)


def test_callable_by_name_and_alias():
    host = ct.get_jit_target_from_environment()
    out = image(0)
    ct.create_callable_from_generator(host, "brighten", {"offset": 3})(image(), 1, out)
    assert out.all_equal(8)
    ct.create_callable_from_generator(host, "brighten_by_40")(image(), 1, out)
    assert out.all_equal(45)
    with pytest.raises(ct.CompileError, match="no generator 'brigten'.*brighten"):
        ct.create_callable_from_generator(host, "brigten")


def test_call_gives_funcs():
    f = Brighten.call(image(), 2.0)
    assert isinstance(f, ct.Func) and f.realize([128, 4]).all_equal(20)
    ramp = ct.ImageParam(ct.UInt(8), 2)
    ramp.set(image(1))
    f = Brighten.call(gain=ct.Expr(3.0), image=ramp, generator_params={"offset": 0})
    assert f.realize([128, 4]).all_equal(3)


def test_errors_of_call():
    real = ct.Func("real")
    real[x, y] = ct.f32(x + y)
    wrong = {
        "at most 2 positional args, but 3 were specified. Its inputs are image, gain": lambda: Brighten.call(image(), 1.0, 3),
        "'brighten' requires 2 args, but 1 were specified. Missing: gain": lambda: Brighten.call(image()),
        "Unknown input 'color' specified via keyword argument: .* has image, gain": lambda: Brighten.call(image(), color=1),
        "Input gain specified multiple times": lambda: Brighten.call(image(), 1.0, gain=2.0),
        "Input image requires .* 'brighten' is given 3": lambda: Brighten.call(3, 1.0),
        "Input image requires an ImageParam or Buffer argument, an array or a Func": lambda: Brighten.call(
            "text", 1.0
        ),
        "Input gain requires .* literal.* is given 'much'": lambda: Brighten.call(image(), "much"),
        "Input gain requires .* is given <.*Buffer": lambda: Brighten.call(image(), image()),
        "generator_params must be a dict, is \\[1\\]": lambda: Brighten.call(image(), 1.0, generator_params=[1]),
        "'image' takes uint8, the buffer that is given has float32": lambda: Brighten.call(
            array.array("f", [0, 1]), 1.0
        ),
        "'image' takes uint8, Func 'real' has float32": lambda: Brighten.call(real, 1.0),
        "'image' takes 2 dimensions, the buffer that is given has 1": lambda: Brighten.call(
            b"line", 1.0
        ),
        "has no parameter 'ofset'": lambda: Brighten({"ofset": 1}),
        "offset": lambda: Brighten({"offset": "many"}),
    }
    for text, call in wrong.items():
        with pytest.raises(ct.CompileError, match=text):
            call()


def test_a_generator_is_shown_by_its_name():
    assert repr(Brighten()).endswith(".Generator 'brighten'>")


def test_generator_params_of_numpy():
    numpy = pytest.importorskip("numpy")
    seen = []

    @ct.generator(name="of_numpy")
    class OfNumpy:
        number = ct.GeneratorParam(numpy.int64(3))
        factor = ct.GeneratorParam(numpy.float32(0.5))
        fast = ct.GeneratorParam(numpy.bool_(True))
        kind = ct.GeneratorParam(numpy.uint8)
        result = ct.OutputBuffer(ct.Int(32), 1)

        def generate(self):
            seen.append((self.number, self.factor, self.fast, self.kind))
            self.result[x] = x

    OfNumpy.call()
    params = {"number": numpy.uint8(7), "factor": numpy.float64(2), "fast": numpy.bool_(False)}
    OfNumpy.call(generator_params={**params, "kind": numpy.dtype("int16")})
    assert seen == [(3, 0.5, True, ct.UInt(8)), (7, 2.0, False, ct.Int(16))]
    with pytest.raises(ct.CompileError, match="is no int64"):
        OfNumpy.call(generator_params={"number": numpy.float32(1.5)})

    @ct.generator(name="of_a_large_number")
    class OfALargeNumber:
        number = ct.GeneratorParam(2**70)

    with pytest.raises(ct.CompileError, match="'number' has the default .* which does not fit in int64"):
        OfALargeNumber.call()


def test_parameters_of_an_enum():
    class Border(enum.Enum):
        clamp = "repeat the edge"
        zero = "zeros"
        none = zero

    class Level(enum.IntEnum):
        low = 3
        high = 7

    class Parts(enum.Flag):
        left = 1
        right = 2

    seen = []

    @ct.generator(name="of_an_enum")
    class OfAnEnum:
        border = ct.GeneratorParam(Border.clamp)
        level = ct.GeneratorParam(Level.high)
        part = ct.GeneratorParam(Parts.left)
        out = ct.OutputBuffer(int, 1)

        def generate(self):
            seen.append((self.border, self.level, self.part))
            self.out[x] = x + self.level

    OfAnEnum.call()
    OfAnEnum.call(generator_params={"border": Border.zero, "level": Level.low, "part": "right"})
    OfAnEnum.call(generator_params={"border": "clamp", "level": "low"})
    assert seen == [
        (Border.clamp, Level.high, Parts.left),
        (Border.zero, Level.low, Parts.right),
        (Border.clamp, Level.low, Parts.left),
    ]
    for wrong in ("Clamp", 7, Parts.left | Parts.right, "none"):
        with pytest.raises(ct.CompileError, match="'border'.* is none of clamp, zero"):
            OfAnEnum.call(generator_params={"border": wrong})

    @ct.generator(name="of_two_members")
    class OfTwoMembers:
        part = ct.GeneratorParam(Parts.left | Parts.right)
        out = ct.OutputBuffer(int, 1)

    with pytest.raises(ct.CompileError, match="'part' has the default .*no single member of its enum"):
        OfTwoMembers.call()


def test_generators_know_their_autoscheduler():
    chosen = ct.AutoschedulerParams("careful", {"parallelism": "3"})
    seen = []

    @ct.generator
    class Asks:
        out = ct.OutputBuffer(int, 1)

        def generate(self):
            for params in (self.autoscheduler(), self.context().autoscheduler_params()):
                seen.append((params.name, params.extra, self.using_autoscheduler()))
            self.out[x] = x

    ct.Pipeline.add_autoscheduler("careful", lambda *_: None)
    with ct.GeneratorContext(ct.Target("host"), chosen):
        Asks().compile_to_callable()
    Asks().compile_to_callable()
    assert seen == [("careful", {"parallelism": "3"}, True)] * 2 + [("", {}, False)] * 2


def test_members_cannot_be_replaced():
    @ct.generator
    class Replaces:
        out = ct.OutputBuffer(int, 1)

        def generate(self):
            self.out = ct.Func()

    with pytest.raises(AttributeError, match="'out' of a generator"):
        Replaces().compile_to_callable()


def test_an_exception_in_generate_arrives():
    @ct.generator
    class Fails:
        out = ct.OutputBuffer(int, 1)

        def generate(self):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        Fails().compile_to_callable()


@ct.generator(name="open")
class Open(ct.Generator):
    extra = ct.GeneratorParam("")
    image = ct.InputBuffer(None, None)
    pair = ct.OutputBuffer(None, 1)
    total = ct.OutputScalar(ct.Int(32))

    def configure(self):
        if self.extra:
            self.add_input(self.extra, ct.InputScalar(ct.Int(32)))
        self.add_output("added", ct.OutputBuffer(ct.Int(32), 1))

    def generate(self):
        self.add_requirement(ct.Expr(True))
        more = getattr(self, self.extra) if self.extra else 0
        self.pair[x] = (self.image[x], ct.f32(self.image[x]))
        self.added[x] = ct.i32(self.image[x]) + more
        self.total[()] = ct.i32(self.image[0])


def test_types_left_open_and_added_members():
    given = ct.Buffer(ct.Int(16), [4])
    given.fill(3)
    params = {"pair.type": [ct.Int(16), ct.Float(32)], "extra": "more"}
    pair, total, added = Open.call(given, more=4, generator_params=params)
    assert pair.types() == [ct.Int(16), ct.Float(32)]
    assert added.realize([4]).all_equal(7) and total.realize()[()] == 3
    with pytest.raises(ct.CompileError, match="image.*has no type: set generator parameter 'image.type'"):
        Open().compile_to_callable()
    c = Open({"image.type": ct.UInt(8), "image.dim": 1, "pair.type": "uint8,float32"})
    assert "(image: uint8[1], pair_0: uint8[1], pair_1: float32[1], total: int32[0], added: int32[1])" in repr(c.compile_to_callable())


def test_classes_that_can_be_no_generators():
    def none(name, **members):
        return ct.generator(name=name)(type("None_", (), {"generate": lambda self: None, **members}))

    with pytest.raises(ct.CompileError, match="generator 'making' has a method __init__"):
        none("making", __init__=lambda self: None)
    with pytest.raises(ct.CompileError, match="generator 'data' has a method __init__, also as a dataclass"):
        ct.generator(name="data")(dataclasses.make_dataclass("Data", [("k", int, 3)]))
    with pytest.raises(ct.CompileError, match="the name of generator None_ is 3, must be a str"):
        none(3)
    with pytest.raises(ct.CompileError, match="before a class"):
        ct.generator(name="function")(lambda: 3)


@pytest.mark.parametrize(
    "member, text",
    [
        (lambda: ct.InputScalar(str), r"^InputScalar: <class 'str'> \(type\) is no type$"),
        (lambda: ct.InputBuffer("byte", 1), r"^InputBuffer: 'byte' is no type: names are as 'uint8', 'float32' or 'bool'$"),
        (lambda: ct.OutputBuffer([ct.Int(8), 3], 1), r"^OutputBuffer: 3 \(int\) is no type$"),
        (lambda: ct.OutputScalar(bytes), r"^OutputScalar: <class 'bytes'> \(type\) is no type$"),
        (lambda: ct.OutputScalar(complex), r"^OutputScalar: there is no element type like complex$"),
        (lambda: ct.OutputBuffer(int, "1"), r"^OutputBuffer: dimensions is '1' \(str\), must be an int from 0, or"),
        (lambda: ct.InputBuffer(int, -1), r"^InputBuffer: dimensions is -1 \(int\), must be an int from 0, or None$"),
        (lambda: ct.InputBuffer(int, 1.0), r"^InputBuffer: dimensions is 1.0 \(float\), must be"),
    ],
)
def test_members_that_there_are_not(member, text):
    with pytest.raises(ct.CallError, match=text):
        member()


async def a_coroutine(self):
    pass


async def two_of_them(self):
    yield


@pytest.mark.parametrize(
    "method, text",
    [
        (3, r"is 3 \(int\)"),
        (staticmethod(lambda: None), "is a staticmethod"),
        (classmethod(lambda cls: None), "is a classmethod"),
        (a_coroutine, "is a function with async, which nothing awaits"),
        (two_of_them, "is a function with async, which nothing awaits"),
        (lambda self: (yield), "is a function with yield, whose body nothing runs"),
    ],
)
@pytest.mark.parametrize("name", ["configure", "generate"])
def test_methods_that_would_define_nothing(method, text, name):
    says = f"^{name} of generator 'Odd' {text}; it must be a method of an instance$"
    with pytest.raises(ct.CompileError, match=says):
        ct.generator(type("Odd", (), {name: method}))
    with pytest.raises(ct.CompileError, match=says):
        type("Odd", (ct.Generator,), {name: method})


def test_methods_that_are_made_of_others():
    def define(self, value):
        self.out[x] = value

    @ct.generator(name="of_another")
    class OfAnother:
        out = ct.OutputBuffer(int, 1)
        generate = functools.partialmethod(define, 7)

    assert OfAnother.call().realize([3]).all_equal(7)


def test_names_of_parameters_are_texts():
    says = r"a name in generator_params is 1 \(int\), must be a str"
    with pytest.raises(ct.CompileError, match=says):
        Brighten({1: 2})
    with pytest.raises(ct.CompileError, match=says):
        ct.create_callable_from_generator(ct.Target("host"), "brighten", {1: 2})
    with pytest.raises(ct.CompileError, match="generator_params must be a dict"):
        ct.create_callable_from_generator(ct.Target("host"), "brighten", [("offset", 2)])


@pytest.mark.parametrize(
    "use, text",
    [
        (lambda: ct.find_generator(3), r"the name of a generator is 3 \(int\), must be a str"),
        (
            lambda: ct.create_callable_from_generator(ct.Target("host"), 3),
            r"the name of a generator is 3 \(int\), must be a str",
        ),
        (
            lambda: Brighten().add_input(3, ct.InputScalar(int)),
            r"the name of an input or output that generator 'brighten' adds is 3 \(int\), must be a str",
        ),
        (
            lambda: ct.GeneratorContext("host", "Mullapudi2016"),
            r"autoscheduler_params is 'Mullapudi2016' \(str\), must be AutoschedulerParams",
        ),
        (lambda: ct.main("-g"), r"argv is '-g' \(str\), must be a list of str"),
        (lambda: ct.main(["-g", 3]), r"argv is \['-g', 3\] \(list\), must be a list of str"),
        (
            lambda: ct.alias(other_int={"offset": 3})(int),
            r"alias of <class 'int'> \(type\), which is no generator: @alias stands before @generator",
        ),
    ],
)
def test_what_functions_of_generators_cannot_take(use, text):
    with pytest.raises(ct.CompileError, match=f"^{text}$"):
        use()


def test_two_generators_of_one_name():
    with pytest.raises(ct.CompileError, match="two generators are registered as 'brighten'"):

        @ct.generator(name="brighten")
        class Other:
            pass


SOURCE = """
import calotype as ct

@ct.generator(name="ramp")
class Ramp:
    step = ct.GeneratorParam(2)
    start = ct.InputScalar(int)
    out = ct.OutputBuffer(int, 1)

    def generate(self):
        x = ct.Var("x")
        self.out[x] = self.start + x * self.step

if __name__ == "__main__":
    ct.main()
"""


def command(tmp_path, *args, source=SOURCE):
    (tmp_path / "ramp_generator.py").write_text(source)
    return subprocess.run(
        [sys.executable, "ramp_generator.py", *args],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=os.environ,
        check=False,
    )


def test_command_line(tmp_path):
    done = command(tmp_path, "-g", "ramp", "-o", "out", "-e", "o,h,stmt", "target=host", "step=5")
    assert done.returncode == 0, done.stderr
    assert "int ramp(" in (tmp_path / "out/ramp.h").read_text()
    assert (tmp_path / "out/ramp.o").stat().st_size > 0
    both = "target=x86-64-linux-avx2,x86-64-linux"
    done = command(tmp_path, "-g", "ramp", "-f", "ns::f", "-o", "out", "-e", "static_library", both)
    assert done.returncode == 0 and (tmp_path / "out/f.a").exists(), done.stderr


def test_what_an_autoscheduler_writes(tmp_path):
    done = command(tmp_path, "-g", "ramp", "-o", "out", "-e", "o,schedule", "target=host")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/ramp.schedule.h").read_text() == "// No autoscheduler has written a schedule.\n"
    rows = 'ct.Pipeline.add_autoscheduler("rows", lambda p, t, a: "// rows of " + a.extra["lanes"])'
    source = SOURCE.replace("    ct.main()", f"    {rows}\n    ct.main()")
    args = ["-e", "schedule", "target=host", "autoscheduler=rows", "autoscheduler.lanes=4"]
    done = command(tmp_path, "-g", "ramp", "-o", "out", *args, source=source)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/ramp.schedule.h").read_text() == "// rows of 4"
    assert "  schedule  " in command(tmp_path, "--help").stdout


CMAKE = """
cmake_minimum_required(VERSION 3.25)
project(downstream LANGUAGES CXX)
find_package(Calotype REQUIRED)
add_calotype_generator(ramp_generator SOURCES ramp_generator.py)
add_calotype_library(ramp FROM ramp_generator TARGETS host PARAMS step=7)
add_executable(main main.cpp)
target_link_libraries(main PRIVATE ramp)
add_calotype_python_extension(ramps LIBRARIES ramp)
"""

MAIN = """
#include <calotype/buffer.h>
#include <cstdio>
#include "ramp.h"
int main() {
    calotype::Runtime::Buffer<int, 1> out(4);
    return ramp(100, out) || printf("%d %d\\n", out(0), out(3)) < 0;
}
"""


class Downstream:
    """A project in a folder that finds the CMake package; b is what it is built in."""

    def __init__(self, folder):
        self.build_tree = os.environ.get("CALOTYPE_BUILD_DIR")
        if not self.build_tree:
            pytest.skip("CALOTYPE_BUILD_DIR names no build folder with the CMake package")
        self.folder = folder

    def run(self, *args):
        paths = os.pathsep.join([os.environ.get("PYTHONPATH", ""), str(self.folder / "b")])
        env = {**os.environ, "PYTHONPATH": paths}
        done = subprocess.run(
            args, cwd=self.folder, capture_output=True, text=True, env=env, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def configure(self, *args):
        self.run("cmake", "-G", "Ninja", "-B", "b", f"-DCMAKE_PREFIX_PATH={self.build_tree}", *args)

    def build(self):
        self.run("cmake", "--build", "b")


def test_a_context_is_of_its_task():
    import asyncio

    async def target_within(text):
        with ct.GeneratorContext(ct.Target(text)):
            await asyncio.sleep(0)  # now the other task has its own
            return str(ct.active_generator_context().target())

    async def both():
        return await asyncio.gather(*map(target_within, ("x86-64-linux", "x86-64-linux-avx")))

    assert asyncio.run(both()) == ["x86-64-linux", "x86-64-linux-avx"]


def test_the_module_says_where_the_cmake_package_is(tmp_path):
    project = Downstream(tmp_path)
    assert ct.install_dir() == project.build_tree
    assert project.run(sys.executable, "-m", "calotype", "--install-dir") == project.build_tree + "\n"


def test_cmake_runs_a_generator_in_python(tmp_path):
    project = Downstream(tmp_path)
    (tmp_path / "ramp_generator.py").write_text(SOURCE)
    (tmp_path / "CMakeLists.txt").write_text(CMAKE)
    (tmp_path / "main.cpp").write_text(MAIN)

    project.configure(f"-DCalotype_PYTHON={sys.executable}")
    project.build()
    assert project.run("b/main") == "100 121\n"
    (tmp_path / "ramp_generator.py").write_text(SOURCE.replace("x * self.step", "x - self.step"))
    project.build()
    assert project.run("b/main") == "93 96\n"
    # What the generator has imported is compiled again with it.
    (tmp_path / "my parts").mkdir()
    part = tmp_path / "my parts" / "offset.py"
    part.write_text("OFFSET = 20")
    imports = "import sys; sys.path.append('my parts'); import offset"
    source = SOURCE.replace("x * self.step", "x + offset.OFFSET").replace("import calotype", f"{imports}\nimport calotype", 1)
    (tmp_path / "ramp_generator.py").write_text(source.replace("'my parts'", repr(str(part.parent))))
    project.build()
    assert project.run("b/main") == "120 123\n"
    part.write_text("OFFSET = -7")
    project.build()
    assert project.run("b/main") == "93 96\n"
    code = "import array, ramps; o = array.array('i', [0] * 3); ramps.ramp(1, out=o); print(list(o))"
    assert project.run(sys.executable, "-c", code) == "[-6, -5, -4]\n"


CPP_GENERATORS = """
#include <calotype/calotype.h>
using namespace calotype;
struct Mix : Generator<Mix> {
    GeneratorParam<int> offset{"offset", 1};
    GeneratorParam<LoopLevel> place{"place", LoopLevel::inlined()};
    Input<Buffer<uint8_t, 1>> image{"image"};
    Input<Func[2]> weights{"weights", Int(32), 1};
    Input<float> gain{"gain", 2.0f};
    Output<Buffer<float, 1>> mixed{"mixed"};
    Output<Func[2]> parts{"parts", Int(32), 1};
    void generate() {
        Var x("x");
        parts[0](x) = image(x) + weights[0](x);
        parts[1](x) = image(x) * weights[1](x) + offset;
        mixed(x) = cast<float>(parts[0](x) + parts[1](x)) * gain;
        parts[0].compute_at(place);
    }
};
struct Twice : Generator<Twice> {
    Input<Buffer<int, 1>> in{"in"};
    Output<Buffer<int, 1>> out{"out"};
    void generate() {
        Var x("x");
        out(x) = in(x) * 2;
    }
};
CALOTYPE_REGISTER_GENERATOR(Mix, mix)
CALOTYPE_REGISTER_GENERATOR(Twice, twice)
"""

CPP_CMAKE = """
cmake_minimum_required(VERSION 3.25)
project(downstream LANGUAGES CXX)
find_package(Calotype REQUIRED)
add_calotype_python_generators(mixers SOURCES generators.cpp GENERATORS mix twice)
"""

CPP_USE = """
import re
import calotype as ct, numpy as np, mixers
x = ct.Var("x")
ones, ramp, photo = ct.Func("ones"), ct.Func("ramp"), np.array([5, 6, 7], np.uint8)
ones[x], ramp[x] = 1, x
mixed, parts = mixers.mix.call(photo, weights=[ones, ramp], gain=0.5, generator_params={"offset": 10})
print(mixed.realize([3]).numpy_view().tolist(), parts[1].realize([3]).numpy_view().tolist())
mixers.mix.call(photo, [ones, ramp], 2.0, generator_params={"place": ct.LoopLevel.root()})
with ct.GeneratorContext(ct.Target("host")):
    double = mixers.twice.compile_to_callable()
out = np.zeros(2, np.int32)
double(np.array([4, 5], np.int32), out)
print(out.tolist(), mixers.mix, hasattr(mixers, "call"))
def message(f):
    try:
        f()
    except ct.Error as e:
        print(re.sub(r"\\$\\d+|1148\\d+", "", str(e)))
message(lambda: mixers.twice.call())
message(lambda: mixers.twice.call(out, out))
message(lambda: mixers.twice.call(inn=out))
message(lambda: mixers.twice.call("text"))
message(lambda: mixers.twice.call(np.zeros(3, ">i4")))
message(lambda: mixers.twice.call(np.zeros(3, np.uint8)))
message(lambda: mixers.twice.call(out).realize([5]))
message(lambda: mixers.mix.call(photo, [ones, ramp], 1 << 2000))
"""

CPP_PRINTS = """
[8.0, 11.5, 16.0] [10, 16, 24]
[8, 10] <calotype.RegisteredGenerator 'mix'> False
generator 'twice' requires 1 args, but 0 were specified. Missing: in
generator 'twice' allows at most 1 positional args, but 2 were specified. Its inputs are in
Unknown input 'inn' specified via keyword argument: generator 'twice' has in
Input in requires an ImageParam or Buffer argument, an array or a Func: generator 'twice' is given 'text'
Input in requires an ImageParam or Buffer argument, an array or a Func: generator 'twice' is given array([0, 0, 0], dtype='>i4'): the array has big-endian elements
input 'in' takes int32, the buffer that is given has uint8
input buffer in covers [0, 1] in dimension 0, must cover [0, 4]
gain is ... (int), which does not fit in float32
"""


def test_generators_in_cpp_are_modules(tmp_path):
    project = Downstream(tmp_path)
    (tmp_path / "generators.cpp").write_text(CPP_GENERATORS)
    (tmp_path / "CMakeLists.txt").write_text(CPP_CMAKE)
    (tmp_path / "use.py").write_text(CPP_USE)
    project.configure()
    project.build()
    assert project.run(sys.executable, "use.py").splitlines() == CPP_PRINTS.strip().splitlines()


def test_the_pipeline_of_a_generator_as_a_file(tmp_path):
    done = command(tmp_path, "-g", "ramp", "-o", "out", "-e", "ctpipe", "target=host", "step=5")
    assert done.returncode == 0, done.stderr
    pipeline = ct.deserialize_pipeline(tmp_path / "out/ramp.ctpipe", {"start": ct.Param(int, "start", 100)})
    assert list(pipeline.realize([3])) == [100, 105, 110]


def test_help_and_errors_of_the_command_line(tmp_path):
    assert "  ramp\n" in command(tmp_path, "--help").stdout
    assert "step" in command(tmp_path, "--help", "-g", "ramp").stdout
    done = command(tmp_path, "-g", "ramp", "-o", "out", "target=host", "stop=5")
    assert done.returncode == 1 and "has no parameter 'stop', did you mean 'step'" in done.stderr
    done = command(tmp_path, "-g", "rump", "-o", "out")
    assert done.returncode == 1 and "ramp" in done.stderr
    assert command(tmp_path, "-g").returncode == 2
