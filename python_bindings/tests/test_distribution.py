# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The source distribution, which pip compiles where there is no wheel."""

import os
import pathlib
import tarfile

import pytest

backend = pytest.importorskip("scikit_build_core.build")
project = pathlib.Path(__file__).parents[2]


def test_it_has_all_that_is_compiled(tmp_path, monkeypatch):
    monkeypatch.chdir(project)
    with tarfile.open(tmp_path / backend.build_sdist(str(tmp_path))) as archive:
        names = {pathlib.PurePath(*pathlib.PurePath(name).parts[1:]) for name in archive.getnames()}
    needed = [pathlib.Path(name) for name in ("CMakeLists.txt", "pyproject.toml", "README.md", "LICENSE")]
    for folder in ("cmake", "src", "runtime", "python_bindings"):
        for where, folders, files in os.walk(folder):
            folders[:] = [f for f in folders if not f.startswith((".", "__"))]
            needed += [pathlib.Path(where, file) for file in files]
    assert [str(path) for path in needed if path not in names] == []
    for left_out in ("build", "test", "apps", "generators"):
        assert not any(name.parts[:1] == (left_out,) for name in names), left_out
