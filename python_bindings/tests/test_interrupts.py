# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Signals, Ctrl-C among them, while something is compiled. No test depends on how long that takes: a
step of the compilation sends the signal, and waits until its handler is through."""

import signal
import sys
import threading
import time

import calotype as ct
import pytest

x, y = ct.vars("x y")

LIMIT = 200  # seconds that a broken package has, before a test fails


class Stop(Exception):
    pass


def stop(*_):
    raise Stop("enough")


def pipeline(seed):
    f, g = ct.funcs(f"f{seed} g{seed}")
    f[x, y] = x * seed + y
    g[x, y] = f[x - 1, y] + f[x + 1, y]
    f.compute_root()
    return g


def wait_until(condition):
    end = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < end, "the handler of a signal is not called"
        time.sleep(0.001)


class Signals:
    """In a with statement, sends a signal as each of the given steps of a compilation begins. What
    follows in the step is done when the handler has returned or raised."""

    def __init__(self, at, handler, number=signal.SIGTERM):
        self.at, self.handler, self.number = at, handler, number
        self.steps = []
        self.calls = 0
        self.told = ct.progress(self.step)

    def __enter__(self):
        self.before = signal.signal(self.number, self.handle)
        self.told.__enter__()
        return self

    def __exit__(self, *raised):
        signal.signal(self.number, self.before)
        self.told.__exit__(*raised)

    def handle(self, *args):
        self.calls += 1
        self.handler(*args)

    def step(self, step):
        self.steps.append(step)
        if self.at(step):
            called = self.calls
            signal.raise_signal(self.number)
            wait_until(lambda: self.calls > called and not self.is_handling())

    def is_handling(self):
        frame = sys._current_frames()[threading.main_thread().ident]
        while frame is not None and frame.f_code is not Signals.handle.__code__:
            frame = frame.f_back
        return frame is not None


def first(step):
    return step.stage == "lower" and step.number == 0


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
def test_what_a_handler_raises_ends_the_compilation_at_its_next_step(use, tmp_path):
    f = pipeline(sorted(COMPILATIONS).index(use) + 3000)
    with pytest.raises(Stop, match="enough"), Signals(first, stop) as signals:
        COMPILATIONS[use](f, tmp_path)
    assert len(signals.steps) == signals.calls == 1
    assert list(tmp_path.iterdir()) == []
    small = ct.Func()
    small[x] = x
    assert small.realize([3])[2] == 2


def test_it_is_raised_after_the_last_step():
    with pytest.raises(Stop), Signals(lambda s: s.stage == "load", stop) as signals:
        pipeline(3010).compile_jit()
    assert signals.steps[-1].stage == "load"


def test_a_pipeline_whose_compilation_was_ended_can_be_compiled():
    f = pipeline(3100)
    with pytest.raises(Stop), Signals(lambda s: s.stage == "host code", stop):
        f.compile_jit()
    assert f.realize([4, 4]).dimensions() == 2


def test_ctrl_c():
    with pytest.raises(KeyboardInterrupt):
        with Signals(first, signal.default_int_handler, signal.SIGINT) as signals:
            pipeline(3101).compile_jit()
    assert len(signals.steps) == 1


def test_handlers_that_raise_nothing_are_called_meanwhile():
    with Signals(lambda s: s.number < 3, lambda *_: None) as signals:
        assert pipeline(3102).realize([4, 4]).dimensions() == 2
    assert signals.calls == len([s for s in signals.steps if s.number < 3]) > 3


def test_other_threads_go_on_compiling():
    """Handlers are called on the main thread alone, whose compilation is the one that ends."""
    results = []
    begun, ended = threading.Event(), threading.Event()

    def wait(step):
        begun.set()
        assert ended.wait(LIMIT)

    def work():
        with ct.progress(wait):
            results.append(pipeline(3103).realize([4, 4]))

    thread = threading.Thread(target=work)
    thread.start()
    try:
        assert begun.wait(LIMIT)
        with pytest.raises(Stop), Signals(first, stop):
            pipeline(3104).compile_jit()
    finally:
        ended.set()
        thread.join()
    assert results[0].dimensions() == 2


def interrupted_objects():
    """By name: pytest itself asks what it finds for attributes."""

    class Interrupted(type):
        """Whatever is asked of objects of such a class, or of the class, is interrupted."""

        def __getattr__(cls, name):
            raise KeyboardInterrupt(name)

    class Attributes:
        def __getattr__(self, name):
            raise KeyboardInterrupt(name)

    class Numbers:
        def __len__(self):
            return 2

        def __getitem__(self, i):
            raise KeyboardInterrupt(str(i))

    class OfClass(metaclass=Interrupted):
        pass

    return {"attributes": Attributes(), "numbers": Numbers(), "class": OfClass, "of class": OfClass()}


@pytest.mark.parametrize(
    "use, names",
    [
        (lambda o: ct.Var("x") + o, "attributes"),
        (lambda o: o + ct.Var("x"), "attributes"),
        (lambda o: ct.select(ct.Var("x") > 1, o, 3), "attributes"),
        (lambda o: ct.sqrt(o), "attributes"),
        (lambda o: ct.RDom([(0, o)]), "attributes"),
        (lambda o: ct.Func().__setitem__(ct.Var("x"), o), "attributes"),
        (lambda o: ct.Func().split(ct.Var("x"), ct.Var("x"), ct.Var("y"), o), "attributes"),
        (lambda o: ct.mux(ct.Var("x"), [1, o]), "attributes"),
        (lambda o: ct.cast(o, ct.Var("x")), "attributes, class"),
        (lambda o: ct.Buffer(o, [2]), "attributes, class"),
        (lambda o: ct.Buffer(o), "attributes, of class"),
        (lambda o: ct.Buffer(ct.UInt(8), [2])[o], "attributes"),
        (lambda o: ct.Buffer(ct.UInt(8), [2]).copy_from(o), "attributes, of class"),
        (lambda o: ct.Buffer(ct.UInt(8), [2, 2]).set_min(o), "numbers"),
        (lambda o: ct.Buffer(ct.UInt(8), [2, 2]).transposed(o), "numbers"),
        (lambda o: ct.Pipeline(o), "numbers"),
        (lambda o: ct.Func(ct.Expr(1)).compile_to_callable(o), "numbers"),
        (lambda o: ct.Func(ct.Expr(1)).realize(o), "attributes, of class"),
        (lambda o: ct.Func(ct.Expr(1)).compile_to_callable([])(o), "of class"),
    ],
)
def test_an_interrupt_while_an_argument_is_looked_at_is_raised(use, names):
    objects = interrupted_objects()
    for o in (objects[name] for name in names.split(", ")):
        with pytest.raises(KeyboardInterrupt):
            use(o)
