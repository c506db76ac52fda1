# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products by matrix instructions: the code that is made for CUDA, and the same loops run by OpenCL."""

import calotype as ct
import pytest

x, y, xi, yi = ct.vars("x y xi yi")
opencl = ct.Target("host-opencl")


def product(element, total_type, depth):
    """The pipeline and its operands: result = a b, in blocks of four warps."""
    a, b = ct.ImageParam(element, 2, "a"), ct.ImageParam(element, 2, "b")
    bx, by, warp = ct.vars("bx by warp")
    step = 32 if element.bits() == 8 else 16
    k = ct.RDom([(0, step), (0, depth // step)], "k")
    at = k.x + step * k.y
    total, result = ct.funcs("total result")
    total[x, y] += ct.cast(total_type, a[at, y]) * ct.cast(total_type, b[x, at])
    result[x, y] = total[x, y]
    result.tile(x, y, bx, by, xi, yi, 64, 64, ct.TailStrategy.RoundUp)
    result.split(yi, warp, yi, 16).gpu_blocks(bx, by).gpu_matrix_tile(xi, yi, warp)
    total.compute_at(result, bx).store_in(ct.MemoryType.Register)
    total.split(y, warp, yi, 16, ct.TailStrategy.RoundUp).gpu_matrix_tile(x, yi, warp)
    update = total.update().split(y, warp, yi, 16).reorder(k.x, x, yi, warp, k.y)
    update.gpu_matrix_multiply(x, yi, k.x, warp)
    return result, a, b


@pytest.mark.skipif(not ct.host_supports_target_device(opencl), reason="there is no OpenCL device")
def test_products_are_right():
    numpy = pytest.importorskip("numpy")
    result, a, b = product(ct.Int(8), ct.Int(32), 64)
    random = numpy.random.default_rng(1)
    rows = random.integers(-100, 100, (64, 64)).astype(numpy.int8)
    columns = random.integers(-100, 100, (64, 128)).astype(numpy.int8)
    out = numpy.zeros((64, 128), numpy.int32)
    result.compile_to_callable([a, b], opencl)(rows, columns, out)
    assert numpy.array_equal(out, rows.astype(numpy.int32) @ columns.astype(numpy.int32))


@pytest.mark.filterwarnings("ignore:.*no CUDA toolkit was found")
def test_cuda_has_the_instructions(tmp_path):
    result, a, b = product(ct.Float(16), ct.Float(32), 64)
    target = ct.Target("x86-64-linux-cuda-cuda_capability_80")
    ptx = tmp_path / "product.ptx"
    result.compile_to({ct.OutputFileType.ptx: str(ptx)}, [a, b], "product", target)
    assert "mma.sync.aligned.m16n8k16" in ptx.read_text()


def test_a_warp_that_is_no_loop_is_an_error():
    a = ct.ImageParam(ct.Float(16), 2, "a")
    total, k = ct.Func("total"), ct.RDom([(0, 16)], "k")
    total[x, y] += ct.f32(a[k, y]) * ct.f32(a[x, k])
    with pytest.raises(ct.CompileError, match="there is no loop warp"):
        total.update().gpu_matrix_multiply(x, y, k.x, ct.Var("warp"))
