# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pipelines as operators of torch. On a machine with a GPU, there too."""

import copy
import inspect
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")

import calotype as ct  # noqa: E402
import calotype.torch  # noqa: E402

x, y = ct.vars("x y")
count = 0


def new_name(stem):
    global count
    count += 1
    return f"calotype_test::{stem}{count}"


def scale():
    """Of the same size as its input."""
    image, gain = ct.ImageParam(ct.Float(32), 2, "image"), ct.Param(ct.Float(32), "gain")
    f = ct.Func("scaled")
    f[x, y] = image[x, y] * gain
    return f.compile_to_callable([image, gain], ct.Target("host"))


def blur():
    """Smaller than its input."""
    image = ct.ImageParam(ct.Float(32), 2, "image")
    f = ct.Func("blurred")
    f[x, y] = image[x, y] + image[x + 2, y] + image[x, y + 1]
    return f.compile_to_callable([image], ct.Target("host"))


@pytest.fixture(scope="module")
def scaled():
    return ct.torch.op(scale(), new_name("scale"))


def test_an_operator_makes_its_result(scaled):
    image = torch.rand(5, 7)
    assert torch.equal(scaled(image, 2.0), image * 2)
    assert torch.equal(scaled(image, gain=2.0), image * 2)
    result = torch.empty(5, 7)
    scaled.into(image, 3.0, result)
    assert torch.equal(result, image * 3)
    assert "(Tensor image, float gain) -> Tensor" in repr(scaled)
    signature = inspect.signature(scaled)
    assert [(p.name, p.annotation) for p in signature.parameters.values()] == [
        ("image", torch.Tensor),
        ("gain", float),
    ]
    assert signature.return_annotation is torch.Tensor and scaled.__name__ in repr(scaled)


def test_results_are_as_large_as_inputs_allow():
    blurred = ct.torch.op(blur(), new_name("blur"))
    image = torch.rand(6, 8)
    expected = image[:-1, :-2] + image[:-1, 2:] + image[1:, :-2]
    assert torch.allclose(blurred(image), expected) and blurred(image).shape == (5, 6)
    with pytest.raises(ct.ArgumentError, match="inputs of shapes .1, 2. are not enough for any"):
        blurred(torch.rand(1, 2))


def test_shapes_that_the_user_says():
    image = ct.ImageParam(ct.Float(32), 2, "image")
    f = ct.Func("larger")
    f[x, y] = image[x / 2, y]
    call = f.compile_to_callable([image], ct.Target("host"))
    larger = ct.torch.op(call, new_name("larger"), shapes=lambda s: (s[0], 2 * s[1]))
    image = torch.rand(3, 4)
    assert torch.equal(larger(image), image.repeat_interleave(2, 1))


def test_several_results_and_types():
    image = ct.ImageParam(ct.UInt(8), 1, "image")
    limit, flag = ct.Param(ct.Int(32), "limit"), ct.Param(ct.Bool(), "flag")
    f = ct.Func("pair")
    f[x] = (ct.i32(image[x]) + limit, ct.select(flag, ct.f64(1), ct.f64(2)))
    both = ct.torch.op(f.compile_to_callable([image, limit, flag]), new_name("both"))
    first, second = both(torch.arange(4, dtype=torch.uint8), 10, True)
    assert first.tolist() == [10, 11, 12, 13] and second.tolist() == [1.0] * 4
    assert first.dtype == torch.int32 and second.dtype == torch.float64


def test_inputs_of_other_strides(scaled):
    image = torch.rand(7, 5)
    assert torch.equal(scaled(image.T, 2.0), image.T * 2)
    assert torch.equal(scaled(image[::2], 2.0), image[::2] * 2)
    assert torch.equal(scaled(torch.ones(1, 1).expand(4, 6), 2.0), torch.full((4, 6), 2.0))
    with pytest.raises(ct.ArgumentError, match="has a stride of 5 in its last dimension, must be 1"):
        scaled.into(image.T, 2.0, torch.empty(7, 5).T)


def test_errors(scaled):
    with pytest.raises(ct.ArgumentError, match="'image' has elements of type float64, must have"):
        scaled(torch.rand(3, 3, dtype=torch.float64), 1.0)
    for wrong in (torch.rand(3), torch.rand(2, 3, 3)):
        with pytest.raises(ct.ArgumentError, match=f"argument 'image' has {wrong.dim()} dimensions, must have 2"):
            scaled(wrong, 1.0)
    with pytest.raises(ct.ArgumentError, match="'.*' is no name of an operator"):
        ct.torch.op(scale(), "calotype::no name")
    with pytest.raises(ct.ArgumentError, match="a Callable has no name: say name="):
        ct.torch.op(scale())
    with pytest.raises(ct.ArgumentError, match="there is an operator .* already"):
        ct.torch.op(scale(), scaled.name)
    f = ct.Func("constant")
    f[x] = ct.f32(x)
    with pytest.raises(ct.ArgumentError, match="has no input that is a buffer"):
        ct.torch.op(f.compile_to_callable([]), new_name("constant"))


def test_opcheck(scaled):
    torch.library.opcheck(scaled._op, (torch.rand(4, 6), 2.0))
    torch.library.opcheck(scaled._op, (torch.rand(6, 4).T, 2.0))
    torch.library.opcheck(scaled.into, (torch.rand(4, 6), 2.0, torch.empty(4, 6)))
    blurred = ct.torch.op(blur(), new_name("blur"))
    torch.library.opcheck(blurred._op, (torch.rand(4, 6),))


def test_compiled_whole(scaled):
    blurred = ct.torch.op(blur(), new_name("blur"))

    def program(image):
        return blurred(scaled(image + 1, 2.0)).sum(dim=0) * 3

    image = torch.rand(6, 8)
    explained = torch._dynamo.explain(program)(image)
    assert explained.graph_break_count == 0
    for options in ({"backend": "eager"}, {"backend": "aot_eager"}, {"dynamic": True}):
        torch._dynamo.reset()
        options = {"backend": "aot_eager", **options}
        compiled = torch.compile(program, fullgraph=True, **options)
        for size in ((6, 8), (9, 12)):
            image = torch.rand(*size)
            assert torch.allclose(compiled(image), program(image))


def test_compiled_by_inductor(scaled):
    def program(image):
        return scaled(image.T + 1, 2.0) * 3

    compiled = torch.compile(program, fullgraph=True)
    image = torch.rand(6, 8)
    assert torch.allclose(compiled(image), program(image))


def test_gradients_are_registered(scaled):
    op = ct.torch.op(scale(), new_name("scale"))

    def backward(ctx, gradient):
        return op(gradient, ctx.gain), None

    def setup(ctx, inputs, output):
        ctx.gain = inputs[1]

    torch.library.register_autograd(op.name, backward, setup_context=setup)
    image = torch.rand(3, 4, requires_grad=True)
    op(image, 3.0).sum().backward()
    assert torch.equal(image.grad, torch.full((3, 4), 3.0))
    torch.library.opcheck(op._op, (image, 2.0))


def test_tensors_of_torch_as_arguments():
    call = scale()
    image, result = torch.rand(5, 7), torch.empty(5, 7)
    call(image, 2.0, result)
    assert torch.equal(result, image * 2)
    call(torch.nn.Parameter(image), 3.0, result)
    assert torch.equal(result, image * 3)
    buffer = ct.Buffer(ct.Float(32), [7, 5])
    call(image, 1.0, buffer)
    assert torch.equal(torch.from_dlpack(buffer), image)
    with pytest.raises(ct.ArgumentError, match="argument 'image': .* elements of type torch.complex64"):
        call(image.to(torch.complex64), 1.0, result)
    with pytest.raises(ct.ArgumentError, match="argument 'image': the array.* gives no view"):
        call(image.to_sparse(), 1.0, result)
    with pytest.raises(ct.ArgumentError, match="argument 'image'"):
        call(torch.empty(5, 7, device="meta"), 1.0, result)


def test_an_extension_of_torch_in_cpp(tmp_path):
    """By the emit type pytorch_wrapper."""
    compiler = shutil.which("c++")
    if compiler is None or "CALOTYPE_BUILD_DIR" not in os.environ:
        pytest.skip("there is no compiler, or no headers of Calotype")
    cpp_extension = pytest.importorskip("torch.utils.cpp_extension")
    image, gain = ct.ImageParam(ct.Float(32), 2, "image"), ct.Param(ct.Float(32), "gain")
    f = ct.Func("wrapped")  # the result has the name of the function
    f[x, y] = image[x, y] * gain
    base, types = str(tmp_path / "wrapped"), ct.OutputFileType
    kinds = {types.pytorch_wrapper: ".pytorch.h", types.c_header: ".h", types.static_library: ".a"}
    outputs = {kind: base + suffix for kind, suffix in kinds.items()}
    f.compile_to(outputs, [image, gain], "wrapped", ct.Target("host"))
    (tmp_path / "op.cpp").write_text(
        "#include <torch/library.h>\n"
        '#include "wrapped.pytorch.h"\n'
        "static at::Tensor wrapped_op(const at::Tensor &image, double gain) {\n"
        "    at::Tensor result = at::empty_like(image);\n"
        "    wrapped_th_(image, float(gain), result);\n"
        "    return result;\n"
        "}\n"
        "TORCH_LIBRARY(calotype_wrapped, m) {\n"
        '    m.def("wrapped", wrapped_op);\n'
        "}\n"
    )
    folders = [os.environ["CALOTYPE_BUILD_DIR"] + "/include", *cpp_extension.include_paths()]
    includes = ["-I" + folder for folder in folders]
    library = str(tmp_path / "op.so")
    command = [compiler, "-std=c++20", "-O0", "-shared", "-fPIC", *includes, "-o", library]
    libraries = ["-L" + folder for folder in cpp_extension.library_paths()]
    libraries += [base + ".a", "-lc10", "-ltorch_cpu", "-ltorch", "-lpthread", "-ldl"]
    subprocess.run([*command, str(tmp_path / "op.cpp"), *libraries], check=True)
    torch.ops.load_library(library)
    image = torch.rand(4, 6)
    wrapped = torch.ops.calotype_wrapped.wrapped
    assert torch.equal(wrapped(image, 2.0), image * 2)
    with pytest.raises(RuntimeError, match="argument 'image' of wrapped has elements of type Double"):
        wrapped(image.double(), 2.0)
    with pytest.raises(RuntimeError, match="argument 'image' of wrapped has 1 dimensions, must have 2"):
        wrapped(image[0], 2.0)
    with pytest.raises(RuntimeError, match="wrapped failed"):
        wrapped(image.T, 2.0)


def test_sizes_that_torch_leaves_open_stay_open():
    from torch._dynamo.testing import CompileCounter

    blurred = ct.torch.op(blur(), new_name("blur"))
    counter = CompileCounter()
    compiled = torch.compile(lambda a: blurred(blurred(a)) * 2, fullgraph=True, backend=counter)
    for shape in ((6, 9), (5, 8), (7, 12), (20, 31)):
        image = torch.rand(shape)
        assert torch.equal(compiled(image), blurred(blurred(image)) * 2)
    assert counter.frame_count == 2  # for the first size, and for all others


def test_numbers_that_torch_leaves_open(scaled):
    compiled = torch.compile(scaled, fullgraph=True, dynamic=True, backend="aot_eager")
    for gain in (1.0, 2.5, -3.0):
        image = torch.rand(int(gain) + 5, 4)
        assert torch.equal(compiled(image, gain), image * gain)


def test_sizes_that_are_no_sum_are_compiled_for():
    image = ct.ImageParam(ct.Float(32), 2, "image")
    f = ct.Func("half")
    f[x, y] = image[2 * x, y] + image[2 * x + 1, y]
    half = ct.torch.op(f.compile_to_callable([image], ct.Target("host")), new_name("half"))
    compiled = torch.compile(half, fullgraph=True, dynamic=True, backend="aot_eager")
    for width in (8, 9, 14):
        assert compiled(torch.rand(3, width)).shape == (3, width // 2)


def test_an_operator_is_exported_with_open_sizes():
    blurred = ct.torch.op(blur(), new_name("blur"))

    class Module(torch.nn.Module):
        def forward(self, a):
            return blurred(a).sum(0)

    height, width = torch.export.Dim("height", min=4), torch.export.Dim("width", min=4)
    sizes = {"a": {0: height, 1: width}}
    exported = torch.export.export(Module(), (torch.rand(6, 9),), dynamic_shapes=sizes)
    image = torch.rand(11, 20)
    assert torch.equal(exported.module()(image), blurred(image).sum(0))


@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (0, 0)])
def test_tensors_without_elements(shape):
    blurred = ct.torch.op(blur(), new_name("blur"))
    assert blurred(torch.empty(shape)).shape == shape


def test_negative_bits_are_refused():
    kernel = scale()
    conjugated = torch.rand(5, 7, dtype=torch.complex64).conj()
    result = torch.empty(5, 7)
    kernel(conjugated.imag.resolve_neg(), 2.0, result)
    assert torch.equal(result, conjugated.imag * 2)
    with pytest.raises(ct.ArgumentError, match="argument 'image'.*negative bit.*resolve_neg"):
        kernel(torch._neg_view(torch.rand(1, 1)), 2.0, torch.empty(1, 1))
    for negated in (conjugated.imag, torch._neg_view(torch.rand(3))):
        with pytest.raises(ct.ArgumentError, match="negative bit"):
            ct.Buffer(negated)


def test_buffers_as_tensors():
    buffer = ct.Buffer(torch.arange(12, dtype=torch.int16).reshape(3, 4))
    for tensor in (torch.as_tensor(buffer), torch.from_dlpack(buffer), torch.asarray(buffer.numpy_view())):
        assert tensor.shape == (3, 4) and tensor.dtype == torch.int16
        tensor[0, 0] += 1
    assert buffer[0, 0] == 3
    # What has the buffer protocol is a sequence of bytes for this one, as it is for a memoryview.
    assert torch.asarray(buffer).shape == torch.asarray(memoryview(buffer)).shape == (12,)


def test_tensors_of_another_type_are_called_by_their_name():
    for dtype in (torch.complex64, torch.float8_e4m3fn):
        with pytest.raises(ct.ArgumentError, match=f"has elements of type {dtype}, which is no type of"):
            ct.Buffer(torch.zeros(3, dtype=dtype))


def test_a_copied_module_has_the_same_operator(scaled):
    class Scale(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = scaled

        def forward(self, image):
            return self.scale(image, 3.0)

    assert copy.deepcopy(Scale())(torch.ones(2, 3)).sum() == 18
    assert copy.copy(scaled) is scaled and copy.deepcopy(scaled.kernel) is scaled.kernel


PROGRAM_FOR_TORCHS_BACKEND = """
import torch
import torch._inductor.config as config

config.cpu_backend = "halide"
config.halide.scheduler_cpu = "Mullapudi2016"


@torch.compile
def program(a, b):
    scaled = (a * b + a).softmax(-1)
    return scaled, scaled.sum(0)


a, b = torch.randn(300, 257), torch.randn(300, 257)
results = program(a, b)
expected = (a * b + a).softmax(-1)
assert torch.allclose(results[0], expected, atol=1e-6)
assert torch.allclose(results[1], expected.sum(0), atol=1e-4)
"""


@pytest.mark.skipif(shutil.which("c++") is None, reason="there is no C++ compiler")
def test_torchs_own_backend(tmp_path):
    """It imports the module `halide`, also in processes of its own, and links shared libraries."""
    (tmp_path / "halide").mkdir()
    (tmp_path / "halide/__init__.py").write_text("from calotype.halide import *\n")
    (tmp_path / "program.py").write_text(PROGRAM_FOR_TORCHS_BACKEND)
    package, installed = pathlib.Path(ct.__file__).parents[1], ct.install_dir()
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(tmp_path), str(package)]),
        "HALIDE_LIB": f"{installed}/lib",
        "HALIDE_INCLUDE": f"{installed}/include/calotype/runtime/compat",
        "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache"),
    }
    command = [sys.executable, str(tmp_path / "program.py")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]


def test_arguments_with_names_of_python():
    image, gain = ct.ImageParam(ct.Float(32), 1, "from"), ct.Param(ct.Float(32), "lambda")
    f = ct.Func("class")
    f[x] = image[x] * gain
    scaled = ct.torch.op(f.compile_to_callable([image, gain]), new_name("named"))
    assert list(inspect.signature(scaled).parameters) == ["from_", "lambda_"]
    a = torch.rand(5)
    assert torch.equal(scaled(from_=a, lambda_=2.0), a * 2)
    compiled = torch.compile(lambda t: scaled(t, lambda_=3.0), fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(a), a * 3)


def test_many_results():
    image, f = ct.ImageParam(ct.Float(32), 1, "image"), ct.Func("several")
    f[x] = tuple(image[x] + i for i in range(30))
    several = ct.torch.op(f.compile_to_callable([image]), new_name("several"))
    results = several(torch.zeros(3))
    assert len(results) == 30 and torch.equal(results[29], torch.full((3,), 29.0))
    into = [torch.empty(3) for _ in range(30)]
    several.into(torch.ones(3), *into)
    assert torch.equal(into[7], torch.full((3,), 8.0))
