# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The files that a generator in Python says it depends on, for CMake: what it imports and the package itself."""

import os
import subprocess
import sys
from pathlib import Path

import calotype as ct

SOURCE = """
import sysconfig
import calotype as ct
import folders

# The folder of the package counts as one that pip installs into.
paths = {**sysconfig.get_paths(), "purelib": folders.OF_THE_PACKAGE}
sysconfig.get_paths = lambda: paths

@ct.generator(name="ramp")
class Ramp:
    out = ct.OutputBuffer(int, 1)

    def generate(self):
        x = ct.Var("x")
        self.out[x] = x

ct.main()
"""


def test_a_generator_depends_on_what_it_imports_and_on_the_package(tmp_path):
    package = Path(ct.__file__).parent
    (tmp_path / "ramp_generator.py").write_text(SOURCE)
    (tmp_path / "folders.py").write_text(f"OF_THE_PACKAGE = {str(package.parent)!r}\n")
    subprocess.run(
        [sys.executable, "ramp_generator.py", "-g", "ramp", "-o", ".", "-e", "stmt", "target=host"],
        cwd=tmp_path,
        env={**os.environ, "CT_DEPFILE_OF": "ramp.stmt", "PYTHONDONTWRITEBYTECODE": "1"},
        check=True,
    )
    output, *files = (tmp_path / "ramp.stmt.d").read_text().replace("\\\n", "").split()
    names = {os.path.basename(f) for f in files}
    assert output == "ramp.stmt:"
    assert {"ramp_generator.py", "folders.py"} <= names
    # Those of a newer version of the package would make other code.
    core = Path(ct._core.__file__)
    assert {str(package / "__init__.py"), str(core)} <= set(files)
    if "libCalotype" in Path("/proc/self/maps").read_text():
        assert any(n.startswith("libCalotype") for n in names)
    # Of the standard library nothing.
    assert "subprocess.py" not in names and "enum.py" not in names
    assert all(os.path.isfile(f) for f in files)
