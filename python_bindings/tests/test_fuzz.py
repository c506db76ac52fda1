# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls with wrong arguments, and of undefined objects, end by exceptions that say so; see fuzz_calls.py."""

import pathlib
import subprocess
import sys

import pytest

here = pathlib.Path(__file__).parent


@pytest.mark.parametrize("seed, count", [(0, 0), (1, 1500), (34, 1500)])
def test_calls(seed, count):
    command = [sys.executable, "-X", "faulthandler", str(here / "fuzz_calls.py"), str(seed), str(count)]
    done = subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", errors="replace", timeout=250, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout == "done\n"
