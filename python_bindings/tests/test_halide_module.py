# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What calotype.halide alone has, for programs written for Halide's module."""

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
        (hl.Expr(), "<undefined calotype.Expr>"),
    ):
        assert repr(value).endswith(text)


@pytest.mark.parametrize("pair", [(0, 3), [0, 3]])
def test_a_range_is_a_pair(pair):
    assert len(list(hl.RDom([hl.Range(*pair)]))) == 1 and len(list(hl.RDom([pair]))) == 1
    assert repr(hl.Range(tuple(pair))) == "<calotype.Range min: 0, extent: 3>"


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
