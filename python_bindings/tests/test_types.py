# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The stubs: a type checker knows the package, and the package's own files pass it."""

import os
import pathlib
import re
import subprocess
import sys

import calotype
import pytest

pytest.importorskip("mypy")
here = pathlib.Path(__file__).parent
package = pathlib.Path(calotype.__file__).parent


def mypy(*args, folder):
    command = [sys.executable, "-m", "mypy", "--config-file", str(here / "mypy.ini"), *args]
    env = {**os.environ, "MYPYPATH": str(package.parent)}
    command += ["--cache-dir", str(folder / "cache")]
    return subprocess.run(command, capture_output=True, text=True, env=env, check=False).stdout


def test_mypy_knows_what_is_right_and_what_is_wrong(tmp_path):
    program = here / "typed_program.py"
    lines = program.read_text().splitlines()
    refused = {i + 1 for i, line in enumerate(lines) if line.endswith("# refused")}
    out = mypy(str(program), folder=tmp_path)
    found = {int(n) for n in re.findall(r"typed_program\.py:(\d+): error", out)}
    assert found == refused, out
    assert not re.search(r"\.pyi:\d+: error", out), out


def test_the_package_passes_mypy(tmp_path):
    out = mypy("-p", "calotype", folder=tmp_path)
    assert "Success" in out, out


def test_the_package_says_that_it_is_typed():
    for name in ("py.typed", "_core.pyi", "runtime/_runtime.pyi"):
        assert (package / name).exists(), name


def test_stubs_give_on_what_they_import():
    """Pyright takes a name that is imported without an `as` for one of the stub's own use."""
    stubs = [package / name for name in ("__init__.pyi", "_language.pyi", "halide/__init__.pyi")]
    lines = [line for stub in stubs for line in stub.read_text().splitlines()]
    imports = [re.fullmatch(r"from (\..*) import (.*)", line) for line in lines]
    names = [found[2] for found in imports if found and found[2] != "*"]
    assert len(names) > 20
    assert [n for n in names if not re.fullmatch(r"(\w+) as \1", n)] == []


# How functions and classes of nanobind look to stubtest, which knows those of Python and C; and a name that has
# no syntax.
OF_NANOBIND = re.compile(
    r"is not a function|metaclass differs|disjoint base|stub is a staticmethod but runtime is not"
    r"|is inconsistent, stub does not have \*args|__nb_enum__ is not present in stub"
    r"|__all__ is not present in stub|DeviceAPI\.None is not present in stub"
    r"|calotype\.torch failed to import|No module named 'torch'"
)


def test_stubs_say_what_is_there():
    command = [sys.executable, "-m", "mypy.stubtest", "calotype", "--concise"]
    env = {**os.environ, "MYPYPATH": str(package.parent)}
    options = ["--mypy-config-file", str(here / "mypy.ini")]
    done = subprocess.run(
        command + options, capture_output=True, text=True, env=env, cwd=here, check=False
    )
    lines = done.stdout.splitlines()
    assert len(lines) > 100, done
    assert [line for line in lines if not OF_NANOBIND.search(line)] == []
