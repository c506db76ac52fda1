# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Who wants to know how far a compilation is."""

import gc
import io
import re
import sys
import threading
import weakref

import calotype as ct
import pytest

x, y = ct.vars("x y")


def ramp(name, factor):
    f = ct.Func(name)
    f[x, y] = x + factor * y
    return f


def test_steps_are_told():
    steps = []
    with ct.progress(steps.append):
        ramp("told_in_python", 2001).realize([4, 4])
    assert {s.pipeline for s in steps} == {"told_in_python"}
    assert [s.stage for s in steps[-2:]] == ["host code", "load"]
    lowering = [s for s in steps if s.stage == "lower"]
    assert [s.number for s in lowering] == sorted(s.number for s in lowering)
    assert all(s.number < s.total and s.detail for s in lowering)
    assert str(steps[-1]) == "told_in_python: load"
    assert str(lowering[0]) == f"told_in_python: lower 1/{lowering[0].total} {lowering[0].detail}"
    told = len(steps)
    ramp("told_in_python", 2001).realize([4, 4])
    ramp("untold_in_python", 2002).realize([4, 4])
    assert len(steps) == told


def test_files_are_told_of(tmp_path):
    steps = []
    with ct.progress(steps.append):
        ramp("in_a_file", 2003).compile_to_object(str(tmp_path / "a.o"), [], "in_a_file")
    assert steps[-1] == ct.CompileStep("in_a_file", "host code", "", 0, 0)


def test_what_it_raises_ends_the_compilation():
    f = ramp("ended_in_python", 2004)

    def stop(step):
        if step.stage == "host code":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), ct.progress(stop):
        f.realize([2, 2])
    assert f.realize([2, 2])[1, 1] == 2005


def test_each_thread_has_its_own():
    steps = []

    def work():
        ramp("on_another_thread", 2005).realize([2, 2])

    with ct.progress(steps.append):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert not steps


def test_without_a_function_a_terminal_shows_it(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    for stream in (Terminal(), io.StringIO()):
        monkeypatch.setattr(sys, "stderr", stream)
        with ct.progress():
            ramp("shown", 2006 + isinstance(stream, Terminal)).realize([2, 2])
        shown = re.search(r"\rshown\S*: host code", stream.getvalue())
        assert bool(shown) == isinstance(stream, Terminal)
        assert not stream.getvalue() or stream.getvalue().endswith("\r")


def test_without_a_function_a_notebook_shows_it(monkeypatch):
    # What the kernel of a notebook has in the place of stderr is no terminal.
    stream = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})()
    monkeypatch.setattr(sys, "stderr", stream)
    with ct.progress():
        ramp("in_a_notebook", 2009).realize([2, 2])
    assert re.search(r"\rin_a_notebook\S*: host code", stream.getvalue())
    assert stream.getvalue().endswith("\r")


def test_what_is_told_is_freed():
    class Teller:
        def __init__(self, own):
            self.progress = ct.progress(self.step) if own else ct.progress()
            with self.progress:
                ramp("freed", 2010).compile_jit()

        def step(self, step):
            pass

    for own in (True, False):
        tellers = [Teller(own)]
        freed = [weakref.ref(tellers[0]), weakref.ref(tellers[0].progress)]
        tellers.clear()
        gc.collect()
        assert [r() for r in freed] == [None, None]


def test_what_cannot_be_told():
    with pytest.raises(ct.CallError, match="progress is told to 3, must be a function of a CompileStep"):
        ct.progress(3)
    with pytest.raises(ct.CallError, match="progress is left that was not entered"):
        ct.progress().__exit__(None, None, None)


def test_it_can_be_entered_again_but_not_twice():
    steps = []
    told = ct.progress(steps.append)
    with told:
        with pytest.raises(ct.CompileError, match="this progress is being told already"):
            told.__enter__()
    with told:
        ramp("again", 2008).realize([1, 1])
    assert steps
