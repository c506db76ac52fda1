# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pipelines as bytes and files, and the Parameters that they take."""

import pathlib
import subprocess
import sys

import calotype as ct
import numpy as np
import pytest

x, y = ct.vars("x y")


def scaled():
    image = ct.ImageParam(ct.UInt(8), 2, "image")
    gain = ct.Param(ct.Float(32), "gain", 2.0)
    weights = ct.Buffer(np.array([1, 10, 100], np.int32), name="weights")
    f = ct.Func("f")
    f[x, y] = ct.f32(image[x, y]) * gain + weights[y]
    f.vectorize(x, 4, ct.TailStrategy.GuardWithIf)
    return ct.Pipeline(f), image, gain


def test_bytes_have_algorithm_images_and_values():
    pipeline, image, _ = scaled()
    data, params = ct.serialize_pipeline(pipeline, get_params=True)
    assert isinstance(data, bytes) and set(params) == {"image", "gain"}
    assert params["image"].same_as(image.parameter())
    photo = np.arange(6, dtype=np.uint8).reshape(2, 3)
    other = ct.ImageParam(ct.UInt(8), 2, "image")
    other.set(photo)
    for given in (other, other.parameter()):
        same = ct.deserialize_pipeline(data, {"image": given})
        assert same.realize([3, 2]).numpy_view().tolist() == [[1, 3, 5], [16, 18, 20]]
    declared = ct.deserialize_parameters(data)
    assert declared["gain"].scalar() == 2.0 and declared["image"].dimensions() == 2


def test_another_process_reads_the_file(tmp_path):
    file = tmp_path / "sum.ctpipe"
    f = ct.Func("f")
    f[x, y] = 10 * x + y
    assert ct.serialize_pipeline(ct.Pipeline(f), file) is None
    assert ct.serialize_pipeline(ct.Pipeline(f), str(file), get_params=True) == {}
    code = f"import calotype as ct; print(ct.deserialize_pipeline({str(file)!r}).realize([2, 2])[1, 1])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "11\n", done.stderr
    assert ct.deserialize_parameters(pathlib.Path(file)) == {}


def test_errors(tmp_path):
    pipeline, _, gain = scaled()
    data = ct.serialize_pipeline(pipeline)
    with pytest.raises(ct.CompileError, match="is given one that is named gain, must have the same name"):
        ct.deserialize_pipeline(data, {"image": gain})
    gain = ct.Param(ct.Float(32), "image", 1.0)
    with pytest.raises(ct.CompileError, match="parameter image of the pipeline is a buffer of 2 dim.* a scalar"):
        ct.deserialize_pipeline(data, {"image": gain})
    with pytest.raises(ct.CompileError, match="these bytes are no serialized pipeline"):
        ct.deserialize_pipeline(b"abc")
    with pytest.raises(ct.Error, match="missing.ctpipe"):
        ct.deserialize_pipeline(tmp_path / "missing.ctpipe")
    with pytest.raises(ct.CompileError, match="undefined pipeline"):
        ct.serialize_pipeline(ct.Pipeline())
    for end in range(0, len(data), 97):
        with pytest.raises(ct.CompileError, match="^line [0-9]+, column [0-9]+: |no serialized pipeline|does not declare"):
            ct.deserialize_pipeline(data[:end])


def test_parameters():
    p = ct.Parameter(ct.Int(16), False, 0, "p")
    p.set_scalar(5)
    p.set_scalar(ct.Int(16), 6)
    p.set_min_value(0)
    assert p.scalar() == 6 and str(p.scalar_expr()) == "(int16)6" and str(p.min_value()) == "(int16)0"
    assert repr(p).endswith(".Parameter 'p' type int16>")
    with pytest.raises(ct.CompileError, match="parameter p has type int16, not uint8"):
        p.set_scalar(ct.UInt(8), 6)
    image = ct.Parameter(ct.UInt(8), True, 2, "image")
    image.set_extent_constraint(0, 16)
    image.set_buffer(np.ones((2, 16), np.uint8))
    assert str(image.extent_constraint(0)) == "16" and image.buffer().width() == 16
    with pytest.raises(ct.CompileError, match="image has 2 dimensions, there is no 2"):
        image.min_constraint(2)
    with pytest.raises(ct.CompileError, match="parameter image cannot stand for this buffer"):
        image.set_buffer(np.ones(3, np.uint8))
    assert not ct.Parameter().defined()
    with pytest.raises(ct.CompileError, match="an undefined Parameter is used"):
        ct.Parameter().name()


def test_output_files_are_serialized_pipelines(tmp_path):
    f = ct.Func("f")
    f[x] = x * 3
    f.compile_to({ct.OutputFileType.ctpipe: str(tmp_path / "f.ctpipe")}, [], "f")
    assert list(ct.deserialize_pipeline(tmp_path / "f.ctpipe").realize([3])) == [0, 3, 6]
