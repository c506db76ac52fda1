# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each lesson of the tutorial runs, and so does the code in docs/python.md."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

pytest.importorskip("numpy")
root = pathlib.Path(__file__).resolve().parents[2]
lessons = sorted((root / "python_bindings" / "tutorial").glob("lesson_*.py"))


def run(tmp_path, *command):
    # Other tests of this process may have a driver without a GPU.
    env = {k: v for k, v in os.environ.items() if k != "CT_CUDA_DRIVER_LIBRARY"}
    command = [sys.executable, *command]
    done = subprocess.run(
        command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("lesson", lessons, ids=lambda p: p.stem)
def test_lesson(lesson, tmp_path):
    run(tmp_path, str(lesson))


def test_lessons_are_found():
    assert len(lessons) == 10


def test_docs(tmp_path):
    """Blocks share their names, as one program in several parts."""
    text = (root / "docs" / "python.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    assert blocks
    (tmp_path / "page.py").write_text("\n".join(blocks))
    run(tmp_path, "page.py")
