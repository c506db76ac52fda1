# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Signals, Ctrl-C among them, while something is compiled."""

import signal
import threading

import calotype as ct
import pytest

x, y = ct.vars("x y")

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers")


class Stop(Exception):
    pass


def long_pipeline(seed, stages=60):
    """Takes seconds to compile, in many passes."""
    previous = ct.Func("start")
    previous[x, y] = x * seed + y
    for i in range(stages):
        f = ct.Func(f"stage{i}")
        f[x, y] = previous[x - 1, y] + previous[x + 1, y] * (i + 1) + previous[x, y + 1]
        previous.compute_root().vectorize(x, 8)
        previous = f
    return previous


class Alarm:
    """SIGALRM after some seconds, and then again and again."""

    def __init__(self, handler, seconds=0.15):
        self.handler, self.seconds = handler, seconds

    def __enter__(self):
        self.before = signal.signal(signal.SIGALRM, lambda *_: self.handler())
        signal.setitimer(signal.ITIMER_REAL, self.seconds, self.seconds)

    def __exit__(self, *_):
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.before)


def stop():
    signal.setitimer(signal.ITIMER_REAL, 0)
    raise Stop("enough")


COMPILATIONS = {
    "realize": lambda f, path: f.realize([8, 8]),
    "compile_jit": lambda f, path: f.compile_jit(),
    "compile_to_callable": lambda f, path: f.compile_to_callable([]),
    "compile_to_file": lambda f, path: f.compile_to_object(str(path / "f.o"), [], "f"),
    "compile_to_lowered_stmt": lambda f, path: f.compile_to_lowered_stmt(str(path / "f.stmt"), []),
    "Module.compile": lambda f, path: f.compile_to_module([], "f").compile(
        {ct.OutputFileType.object: str(path / "f.o")}
    ),
}


@pytest.mark.parametrize("use", sorted(COMPILATIONS))
def test_what_a_handler_raises_ends_the_compilation(use, tmp_path):
    f = long_pipeline(sorted(COMPILATIONS).index(use) + 3000)
    with pytest.raises(Stop, match="enough"), Alarm(stop):
        COMPILATIONS[use](f, tmp_path)
    assert list(tmp_path.iterdir()) == []
    small = ct.Func()
    small[x] = x
    assert small.realize([3])[2] == 2


def test_a_pipeline_whose_compilation_was_ended_can_be_compiled():
    f = long_pipeline(3100, 8)
    with pytest.raises(Stop), Alarm(stop, 0.06):
        f.compile_jit()
    assert f.realize([4, 4]).dimensions() == 2


def test_ctrl_c():
    f = long_pipeline(3101)
    with pytest.raises(KeyboardInterrupt), Alarm(lambda: signal.raise_signal(signal.SIGINT)):
        f.compile_jit()


def test_handlers_that_raise_nothing_are_called_meanwhile():
    calls, steps = [], []
    with Alarm(lambda: calls.append(len(steps)), 0.06), ct.progress(steps.append):
        assert long_pipeline(3102, 8).realize([4, 4]).dimensions() == 2
    assert len(set(calls)) > 1


def test_other_threads_go_on_compiling():
    """Handlers are called on the main thread alone, whose compilation is the one that ends."""
    results = []
    thread = threading.Thread(target=lambda: results.append(long_pipeline(3103, 8).realize([4, 4])))
    f = long_pipeline(3104)
    thread.start()
    with pytest.raises(Stop), Alarm(stop):
        f.compile_jit()
    thread.join()
    assert results[0].dimensions() == 2
