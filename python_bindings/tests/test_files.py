# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files that are compiled, images, targets, modules."""

import copy
import os
import pathlib
import pickle
import re
import subprocess
import sys
import threading

import calotype as ct
import pytest

x, y = ct.vars("x y")


def simple():
    f = ct.Func("f")
    f[x] = 100 * x
    return f


@pytest.mark.parametrize(
    "member,ending",
    [
        ("compile_to_bitcode", "bc"),
        ("compile_to_llvm_assembly", "ll"),
        ("compile_to_object", "o"),
        ("compile_to_header", "h"),
        ("compile_to_assembly", "s"),
        ("compile_to_c", "cpp"),
    ],
)
def test_one_file(tmp_path, member, ending):
    path = tmp_path / f"f.{ending}"
    getattr(simple(), member)(str(path), [], "f")
    assert path.stat().st_size > 0
    path.unlink()
    getattr(ct.Pipeline(simple()), member)(str(path), [], "f", ct.Target("host"))
    assert path.stat().st_size > 0


def test_several_files(tmp_path):
    f = simple()
    f.compile_to_static_library(str(tmp_path / "lib"), [], "f")
    f.compile_to_file(str(tmp_path / "all"), [])
    f.compile_to_lowered_stmt(str(tmp_path / "f.stmt"), [])
    f.compile_to({ct.OutputFileType.stmt_html: str(tmp_path / "f.html")}, [], "f")
    m = f.compile_to_module([], "f")
    m.compile({ct.OutputFileType.object: str(tmp_path / "module.o")})
    assert m.compile_to_bytes() == (tmp_path / "module.o").read_bytes()
    for name in ("lib.a", "lib.h", "all.o", "all.h", "f.stmt", "f.html"):
        assert (tmp_path / name).stat().st_size > 0, name


def test_names_of_files_are_paths(tmp_path):
    host, f, made = ct.Target("host"), simple(), set()
    for name in "bitcode llvm_assembly object header assembly c lowered_stmt conceptual_stmt".split():
        for target in (f, ct.Pipeline(f)):
            getattr(target, f"compile_to_{name}")(tmp_path / name, [])
        made.add(name)
    f.compile_to_file(tmp_path / "file", [])
    f.compile_to_static_library(tmp_path / "library", [])
    f.compile_to({ct.OutputFileType.object: tmp_path / "outputs.o"}, [], "f")
    f.compile_to_module([], "f", host).compile({ct.OutputFileType.c_header: tmp_path / "module.h"})
    ct.compile_standalone_runtime(tmp_path / "runtime.o", host)
    ct.create_static_library([tmp_path / "outputs.o"], host, tmp_path / "of_one.a")
    f.debug_to_file(tmp_path / "f.npy")
    made |= {"file.o", "file.h", "library.a", "outputs.o", "module.h", "runtime.o", "of_one.a"}
    assert made <= {path.name for path in tmp_path.iterdir()}
    with pytest.raises(TypeError, match="os.PathLike"):
        f.compile_to_object(3, [])


def test_errors_of_files(tmp_path):
    with pytest.raises(ct.Error, match="no/such/folder"):
        simple().compile_to_object("/no/such/folder/f.o", [], "f")


def test_images(tmp_path):
    numpy = pytest.importorskip("numpy")
    from calotype import imageio

    planar = numpy.arange(3 * 5 * 7, dtype=numpy.uint8).reshape(3, 5, 7)
    for image in (planar, numpy.moveaxis(planar, 0, 2).copy(), ct.Buffer(planar)):
        path = str(tmp_path / "image.png")
        imageio.imwrite(path, image)
        assert numpy.array_equal(imageio.imread(path), planar)
    grey = planar[0].copy()
    imageio.imwrite(str(tmp_path / "grey.pgm"), grey)
    assert numpy.array_equal(imageio.imread(str(tmp_path / "grey.pgm")), grey)
    interleaved = imageio.copy_to_interleaved(planar)
    assert interleaved.shape == (5, 7, 3) and imageio.is_interleaved(interleaved)
    assert numpy.array_equal(imageio.copy_to_planar(interleaved), planar)
    with pytest.raises(ct.Error, match="cannot be written in this format"):
        imageio.imwrite(str(tmp_path / "wrong.png"), planar.astype(numpy.float32))
    with pytest.raises(ct.Error, match="unknown image format"):
        imageio.imread("image.xyz")


def test_images_of_views_and_paths(tmp_path):
    numpy = pytest.importorskip("numpy")
    from calotype import imageio

    planar = numpy.arange(3 * 5 * 7, dtype=numpy.uint8).reshape(3, 5, 7)
    interleaved = numpy.moveaxis(planar, 0, 2).copy()
    path = tmp_path / "image.png"
    for view in (numpy.moveaxis(planar, 0, 2), interleaved[..., ::-1], interleaved[::2, ::-1]):
        imageio.imwrite(path, view)
        assert numpy.array_equal(imageio.imread(os.fsencode(path)), numpy.moveaxis(view, 2, 0))
    imageio.imwrite(path, planar[:, ::-1, ::2])
    assert numpy.array_equal(imageio.imread(path), planar[:, ::-1, ::2])
    for wrong in (None, 5):
        with pytest.raises(TypeError, match="expected str, bytes or os.PathLike object"):
            imageio.imread(wrong)


def test_targets():
    t = ct.Target("x86-64-linux-avx2-cuda")
    assert t.os == ct.TargetOS.Linux and t.arch == ct.TargetArch.X86 and t.bits == 64
    assert t.has_feature(ct.TargetFeature.CUDA) and t.has_gpu_feature()
    assert str(t.without_feature(ct.TargetFeature.CUDA)) == "x86-64-linux-avx2"
    assert ct.Target(str(t)) == t and ct.Target("") == ct.get_host_target()
    assert t.natural_vector_size(ct.UInt(8)) == 32
    with pytest.raises(ct.CompileError, match="'nothing' is not a known arch"):
        ct.Target("x86-64-linux-nothing")
    with pytest.raises(TypeError, match="feature 0 of a target is 'text'"):
        ct.Target(ct.TargetOS.Linux, ct.TargetArch.X86, 64, ["text"])


def run(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ, check=False
    )


def test_the_compiler_is_loaded_when_it_is_used():
    done = run("import sys, calotype; assert 'calotype._core' not in sys.modules; calotype.Var")
    assert done.returncode == 0, done.stderr


def test_nothing_else_is_imported():
    done = run(
        "import sys, calotype.halide as hl\n"
        "x = hl.Var('x'); f = hl.Func('f'); f[x] = x; assert f.realize([4])[3] == 3\n"
        "assert not {'numpy', 'torch'} & set(sys.modules)"
    )
    assert done.returncode == 0, done.stderr


def test_slow_modules_are_imported_where_they_are_used():
    """They take longer than the package's own, and a program that needs none of them need not wait."""
    slow = "ast contextlib ctypes importlib.util inspect pathlib re tempfile threading typing"
    code = (
        "import sys; before = set(sys.modules)\n"
        "import calotype.halide as hl, calotype.runtime\n"
        "x = hl.Var('x'); hl.max(x, 2)\n"
        f"print(sorted((set(sys.modules) - before) & set('{slow}'.split())))"
    )
    assert run(code).stdout == "[]\n"


def test_names_of_several_are_a_str():
    for make in (ct.vars, ct.rvars, ct.funcs):
        with pytest.raises(ct.CallError, match=r"the names are \['x', 'y'\] \(list\), must be a str"):
            make(["x", "y"])


def test_annotations_can_be_asked_for():
    import typing

    for function in (ct.vars, ct.find_generator, ct.Generator.call, ct.progress.__init__, ct.imageio.imread):
        assert typing.get_type_hints(function)
    assert typing.get_type_hints(ct.CompileStep)["total"] is int


def test_the_end_of_the_interpreter_with_live_objects():
    done = run(
        "import calotype as ct, array, sys\n"
        "x = ct.Var('x'); f = ct.Func('f'); f[x] = x\n"
        "c = f.compile_to_callable([]); b = ct.Buffer(array.array('i', [1, 2]))\n"
        "sys.keep = [c, b, f, memoryview(b), f.realize([4])]"
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr


def test_the_package_knows_its_version():
    """That of the compiler, also where calotype.runtime alone is installed."""
    from calotype.runtime import _runtime

    assert re.fullmatch(r"\d+\.\d+\.\d+", ct.__version__) and ct.__version__ == _runtime.__version__


def test_names_of_halide():
    import calotype.halide as hl

    assert hl.HalideError is ct.Error and hl.imageio.imread is ct.imageio.imread
    for name in hl.__all__:
        assert getattr(hl, name) is not None


def test_enumerations_are_numbers():
    assert int(ct.DeviceAPI.CUDA) == ct.DeviceAPI.CUDA.value == 3
    assert int(ct.TypeCode.Float) == 2 and int(ct.TargetFeature.JIT) == 0
    assert "abc"[ct.TailStrategy.GuardWithIf] == "b" and ct.TailStrategy.RoundUp != 0


def test_further_names_of_members_of_enumerations():
    for enumeration, alias, name in (
        (ct.OutputFileType, "hlpipe", "ctpipe"),
        (ct.TargetOS, "wasmrt", "WebAssemblyRuntime"),
        (ct.TargetFeature, "HVX", "HVX_128"),
        (ct.TargetProcessorTune, "TuneGeneric", "ProcessorGeneric"),
        (ct.TargetProcessorTune, "TuneZnVer5", "ZnVer5"),
    ):
        member = getattr(enumeration, name)
        assert getattr(enumeration, alias) is enumeration.__members__[alias] is member
        assert enumeration[alias] is member and member.name == name


def test_ints_are_int32_in_extremes_of_halide():
    import calotype.halide as hl

    low = hl.u8(3)
    assert hl.max(low, 2).type() == hl.min(300, low, 7).type() == hl.Int(32)
    assert hl.evaluate(hl.max(low, 2) - 10) == -7 and hl.evaluate(hl.min(low, 300, 7)) == 3
    assert hl.max(low, hl.u8(9)).type() == hl.UInt(8) and hl.min(low, 2.5).type() == hl.Float(32)


HELP = """
import inspect, pydoc, sys
sys.modules["torch"] = None  # as where it is not installed
import calotype as ct
assert set(dir(ct)) >= {"Error", "runtime", "torch"} and pydoc.render_doc(ct)
assert {name for name, _ in inspect.getmembers(ct)} >= {"Error", "runtime"}
for name in ("torch", *sys.argv[1:]):
    assert not hasattr(ct, name), name
try:
    ct.torch
except AttributeError as e:
    assert str(e) == "calotype.torch needs torch", e
"""


@pytest.mark.parametrize("is_whole", [True, False])
def test_help_where_a_part_is_not_installed(is_whole, tmp_path):
    installed = pathlib.Path(ct.__file__).parent
    lacks = []
    if not is_whole:
        (tmp_path / "calotype").mkdir()
        for name in ("__init__.py", "_errors.py", "_prefetch.py", "_typing.py", "torch.py", "runtime"):
            (tmp_path / "calotype" / name).symlink_to(installed / name)
        lacks = ["Func", "halide", "imageio"]
    path = str(installed.parent if is_whole else tmp_path)
    env = {**os.environ, "PYTHONPATH": path}
    command = [sys.executable, "-c", HELP, *lacks]
    done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_types_and_targets_are_pickled():
    """As arguments of functions in other processes, and as members of what is copied."""
    target = ct.Target("x86-64-linux-avx2-cuda-user_context")
    for value in (ct.Int(8), ct.Float(32, 4), ct.BFloat(16), ct.Bool(), target):
        for again in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
            assert again == value and again is not value
    with pytest.raises(TypeError, match="cannot pickle '.*Func' object"):
        pickle.dumps(ct.Func())


def test_what_stands_for_a_name_is_pickled():
    chosen = ct.AutoschedulerParams("Mullapudi2016", {"parallelism": 8})
    f = ct.Func("f")
    f[ct.Var("outer")] = 1
    for again in (lambda v: pickle.loads(pickle.dumps(v)), copy.copy, copy.deepcopy):
        for var in (ct.Var("outer"), ct._, ct._3, ct.Var.outermost()):
            assert again(var).same_as(var) and again(var).name() == var.name()
        same = again(chosen)
        assert (same.name, same.extra) == (chosen.name, chosen.extra) and str(same) == str(chosen)
        context = again(ct.GeneratorContext(ct.Target("host-no_asserts"), chosen))
        assert str(context.target()) == str(ct.Target("host-no_asserts"))
        assert context.autoscheduler_params().name == "Mullapudi2016"
    f.vectorize(pickle.loads(pickle.dumps(ct.Var("outer"))), 4)


def test_copies_of_expressions_are_what_they_are():
    """dataclasses.asdict and the like copy what is in them."""
    f, x = ct.Func("copied"), ct.Var("x")
    r = ct.RDom([(0, 3)]).x
    values = {"weight": [x + 1], "loop": r, "range": ct.Range(0, x)}
    again = copy.deepcopy(values)
    assert again["weight"][0] is values["weight"][0] and again["loop"] is r and copy.copy(x + 1) is not None
    again["range"].extent = ct.Expr(3)
    assert str(values["range"].extent) == "x" and str(copy.copy(values["range"]).extent) == "x"
    f[x] = again["weight"][0]
    f[again["loop"]] += 1
    assert list(f.realize([4])) == [2, 3, 4, 4]


def test_buffers_are_pickled():
    image = ct.Buffer.make_interleaved(ct.UInt(16), 4, 3, 3, "image")
    image.for_each_element(lambda at: image.__setitem__(at, 100 * at[0] + 10 * at[1] + at[2]))
    image.set_min([-1, 2, 0])
    scalar = ct.Buffer.make_scalar(ct.Float(64), "scalar")
    scalar.fill(2.5)
    empty = ct.Buffer(ct.Int(8), [0, 3])
    for b in (image, image.cropped(0, 0, 2), image.transposed(0, 1), scalar, empty):
        for again in (pickle.loads(pickle.dumps(b)), copy.copy(b), copy.deepcopy([b])[0]):
            assert (again.type(), again.name()) == (b.type(), b.name()) and not again.same_as(b)
            assert memoryview(again) == memoryview(b)
            for d in range(b.dimensions()):
                assert list(again.dim(d)) == list(b.dim(d))
    assert copy.copy(image).dim(2).stride() == 1
    assert not pickle.loads(pickle.dumps(ct.Buffer())).defined()
    type_, mins, extents, order, name, elements = image.__getstate__()
    short = (type_, mins, extents, order, name, elements[1:])
    for state in ((1,), short, (type_, mins, extents, [0, 0], name, elements)):
        with pytest.raises(ct.CompileError, match="no state of a Buffer|bytes of elements, must|each of 0 to . once"):
            ct.Buffer.__new__(ct.Buffer).__setstate__(state)


def test_the_images_of_a_module():
    x, y = ct.vars("x y")
    table = ct.Buffer(ct.Int(16), [3, 2], "table")
    table.fill(7)
    table[2, 1] = -9
    f = ct.Func("f")
    f[x, y] = table[x % 3, y % 2]
    module = f.compile_to_module([], "f")
    (copy,) = [b for m in (module, *module.submodules()) for b in m.buffers()]
    assert (copy.type(), copy.width(), copy.height()) == (ct.Int(16), 3, 2)
    assert (copy[2, 1], copy[0, 0]) == (-9, 7)
    copy[0, 0] = 1
    assert [b[0, 0] for m in (module, *module.submodules()) for b in m.buffers()] == [7]


def test_an_image_is_appended_to_a_module():
    module = ct.Module("images", ct.Target("host"))
    image = ct.Buffer(ct.Int(16), [3, 2], name="image")
    image.set_min([5, 7])
    image.fill(4)
    module.append(image.transposed(0, 1))
    image.fill(0)
    (copy,) = module.buffers()
    assert [(copy.dim(i).min(), copy.dim(i).extent()) for i in range(2)] == [(7, 2), (5, 3)]
    assert copy[8, 7] == 4
    with pytest.raises(ct.CompileError, match="an undefined buffer is embedded"):
        module.append(ct.Buffer())


def test_names_of_arguments_in_programs_for_halide():
    f, g = ct.funcs("f g")
    x, r = ct.Var("x"), ct.RDom([(0, 4)])
    f[x] = x
    g[x] = 0
    g[r.x] += f[r.x]
    f.store_at(f=g, rvar=r.x).compute_at(f=g, rvar=r.x)
    result = ct.Buffer(ct.Int(32), [4])
    g.realize(dst=result)
    ct.Pipeline(g).realize(dst=result)
    assert list(result) == [0, 1, 2, 3]
    with pytest.raises(ct.CompileError, match="none.so"):
        ct.load_plugin(lib_name="none.so")


def test_names_of_the_runtime_have_a_prefix(tmp_path):
    p = ct.Pipeline(simple())
    prefixes = {ct.RuntimeLinkage.Import: "mine_", ct.RuntimeLinkage.Export: "its_"}
    p.apply_runtime_prefixes(ct.Target("host"), prefixes)
    target = ct.Target("host-no_runtime")
    module = p.compile_to_module([], "f", target)
    assert module.get_runtime_prefixes_map() == prefixes
    assert b"mine_error_" in module.compile_to_bytes()
    assert b"calotype_error_" not in module.compile_to_bytes()
    module.set_runtime_prefixes_map({})
    assert b"calotype_error_" in module.compile_to_bytes()
    assert list(p.realize([3])) == [0, 100, 200]

    path = tmp_path / "runtime.a"
    ct.compile_standalone_runtime(str(path), ct.Target("host"), prefixes)
    assert b"\0its_malloc\0" in path.read_bytes()
    assert path.read_bytes().startswith(b"\x7fELF")  # whatever its name
    with pytest.raises(ct.CompileError, match="runtime prefix 'a-b' .export. cannot begin a name in C"):
        ct.compile_standalone_runtime(str(path), ct.Target("host"), {ct.RuntimeLinkage.Export: "a-b"})
    with pytest.raises(ct.CompileError, match="there is no prefix"):
        p.apply_runtime_prefixes(ct.Target("host"), {})


def test_a_static_library_of_objects(tmp_path):
    simple().compile_to_object(str(tmp_path / "f.o"), [], "f")
    ct.create_static_library([str(tmp_path / "f.o")], ct.Target("host"), str(tmp_path / "f.a"))
    assert (tmp_path / "f.a").read_bytes().startswith(b"!<arch>")


def test_modules_are_no_parts_of_themselves():
    target = ct.Target("host-no_runtime")
    inner, outer = simple().compile_to_module([], "inner", target), ct.Module("outer", target)
    outer.append(inner)
    with pytest.raises(ct.CompileError, match="module inner is appended to inner, which is the same"):
        inner.append(inner)
    with pytest.raises(ct.CompileError, match="module outer is appended to inner, which is a part of it"):
        inner.append(outer)
    assert outer.compile_to_bytes()


def test_modules_grow_while_they_are_compiled():
    target = ct.Target("host-no_runtime")
    module, ended = ct.Module("module", target), threading.Event()
    parts = []
    for i in range(20):
        part = ct.Func(f"part{i}")
        part[x] = x + i
        parts.append(part.compile_to_module([], f"part{i}", target))

    def grow():
        for part in parts:
            module.append(part)
        ended.set()

    thread = threading.Thread(target=grow)
    thread.start()
    while not ended.is_set():
        module.compile_to_bytes()
    thread.join()
    assert b"part19" in module.compile_to_bytes()


class Named(ct.Buffer):
    def __init__(self, *args, unit):
        super().__init__(*args)
        self.unit = unit


class Loop(ct.Var):
    pass


def test_all_protocols_keep_the_attributes_of_derived_classes():
    b, v = Named(ct.UInt(8), [3], unit="mm"), Loop("outer")
    b.fill(7)
    v.length = 3
    ways = [lambda value, p=p: pickle.loads(pickle.dumps(value, p)) for p in range(pickle.HIGHEST_PROTOCOL + 1)]
    for again in (*ways, copy.copy, copy.deepcopy):
        buffer, loop = again(b), again(v)
        assert type(buffer) is Named and buffer.unit == "mm" and list(buffer) == [7, 7, 7]
        assert type(loop) is Loop and loop.length == 3 and loop.name() == "outer"
        assert again(ct.UInt(8, 4)) == ct.UInt(8, 4) and again(ct.Target("host")) == ct.Target("host")
        assert again(ct.AutoschedulerParams("a", {"b": 1})).extra == {"b": "1"}
        assert list(again(ct.Buffer(bytearray(b"ab")))) == [97, 98]


def test_a_state_of_another_class_is_refused():
    with pytest.raises(ct.CallError, match="7 .int. is no state of a pickled object"):
        ct.Var.__new__(ct.Var).__setstate__(7)
