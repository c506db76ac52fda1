# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Code from elsewhere: C functions, extern stages, linkables; and what is kept."""

import ctypes
import os
import subprocess
import sys

import calotype as ct
import pytest

x, y = ct.vars("x y")


def test_c_functions_in_expressions():
    f = ct.Func("f")
    f[x] = ct.extern_call("hypotf", ct.Float(32), [ct.f32(x), 4.0], pure=True)
    assert list(f.realize([4]))[3] == 5.0


def test_functions_of_python_by_ctypes():
    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
    def triple(i):
        return 3 * i

    f = ct.Func("f")
    f[x] = ct.extern_call("triple_of_python", ct.Int(32), [x])
    p = ct.Pipeline(f)
    p.set_jit_externs({"triple_of_python": triple})
    assert list(p.realize([4])) == [0, 3, 6, 9]


def test_extern_stages():
    inner, source = ct.funcs("inner source")
    image = ct.ImageParam(ct.Int(32), 1, "image")
    inner[x] = image[x] + 1
    source[x] = x * x
    outer = ct.Func("outer")
    outer.define_extern("my_stage", [source], ct.Int(32), 1)
    source.compute_root()
    result = ct.Func("result")
    result[x] = outer[x] * 2
    outer.compute_root()
    assert outer.is_extern() and outer.extern_function_name() == "my_stage"
    p = ct.Pipeline(result)
    p.set_jit_externs({"my_stage": inner})
    assert list(p.realize([4])) == [2, 4, 10, 20]
    with pytest.raises(ct.CompileError, match="cannot be passed to an extern stage"):
        ct.Func().define_extern("f", ["text"], ct.Int(32), 1)


PTX = b"""
.version 7.1
.target sm_52
.address_size 64
.visible .func (.param .b32 out) twice(.param .b32 in)
{
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [in];
    add.s32 %r2, %r1, %r1;
    st.param.b32 [out], %r2;
    ret;
}
"""


def test_linkables(tmp_path):
    code = ct.Linkable.from_bytes(ct.LinkableKind.PTX, PTX, "twice")
    assert code.name() == "twice" and len(code.digests()) == 1 and code.defined()
    set_up = code.setup("my_setup").optional().pinned()
    assert not set_up.same_as(code) and code.same_as(code)
    f = ct.Func("f")
    xi = ct.Var("xi")
    f[x] = ct.pure_extern_device_call(code, "twice", ct.Int(32), [x]) + 1
    f.gpu_tile(x, xi, 8)
    ptx = tmp_path / "f.ptx"
    f.compile_to({ct.OutputFileType.ptx: str(ptx)}, [], "f", ct.Target("host-cuda"))
    assert "twice" in ptx.read_text()
    path = tmp_path / "code.ptx"
    path.write_bytes(PTX)
    assert ct.Linkable.from_path(str(path)).name() == "code"
    assert "code.ptx" in repr(ct.Linkable.from_path(str(path)))
    ct.Pipeline(f).add_linkable(set_up)
    with pytest.raises(ct.CompileError, match="missing.ptx"):
        ct.Linkable.from_path(str(tmp_path / "missing.ptx"))
    with pytest.raises(ct.CompileError, match="undefined Linkable"):
        ct.Linkable().name()


def test_a_second_realization_compiles_nothing():
    f = ct.Func("counted")
    f[x] = x * 17 + 3
    before = ct.compile_stats()
    f.realize([4])
    after = ct.compile_stats()
    f.realize([5])
    assert after["compiled"] == before["compiled"] + 1
    assert ct.compile_stats() == after


def test_another_process_finds_the_code_on_disk(tmp_path):
    code = (
        "import calotype as ct\n"
        "x = ct.Var('x'); f = ct.Func('f'); f[x] = x * 5; f.realize([3])\n"
        "print(ct.compile_stats()['found_on_disk'])"
    )
    env = {**os.environ, "CT_CACHE_DIR": str(tmp_path)}
    run = lambda: subprocess.check_output([sys.executable, "-c", code], env=env, text=True)  # noqa: E731
    assert [run().strip(), run().strip()] == ["0", "1"]


def test_limits_of_the_kernel_cache():
    assert set(ct.kernel_cache_stats()) >= {"hits", "misses", "live_modules"}
    before = ct.kernel_cache_limits()
    ct.set_kernel_cache_limits({"ctx_modules": 7})
    assert ct.kernel_cache_limits() == {**before, "ctx_modules": 7}
    ct.set_kernel_cache_limits(before)
    with pytest.raises(ct.CompileError, match="no limit 'modules'"):
        ct.set_kernel_cache_limits({"modules": 3})
