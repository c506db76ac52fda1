# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What calotype.halide alone has, for programs written for Halide's module."""

import importlib

import calotype as ct
import calotype.halide as hl
import pytest

x, y = hl.vars("x y")


def test_inputs_and_outputs_are_those_outside_of_a_generator():
    image, gain = hl.InputBuffer(hl.UInt(8), dimensions=1), hl.InputScalar(hl.UInt(8))
    assert isinstance(image, hl.ImageParam) and image.dimensions() == 1
    assert isinstance(gain, hl.Param) and gain.type() == hl.UInt(8)
    out = hl.OutputBuffer(hl.UInt(8), 1)
    out[x] = image[x] * gain
    image.set(bytearray([1, 2, 3]))
    gain.set(5)
    assert list(out.realize([3])) == [5, 10, 15]
    assert isinstance(hl.OutputScalar(int), hl.Func)
    for left_open in (hl.InputBuffer(None, 2), hl.OutputBuffer(None, None), hl.InputScalar(None)):
        assert isinstance(left_open, (hl.ImageParam, hl.Func, hl.Param))


@hl.generator(name="described")
class Described:
    offset = hl.GeneratorParam(2)
    result = hl.OutputBuffer(hl.UInt(8), 1)
    image = hl.InputBuffer(hl.UInt(8), 1)
    gain = hl.InputScalar(hl.UInt(8))

    def configure(self):
        self.add_input("more", hl.InputBuffer(None, 1))

    def generate(self):
        self.result[x] = self.image[x] * self.gain + self.offset


def test_the_device_api_that_is_none():
    assert getattr(hl.DeviceAPI, "None") is hl.DeviceAPI.__members__["None"] is ct.DeviceAPI.None_


def test_what_tools_ask_of_a_generator():
    described = Described()
    infos = described._get_arginfos()
    assert [(i.name, i.dir.name, i.kind.name, i.dimensions) for i in infos] == [
        ("image", "Input", "Buffer", 1),
        ("gain", "Input", "Scalar", 0),
        ("more", "Input", "Buffer", 1),
        ("result", "Output", "Buffer", 1),
    ]
    assert infos[0].types == [hl.UInt(8)] and infos[2].types == []
    assert hl.ArgInfo("a", hl.ArgInfoDirection.Output).kind == hl.ArgInfoKind.Scalar


def test_the_pipeline_of_a_generator_by_hand():
    class Twice(hl.Generator):
        image = hl.InputBuffer(hl.UInt(8), 1)
        result = hl.OutputBuffer(hl.UInt(8), 1)

        def generate(self):
            self.result[x] = self.image[x] * 2

    twice = Twice()
    pipeline = twice._build_pipeline()
    inputs = [i for i in twice._get_arginfos() if i.dir == hl.ArgInfoDirection.Input]
    call = pipeline.compile_to_callable([twice._get_input_parameter(i.name)._to_argument() for i in inputs])
    out = bytearray(2)
    call(bytearray([3, 4]), out)
    assert out == bytearray([6, 8]) and twice._get_output_func("result").dimensions() == 1


def test_names_of_the_extension_module():
    from calotype.halide import halide_

    assert halide_.HalideError is hl.HalideError is ct.Error and hl.halide_.Func is ct.Func


def test_text_of_objects():
    f = hl.Func("f")
    f[x] = x
    for value, text in (
        (hl.Param(hl.Int(32), "p"), "Param 'p' type int32>"),
        (hl.Pipeline(f), f"Pipeline ['{f.name()}']>"),
        (hl.GeneratorContext(hl.Target("x86-64-linux")), "GeneratorContext target(x86-64-linux)>"),
        (hl.Expr(), "<undefined halide.Expr>"),
    ):
        assert repr(value).endswith(text) and "<halide." in repr(value).replace("undefined ", "")


def test_text_of_objects_as_str():
    assert str(hl.Buffer()) == "<undefined halide.Buffer>" and repr(hl.Int(32, 8)) == "<halide.Type int32x8>"
    assert repr(hl.Var("x")) == "<halide.Var 'x'>" and str(hl.Var("x")) == "x" and str(hl.Int(32)) == "int32"
    assert str(hl.RDom()) == "<halide.RDom RDom()>" and str(hl.ImageParam()) == "<halide.ImageParam ImageParam()>"


def wrong_calls():
    """What programs look for in the text of an error, and a program that meets it."""
    f, typed, pair, twice = hl.Func("f"), hl.Func(hl.Int(32), 1, "typed"), hl.Func("pair"), hl.Func("twice")
    f[x] = hl.u16(x)
    pair[x] = (x, 2.5)
    bounded, one = hl.Func("bounded"), hl.Param(hl.Int(32), "one", 1)
    bounded[x] = x
    bounded.bound(x, 0, 1)
    required = hl.Pipeline(f)
    required.add_requirement(one > 1, "one is", one)

    def update_twice():
        update = twice[x]
        update += 1
        twice[x] = update
        twice[x] = update

    def add_to_update():
        update = hl.Func("new")[x]
        update += 1
        update += 1

    def use_elsewhere():
        update = hl.Func("new")[x]
        update += 1
        hl.Func("other")[x] = update

    def define(func, *args):
        func[args[:-1]] = args[-1]

    return {
        r"f\S* has type uint16 but .* passed in is uint8": lambda: f.realize(hl.Buffer(hl.UInt(8), [2])),
        r"in x \(from 0 to 0\) do not cover .* \(from 0 to 9\)": lambda: bounded.realize([10]),
        "it is undefined": lambda: hl.Func().types(),
        'Can\'t call Func "g.*" because it has not yet been defined': lambda: define(f, x, hl.Func("g")[x]),
        "it returns a Tuple": lambda: pair.type(),
        "to have exactly 1 dimensions, but is defined with 2": lambda: define(typed, x, y, x),
        "values of type int32 but is defined with values of type int16": lambda: define(typed, x, hl.i16(x)),
        "Implicit cast from float32 to int": lambda: f[x / 2.0],
        r"Requirement Failed: \(false\) one is 1": lambda: required.realize([2]),
        "define an update when a pure definition already exists": update_twice,
        r"type\(s\) for \+=: 'halide.halide_._UnevaluatedFuncRefExpr' and 'int'": add_to_update,
        "to define an update at a different location": use_elsewhere,
        "do not have a matching type: float32 and int32": lambda: hl.select(x > 0, (hl.f32(x), x), (x, x)),
        r"Expected Tuple but got Expr: \(\(x \+ y\) < 100\)": lambda: hl.select(
            (x < 1, y < 1), (x, y), x + y < 100, (x, y), (y, x)
        ),
        "requires all Tuples to have identical sizes": lambda: hl.select(x > 0, (x, y), (x, y, x)),
        "described has no GeneratorParam named ofset": lambda: Described({"ofset": 1}),
    }


@pytest.mark.parametrize("words", wrong_calls())
def test_words_that_programs_look_for_in_errors(words):
    with pytest.raises(hl.HalideError, match=f"(?s).+\nError: .*{words}"):
        wrong_calls()[words]()


def test_an_update_without_a_value_is_a_type_error():
    for use in (lambda u: u.__iadd__(1), lambda u: u.__imul__(x), lambda u: u + 1):
        with pytest.raises(TypeError, match="unsupported operand.*has no value until it is assigned"):
            use(hl.Func("new")[x].__iadd__(1))
    f = hl.Func("f")
    f[x] = x
    update = f[x]
    update += 1
    update += 1
    f[x] = update
    assert list(f.realize([3])) == [2, 3, 4]


@pytest.mark.parametrize("features, which", [(["avx"], "feature 0 of a target is 'avx'"), ("avx", "are one text")])
def test_features_of_a_target_that_are_none(features, which):
    with pytest.raises(TypeError, match=f"incompatible constructor arguments: .*{which}"):
        hl.Target(hl.TargetOS.Linux, hl.TargetArch.X86, 64, features)
    for rest in ((), (hl.TargetProcessorTune.TuneGeneric,)):
        t = hl.Target(hl.TargetOS.Linux, hl.TargetArch.X86, 64, *rest, [hl.TargetFeature.AVX])
        assert t.has_feature(hl.TargetFeature.AVX)


@pytest.mark.parametrize("pair", [(0, 3), [0, 3]])
def test_a_range_is_a_pair(pair):
    assert len(list(hl.RDom([hl.Range(*pair)]))) == 1 and len(list(hl.RDom([pair]))) == 1
    assert repr(hl.Range(tuple(pair))) == "<halide.Range min: 0, extent: 3>"


def test_arguments_and_stages_are_made_of_what_they_stand_for():
    a = hl.Argument(hl.Buffer(hl.UInt(8), [3, 2], "constant"))
    assert (a.name, a.is_input(), a.dimensions, a.type) == ("constant", True, 2, hl.UInt(8))
    f = hl.Func("f")
    f[x] = x
    assert hl.Stage(f).name() == f.name()
    for types in ({"type": hl.Int(32)}, {"types": [hl.Int(32)]}):
        for places in ({"dimensionality": 1}, {"arguments": [x]}):
            g = hl.Func("g")
            g.define_extern("fill_it", [], **types, **places)
            assert g.dimensions() == 1
    assert "f" in hl.Pipeline(f).compile_to_module([], "f", linkage=hl.LinkageType.Internal).name()


def test_keywords_that_programs_spell_out():
    x, y = hl.Var("x"), hl.Var("y")
    image, number = hl.ImageParam(hl.UInt(8), 2, "image"), hl.Param(hl.Int(32), "number")
    buffer = hl.Buffer(hl.UInt(8), [2, 2], "buffer")
    names = [hl.Argument(im=image).name, hl.Argument(param=number).name, hl.Argument(buffer=buffer).name]
    assert names == ["image", "number", "buffer"]
    f = hl.Func("f")
    f[x, y] = hl.require(condition=x >= 0, value=x + y)
    f.reorder(vars=[y, x]).always_partition(vars=[y]).never_partition(vars=[x, y])
    f.reorder_storage(dims=[y, x])
    f[x, y] += hl.memoize_tag(result=x)
    f.update().reorder(vars=[y, x]).never_partition(vars=(x, y))
    assert f.realize([3, 2])[2, 1] == 5
    assert hl.print_when(condition=x > 0, value=x).type() == hl.Int(32)
    context = hl.GeneratorContext(hl.get_host_target())
    with pytest.raises(hl.HalideError, match="there is no generator 'nosuch'"):
        hl.create_callable_from_generator(context=context, name="nosuch")
    with pytest.raises(TypeError, match="takes a target or a context"):
        hl.create_callable_from_generator(name="nosuch")
    with pytest.raises(TypeError, match="misses the name"):
        hl.create_callable_from_generator(hl.get_host_target())


@pytest.mark.parametrize("module", ["calotype", "calotype.halide"])
def test_all_names_at_once(module):
    names = {}
    exec(f"from {module} import *", names)
    f, i = names["Func"](), names["Var"]()
    f[i] = names["max"](i, 2)
    assert list(f.realize([4])) == [2, 2, 2, 3]
    assert {"generator", "vars", "_", "ArgumentError", "BoundaryConditions"} <= set(names)
    # That of Python, which catches ours, too.
    assert "RuntimeError" not in names and issubclass(hl.RuntimeError, RuntimeError)


def test_generators_take_the_keywords_of_halide():
    @hl.generator(name="by_keyword")
    class ByKeyword:
        offset = hl.GeneratorParam(value=3)
        result = hl.OutputBuffer(types=hl.Int(32), dimensions=1)
        total = hl.OutputScalar(types=hl.Int(32))

        def configure(self):
            self.add_input(name="gain", io=hl.InputScalar(type=hl.Int(32)))
            self.add_output(name="further", io=hl.OutputScalar(types=hl.Int(32)))

        def generate(self):
            self.result[x] = x * self.gain + self.offset
            self.total[()] = self.gain
            self.further[()] = 1

    result, total, further = ByKeyword.call(5)
    assert list(result.realize([2])) == [3, 8] and total.realize([])[()] == 5
    params = hl.AutoschedulerParams(target="Mullapudi2016", autoscheduler_params={"parallelism": 4})
    assert params.name == "Mullapudi2016" and params.extra == {"parallelism": "4"}


def test_the_module_can_be_reloaded():
    again = importlib.reload(hl)
    f = again.Func("f")
    f[x] = x
    assert list(f.realize([2])) == [0, 1] and repr(f).startswith("<halide.Func 'f")
    assert getattr(again.DeviceAPI, "None") == again.DeviceAPI.None_
