# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls what the package has with arguments that it was not made for: fuzz_calls.py SEED COUNT,
or all methods of undefined objects: fuzz_calls.py 0 0.

Prints each call whose exception is not one of a wrong argument. If a call crashes the process, the last
line of stderr says which."""

import os
import random
import sys
import tempfile
import types
import warnings

import calotype as ct

try:
    import numpy as np
except ImportError:
    np = None

# They load code, change settings of the process, or need one of those to end.
NOT_CALLED = {"main", "load_plugin", "set_compiler_stack_size", "set_kernel_cache_limits", "GeneratorContext"}
NOT_LOOKED_INTO = {"halide", "torch"}
WRITE_FILES = ("compile_to", "compile", "save", "write", "load", "imwrite", "imread")
ABOUT_PYTHON = set(dir(type)) | set(dir(object)) - {"__init__", "__eq__", "__lt__", "__hash__"}

EXPECTED = (
    ct.Error,
    TypeError,
    ValueError,
    LookupError,
    ArithmeticError,
    BufferError,
    AttributeError,
    OSError,
    ImportError,
    NotImplementedError,  # of a view of memory
    StopIteration,
)
BUGS = (ct.InternalError, RecursionError)


class Odd:
    """Answers no question."""

    def refuse(self, *_):
        raise ZeroDivisionError("odd")

    __index__ = __float__ = __len__ = __iter__ = __bool__ = __eq__ = refuse
    __hash__ = None

    def __repr__(self):
        return "<odd>"


def plain_values():
    integers = [0, 1, -1, 2, 7, 64, 255, 2**31 - 1, -(2**31), 2**31, 2**63, -(2**63), 2**64, 10**40]
    floats = [0.0, -1.5, 1e300, 1e-320, float("nan"), float("inf")]
    texts = ["", "x", "a b", "\0", "\u00e9", "\ud800", "x" * 300, "host", "uint8", b"", b"abc"]
    lists = [(), [], {}, (1,), [1, 2], [(0, 4), (0, 4)], [None], {"a": 1}, {1}]
    others = [None, True, False, object(), int, len, Odd(), complex(1, 2), lambda *_: None]
    return integers + floats + texts + lists + others


def array_values():
    values = [bytearray(16), memoryview(b"abcd"), memoryview(bytearray(16)).cast("B", (4, 4))]
    if np is not None:
        read_only = np.zeros((4, 4), np.uint8)
        read_only.flags.writeable = False
        values += [read_only, np.zeros((4, 4), np.uint8), np.zeros(3), np.zeros((2,) * 9, np.uint8)]
        values += [np.array(3), np.float32(2), np.int64(5), np.zeros((2, 2), ">i4"), np.zeros(3, complex)]
    return values


def language_values():
    x, y = ct.vars("x y")
    f, g, t, u = ct.funcs("f g t u")
    r = ct.RDom([(0, 10)], "r")
    f[x, y] = x + y
    g[x] = 0
    g[x] += r.x
    t[x] = (x, ct.f32(x))
    image, p = ct.ImageParam(ct.UInt(8), 2, "image"), ct.Param(ct.Int(32), "p")
    values = [x, x + 1, ct.f32(x), f, g, t, u, f[x, y], t[x], t[x][1], u[x], r, r.x, image, p]
    values += [image.parameter(), f.output_buffer(), image.dim(0), g.update(0), ct.LoopLevel(f, x)]
    values += [ct.Expr(), ct.RDom(), ct.ImageParam(), ct.Parameter(), ct.Buffer(), ct.Pipeline()]
    values += [ct.UInt(8), ct.Float(32), ct.Int(32, 4), ct.Handle(), ct.Target("host"), ct.Target()]
    values += [ct.Pipeline(f), ct.Argument(), ct.Module("m", ct.Target("host")), ct.LoopLevel.root()]
    values += [ct.TailStrategy.Auto, ct.MemoryType.Stack, ct.DeviceAPI.Host, ct.Func]
    sizes = ([4, 4], [0, 3], [])
    buffers = [ct.Buffer(t, s) for t, s in zip((ct.UInt(8), ct.Float(32), ct.Int(16)), sizes)]
    return values + buffers + [buffers[0].dim(0), ct.Buffer.make_bounds_query(ct.Int(32), [4])]


def all_values():
    return plain_values() + array_values() + language_values()


def functions():
    found = []
    for name in sorted(set(dir(ct)) - NOT_CALLED - NOT_LOOKED_INTO):
        value = getattr(ct, name) if not name.startswith("_") else None
        if isinstance(value, types.ModuleType):
            members = [(f"{name}.{n}", getattr(value, n)) for n in sorted(dir(value)) if n[0] != "_"]
        else:
            members = [(name, value)]
        found += [(n, v) for n, v in members if is_called(n, v)]
    return found


def is_called(name, value):
    is_ours = str(getattr(value, "__module__", "")).startswith("calotype")
    is_exception = isinstance(value, type) and issubclass(value, BaseException)
    is_file = name.split(".")[-1].startswith(WRITE_FILES)
    return callable(value) and is_ours and not is_exception and not is_file


def methods_of(value):
    if not type(value).__module__.startswith("calotype"):
        return []
    names = set(dir(type(value))) - ABOUT_PYTHON
    return sorted(n for n in names if not n.startswith(WRITE_FILES) and (n[:2] == "__" or n[0] != "_"))


def shown(value):
    try:
        return ascii(value)[:50]
    except Exception as e:  # it is about the call
        return f"<{type(value).__name__}: {type(e).__name__}>"


class Fuzz:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.functions = functions()
        self.problems = {}

    def some_call(self):
        """Of what, its name, and a way to find it, which may fail."""
        if self.random.random() < 0.35:
            name, function = self.random.choice(self.functions)
            return None, name, lambda: function
        target = self.random.choice(self.values)
        names = methods_of(target)
        if not names:
            return self.some_call()
        name = self.random.choice(names)
        return target, f"{type(target).__name__}.{name}", lambda: getattr(target, name)

    def run(self, count):
        for i in range(count):
            if i % 40 == 0:
                self.values = all_values()
            target, name, find = self.some_call()
            number = self.random.choice([0, 1, 1, 1, 2, 2, 3, 4])
            self.call(name, target, find, [self.random.choice(self.values) for _ in range(number)])
        return self.problems

    def run_undefined(self):
        """All methods of objects that stand for nothing."""
        make = [ct.Expr, ct.RDom, ct.ImageParam, ct.OutputImageParam, ct.Parameter, ct.Buffer, ct.Pipeline]
        make += [ct.Func, ct.Target, ct.Argument, ct.Type, ct.LoopLevel]
        x = ct.Var("x")
        arguments = [(), (0,), (-1,), (1,), (x,), (1, 2), (x, 1), ([1, 2],), (ct.Int(32), 1), (x, x, 2)]
        for cls in make:
            for name in methods_of(cls()):
                for args in arguments:
                    target = cls()
                    self.call(f"{cls.__name__}.{name}", target, lambda: getattr(target, name), args)
        return self.problems

    def call(self, name, target, find, args):
        text = f"{name}({', '.join(shown(a) for a in args)}) of {shown(target)}"
        sys.stderr.write("\n" + text)
        try:
            found = find()
            result = found(*args) if callable(found) else found
            repr(result), repr(target)
        except EXPECTED as e:
            if isinstance(e, BUGS) or not str(e) and type(e) not in (KeyError, StopIteration):
                self.problems.setdefault(name, f"{text}: {type(e).__name__}: {e}")
        except MemoryError:
            pass
        except BaseException as e:  # whatever it is, it is none of the expected ones
            self.problems.setdefault(name, f"{text}: {type(e).__name__}: {e}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    os.chdir(tempfile.mkdtemp())
    fuzz = Fuzz(int(sys.argv[1]))
    count = int(sys.argv[2])
    for problem in (fuzz.run(count) if count else fuzz.run_undefined()).values():
        print(problem)
    print("done")
