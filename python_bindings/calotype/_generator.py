# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generators written in Python: classes that build a pipeline from parameters.

    @ct.generator(name="brighten")
    class Brighten:
        offset = ct.GeneratorParam(10)
        image = ct.InputBuffer(ct.UInt(8), 2)
        brighter = ct.OutputBuffer(ct.UInt(8), 2)

        def generate(self):
            x, y = ct.vars("x y")
            self.brighter[x, y] = ct.u8_sat(ct.u16(self.image[x, y]) + self.offset)

    if __name__ == "__main__":
        ct.main()
"""

import contextvars
import enum
import operator
import os
import sys
from collections.abc import Callable

from . import _core
from ._arg_info import ArgInfo, ArgInfoDirection, ArgInfoKind
from ._errors import ArgumentError, CallError, CompileError, Error
from ._typing import Any

__all__ = [
    "Generator",
    "GeneratorContext",
    "GeneratorParam",
    "InputBuffer",
    "InputScalar",
    "OutputBuffer",
    "OutputScalar",
    "RegisteredGenerator",
    "active_generator_context",
    "alias",
    "create_callable_from_generator",
    "find_generator",
    "generator",
    "main",
]

_PYTHON_TYPES: dict[Any, Any] = {bool: _core.Bool(), int: _core.Int(32), float: _core.Float(32)}
_OPEN = -1


def _type(given: Any) -> _core.Type:
    if isinstance(given, type) and given in _PYTHON_TYPES:
        return _PYTHON_TYPES[given]
    try:
        return _core.Type(given)
    except TypeError:
        raise CallError(f"{_described(given)} is no type") from None


def _types(of: "_Member", given: Any) -> list[_core.Type] | None:
    if given is None:
        return None
    try:
        return [_type(t) for t in (given if isinstance(given, (list, tuple)) else [given])]
    except Error as e:
        raise CallError(f"{type(of).__name__}: {e}") from None


def _dimensions(of: "_Member", given: Any) -> int:
    if given is None:
        return _OPEN
    try:
        dimensions = operator.index(given)
    except TypeError:
        dimensions = -1
    if dimensions < 0:
        raise CallError(
            f"{type(of).__name__}: dimensions is {_described(given)}, must be an int from 0, or None"
        )
    return dimensions


def _text(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else f"{text[:77]}..."


def _described(value: Any) -> str:
    return f"{_text(value)} ({type(value).__name__})"


def _plain(value: Any) -> Any:
    """Numbers and types of numpy as those of Python and of the language."""
    if isinstance(value, type) or hasattr(value, "isnative"):
        try:
            return _PYTHON_TYPES.get(value) or _core.cast(value, 0).type()
        except (Error, TypeError):
            return value
    is_scalar = hasattr(value, "dtype") and getattr(value, "shape", None) == ()
    return value.item() if is_scalar and hasattr(value, "item") else value


class _Member:
    """What the body of a generator's class declares. Read on an instance, it is the thing itself."""

    _kind = ""
    _types: list[_core.Type] | None = None
    _dimensions = _OPEN
    _default: Any = None
    _name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else instance._value(self)

    def __set__(self, instance: Any, value: Any) -> None:
        raise AttributeError(f"'{self._name}' of a generator is defined by [], it cannot be replaced")

    def _declaration(self) -> tuple:
        return (self._name, self._kind, self._types, self._dimensions, self._default)


class GeneratorParam(_Member):
    """A value fixed when the generator runs, as the default is: a bool, int, float, str, Type or member of an
    enum, which the command line and CMake give by its name."""

    _kind = "param"

    def __init__(self, value: Any):
        self._default = _plain(value)

    def _parse(self, text: str) -> Any:
        if isinstance(self._default, enum.Enum):
            return type(self._default)[text]
        if isinstance(self._default, bool):
            return text == "true"
        if isinstance(self._default, (int, float)):
            return type(self._default)(text)
        return _core._type_from_name(text) if isinstance(self._default, _core.Type) else text


class _Buffer(_Member):
    def _set(self, types: Any, dimensions: int | None) -> None:
        self._types = _types(self, types)
        self._dimensions = _dimensions(self, dimensions)


class InputBuffer(_Buffer):
    """A buffer that the pipeline takes: an ImageParam. None leaves type or dimensions to NAME.type and
    NAME.dim."""

    _kind = "input_buffer"

    def __init__(self, type: Any, dimensions: int | None):
        self._set(type, dimensions)


class OutputBuffer(_Buffer):
    """What the pipeline computes: a Func. Several types give it several values."""

    _kind = "output_buffer"

    def __init__(self, types: Any, dimensions: int | None):
        self._set(types, dimensions)


class InputScalar(_Member):
    """A number that the pipeline takes: a Param."""

    _kind = "input_scalar"
    _dimensions = 0

    def __init__(self, type: Any):
        self._types = _types(self, type)


class OutputScalar(_Member):
    """A Func without dimensions."""

    _kind = "output_scalar"
    _dimensions = 0

    def __init__(self, types: Any):
        self._types = _types(self, types)


class GeneratorContext:
    """The target that generators are made for: with GeneratorContext(target): ..."""

    def __init__(self, target: Any, autoscheduler_params: _core.AutoschedulerParams | None = None):
        self._target = target if isinstance(target, _core.Target) else _core.Target(target)
        if autoscheduler_params is None:
            autoscheduler_params = _core.AutoschedulerParams()
        if not isinstance(autoscheduler_params, _core.AutoschedulerParams):
            raise CallError(
                f"autoscheduler_params is {_described(autoscheduler_params)}, must be AutoschedulerParams"
            )
        self._autoscheduler = autoscheduler_params

    def target(self) -> _core.Target:
        """What generators are made for."""
        return self._target

    def autoscheduler_params(self) -> _core.AutoschedulerParams:
        """The choice of an autoscheduler; of an empty name where there is none."""
        return self._autoscheduler

    def __repr__(self) -> str:
        return f"<calotype.GeneratorContext target({self._target})>"

    def __enter__(self) -> "GeneratorContext":
        _contexts.set(_contexts.get() + (self,))
        return self

    def __exit__(self, *exception: Any) -> None:
        _contexts.set(_contexts.get()[:-1])


# Of a thread, and of a task of asyncio.
_contexts: contextvars.ContextVar[tuple[GeneratorContext, ...]] = contextvars.ContextVar("contexts", default=())


def active_generator_context() -> GeneratorContext:
    """The innermost one, or one for this machine."""
    stack = _contexts.get()
    return stack[-1] if stack else GeneratorContext(_core.get_jit_target_from_environment())


def _param_text(name: str, value: Any) -> str:
    value = _plain(value)
    if isinstance(value, enum.Enum):
        return str(value.name)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(_param_text(name, v) for v in value)
    if isinstance(value, (int, float, str, _core.Type)):
        return str(value)
    raise CompileError(f"generator parameter '{name}' is given {value!r}, no value of a parameter")


class Generator:
    """Base of generators; @generator adds it to a class that does not name it."""

    _core: Any
    _given: dict[str, Any]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in ("configure", "generate"):
            _check_method(cls, name)

    def __init__(self, generator_params: dict[str, Any] | None = None):
        cls = type(self)
        context = active_generator_context()
        core = _core._make_generator(
            cls._declarations(), context.target(), context.autoscheduler_params(), _registered_name(cls)
        )
        core.set_instance(self, False)
        self._begin(core, {} if generator_params is None else generator_params)

    @classmethod
    def _adopt(cls, core: Any, params: dict[str, Any]) -> "Generator":
        """An instance for a generator that is already made, as from the command line."""
        self = cls.__new__(cls)
        self._begin(core, params)
        return self

    def _begin(self, core: Any, params: dict[str, Any]) -> None:
        self.__dict__["_core"] = core
        self.__dict__["_given"] = {}
        _set_params(core, params)

    @classmethod
    def _declarations(cls) -> list[tuple]:
        members: dict[str, _Member] = {}
        for base in reversed(cls.__mro__):
            members.update({k: v for k, v in vars(base).items() if isinstance(v, _Member)})
        return [m._declaration() for m in members.values()]

    def _value(self, member: _Member) -> Any:
        if isinstance(member, GeneratorParam):
            return member._parse(self._core.param_text(member._name))
        if member._name in self._given:
            return self._given[member._name]
        return self._core.value_of(member._name)

    # ---- what generators use ----

    def configure(self) -> None:
        """May be defined by a generator: adds inputs and outputs."""

    def allow_out_of_order_inputs_and_outputs(self) -> bool:
        """For programs that define it: inputs come before outputs here, however they are declared."""
        return True

    def generate(self) -> None:
        """Must be defined by a generator: defines the outputs, and schedules them."""
        raise CompileError(f"generator '{self._core.name()}' has no method generate")

    def __repr__(self) -> str:
        return f"<calotype.Generator '{self._core.name()}'>"

    def _run_configure(self) -> None:
        self.configure()

    def __getattr__(self, name: str) -> Any:
        added = self.__dict__.get("_added", {})
        if name in added:
            return self._value(added[name])
        raise AttributeError(f"'{type(self).__name__}' has no attribute '{name}'")

    def add_input(self, name: str, io: Any) -> None:
        """In configure(): a further InputBuffer or InputScalar."""
        if not isinstance(io, (InputBuffer, InputScalar)):
            raise CallError(f"add_input: {io!r} is no InputBuffer and no InputScalar")
        self._add_member(name, io)

    def add_output(self, name: str, io: Any) -> None:
        """In configure(): a further OutputBuffer or OutputScalar."""
        if not isinstance(io, (OutputBuffer, OutputScalar)):
            raise CallError(f"add_output: {io!r} is no OutputBuffer and no OutputScalar")
        self._add_member(name, io)

    def _add_member(self, name: str, member: _Member) -> None:
        _check_name(f"an input or output that generator '{self._core.name()}' adds", name)
        added = self.__dict__.setdefault("_added", {})
        if name in added or hasattr(type(self), name):
            raise CompileError(f"generator '{self._core.name()}' has two members '{name}'")
        member._name = name
        self._core.add_later(name, member._kind, member._types, member._dimensions)
        added[name] = member

    def target(self) -> _core.Target:
        """What the pipeline is compiled for."""
        return self._core.target()

    def context(self) -> GeneratorContext:
        """The target and the autoscheduler, for generators that this one makes."""
        return GeneratorContext(self._core.target(), self._core.autoscheduler())

    def autoscheduler(self) -> _core.AutoschedulerParams:
        """The choice of an autoscheduler; of an empty name where there is none."""
        return self._core.autoscheduler()

    def using_autoscheduler(self) -> bool:
        """Whether there is one: then generate() need not schedule, but say what sizes are likely."""
        return self._core.using_autoscheduler()

    def natural_vector_size(self, type: Any) -> int:
        """How many elements of the type a vector of the target has."""
        return self._core.target().natural_vector_size(type)

    def add_requirement(self, condition: Any, *error_args: Any) -> None:
        """Checked when the pipeline starts; the other arguments are the text of the error."""
        self._core.add_requirement(condition, *error_args)

    # ---- what tools ask of Halide's generators, as torch's compiler does ----

    def _build_pipeline(self) -> _core.Pipeline:
        return self._core.build([])

    def _get_input_parameter(self, name: str) -> _core.Parameter:
        return self._core.value_of(name).parameter()

    def _get_output_func(self, name: str) -> _core.Func:
        return self._core.value_of(name)

    def _get_arginfos(self) -> list[ArgInfo]:
        self._core.configure()
        declared = type(self)._declarations()
        added = [m._declaration() for m in self.__dict__.get("_added", {}).values()]
        of_io = [d for d in declared + added if d[1] != "param"]
        return [_arg_info(*d[:4]) for d in sorted(of_io, key=lambda d: d[1].startswith("output"))]

    # ---- what programs use ----

    def compile_to_callable(self) -> Any:
        """The pipeline as a function of its inputs, then its outputs, in this process."""
        pipeline = self._core.build([])
        return pipeline.compile_to_callable(self._core.arguments(), self._core.target())

    @classmethod
    def call(cls, *args: Any, generator_params: dict[str, Any] | None = None, **kwargs: Any) -> Any:
        """The outputs, as Funcs of these inputs: by place or by name."""
        self = cls(generator_params)
        core = self._core
        core.configure()
        given = _bind_inputs(core, args, kwargs)
        values = []
        for name in core.input_names():
            value = _input_value(core, name, given[name])
            self._given[name] = value
            values.append(value)
        return _outputs(core, values)


def _check_method(cls: type, name: str) -> None:
    """What is called for what it does to self: one that would do nothing, or not to self, is a mistake."""
    import inspect

    found, method = inspect.getattr_static(cls, name), getattr(cls, name)
    wrong = ""
    if isinstance(found, (staticmethod, classmethod)):
        wrong = f"is a {type(found).__name__}"
    elif not callable(method):
        wrong = f"is {_described(method)}"
    elif inspect.iscoroutinefunction(method) or inspect.isasyncgenfunction(method):
        wrong = "is a function with async, which nothing awaits"
    elif inspect.isgeneratorfunction(method):
        wrong = "is a function with yield, whose body nothing runs"
    if wrong:
        raise CompileError(f"{name} of generator '{cls.__name__}' {wrong}; it must be a method of an instance")


def _arg_info(name: str, kind: str, types: list[_core.Type] | None, dimensions: int) -> ArgInfo:
    direction = ArgInfoDirection.Output if kind.startswith("output") else ArgInfoDirection.Input
    of_kind = ArgInfoKind.Buffer if kind.endswith("buffer") else ArgInfoKind.Scalar
    return ArgInfo(name, direction, of_kind, types or [], dimensions)


def _checked_params(params: Any) -> dict[str, Any]:
    if not isinstance(params, dict):
        raise CompileError(f"generator_params must be a dict, is {params!r}")
    for name in params:
        if not isinstance(name, str):
            raise CompileError(f"a name in generator_params is {_described(name)}, must be a str")
    return params


def _set_params(core: Any, params: Any) -> None:
    for name, value in _checked_params(params).items():
        level = isinstance(value, _core.LoopLevel) and isinstance(core, _core._RegisteredGenerator)
        core.set_param(name, value if level else _param_text(name, value))


def _bind_inputs(core: Any, args: tuple, kwargs: dict[str, Any]) -> dict[str, Any]:
    """The value of each input, by name."""
    what, names = f"generator '{core.name()}'", core.input_names()
    if len(args) > len(names):
        raise CompileError(
            f"{what} allows at most {len(names)} positional args, but {len(args)} were specified. "
            f"Its inputs are {', '.join(names)}"
        )
    given = dict(zip(names, args))
    for name, value in kwargs.items():
        if name not in names:
            raise CompileError(
                f"Unknown input '{name}' specified via keyword argument: {what} has {', '.join(names)}"
            )
        if name in given:
            raise CompileError(f"Input {name} specified multiple times. It is given by place and by name to {what}")
        given[name] = value
    missing = [name for name in names if name not in given]
    if missing:
        raise CompileError(
            f"{what} requires {len(names)} args, but {len(given)} were specified. "
            f"Missing: {', '.join(missing)}"
        )
    return given


def _input_value(core: Any, name: str, value: Any) -> Any:
    """What the C++ part takes for a value."""
    if isinstance(value, (_core.Func, _core.ImageParam)):
        return value
    return _scalar_value(core, name, value) if core.is_scalar(name) else _buffer_value(core, name, value)


def _scalar_value(core: Any, name: str, value: Any) -> Any:
    if isinstance(value, (_core.Param, _core.Expr)):
        return value
    wanted = core.input_type(name)
    try:
        return _core.Param(wanted, _core._unique_name(name), value) if wanted.bits() > 0 else _core.Expr(value)
    except TypeError:
        if isinstance(value, (int, float)):
            raise  # which says that it does not fit
        raise _wrong_input(core, name, value) from None


def _buffer_value(core: Any, name: str, value: Any) -> Any:
    if isinstance(value, (_core.Param, _core.Expr, bool, int, float)):
        raise _wrong_input(core, name, value)
    try:
        buffer = _core.Buffer(value)
    except (TypeError, ValueError) as e:
        raise _wrong_input(core, name, value, f": {e}" if isinstance(e, ArgumentError) else "") from None
    # Named so that an error of a run says which input it is.
    image = _core.ImageParam(buffer.type(), buffer.dimensions(), _core._unique_name(name))
    image.set(buffer)
    return image


def _wrong_input(core: Any, name: str, value: Any, reason: str = "") -> CompileError:
    wanted = "an ImageParam or Buffer argument, an array or a Func"
    if core.is_scalar(name):
        wanted = "a Param (or scalar literal) argument when using call, or an Expr"
    return CompileError(
        f"Input {name} requires {wanted}: generator '{core.name()}' is given {_text(value)}{reason}"
    )


def _outputs(core: Any, inputs: list[Any]) -> Any:
    """What the generator makes of its inputs: one, or a tuple of several."""
    core.build(inputs)
    outputs = core.outputs()
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


def _check_name(of: str, name: Any) -> None:
    if not isinstance(name, str):
        raise CallError(f"the name of {of} is {_described(name)}, must be a str")


class RegisteredGenerator:
    """A generator that a loaded library has registered, as those written in C++; see find_generator."""

    def __init__(self, name: str):
        _check_name("a generator", name)
        self.name = name
        self._make(None)

    def __repr__(self) -> str:
        return f"<calotype.RegisteredGenerator '{self.name}'>"

    def _make(self, params: dict[str, Any] | None) -> Any:
        context = active_generator_context()
        core = _core._make_registered_generator(self.name, context.target(), context.autoscheduler_params())
        _set_params(core, {} if params is None else params)
        return core

    def call(self, *args: Any, generator_params: dict[str, Any] | None = None, **kwargs: Any) -> Any:
        """The outputs, as Funcs of these inputs: by place or by name, lists for arrays."""
        core = self._make(generator_params)
        core.configure()
        given = _bind_inputs(core, args, kwargs)
        return _outputs(core, [self._values(core, name, given[name]) for name in core.input_names()])

    def _values(self, core: Any, name: str, value: Any) -> list[Any]:
        listed = value if core.is_array(name) else [value]
        if not isinstance(listed, (list, tuple)):
            raise CompileError(f"input '{name}' of generator '{self.name}' is given {value!r}, must be a list")
        return [_input_value(core, name, v) for v in listed]

    def compile_to_callable(self, generator_params: dict[str, Any] | None = None) -> Any:
        """The pipeline as a function of its inputs, then its outputs, in this process."""
        return create_callable_from_generator(active_generator_context(), self.name, generator_params)


def find_generator(name: str) -> RegisteredGenerator:
    """The generator of that name, of a library that load_plugin has loaded, or of this program:

    ct.load_plugin("libfilters.so")
    blur = ct.find_generator("blur").call(image, radius=3)
    """
    return RegisteredGenerator(name)


# ---- the registry ----

_registry: dict[str, tuple[type, dict[str, Any]]] = {}


def _registered_names() -> list[str]:
    return list(_registry)


def _find(name: str) -> tuple | None:
    """The class, its declarations and the parameters that an alias sets."""
    if name not in _registry:
        return None
    cls, params = _registry[name]
    return cls, cls._declarations(), params  # type: ignore[attr-defined]


def _registered_name(cls: type) -> str:
    return cls.__dict__.get("_name", cls.__name__)


def _register(name: str, cls: type, params: dict[str, Any]) -> None:
    other = _registry.get(name)
    same_place = other and (other[0].__module__, other[0].__qualname__) == (
        cls.__module__,
        cls.__qualname__,
    )
    if other and not same_place:
        raise CompileError(f"two generators are registered as '{name}'")
    _registry[name] = (cls, params)


def generator(name: Any = "") -> Callable:
    """Makes a class a generator of this name; by default that of the class."""
    if isinstance(name, type):
        return generator()(name)

    def decorate(cls: type) -> type:
        if not isinstance(cls, type):
            raise CompileError("@generator stands before a class")
        if not isinstance(name, str):
            raise CompileError(f"the name of generator {cls.__name__} is {name!r}, must be a str")
        if not issubclass(cls, Generator):
            kept = ("__module__", "__doc__", "__qualname__")
            cls = type(cls.__name__, (cls, Generator), {k: getattr(cls, k) for k in kept})
        if cls.__init__ is not Generator.__init__:  # type: ignore[misc]
            raise CompileError(
                f"generator '{name or cls.__name__}' has a method __init__, also as a dataclass: what "
                "makes generators never calls it; configure() or generate() may do what it does"
            )
        cls._name = name or cls.__name__  # type: ignore[attr-defined]
        _register(cls._name, cls, {})  # type: ignore[attr-defined]
        return cls

    return decorate


def alias(**names: dict[str, Any]) -> Callable:
    """Further names for a generator, each with values for some of its parameters."""

    def decorate(cls: type) -> type:
        if not (isinstance(cls, type) and issubclass(cls, Generator)):
            raise CompileError(f"alias of {_described(cls)}, which is no generator: @alias stands before @generator")
        for name, params in names.items():
            if not isinstance(params, dict):
                raise CompileError(f"alias '{name}' has {params!r}, must have a dict of parameters")
            _register(name, cls, params)
        return cls

    return decorate


def create_callable_from_generator(
    target: Any = None,
    name: str | None = None,
    generator_params: dict[str, Any] | None = None,
    *,
    context: GeneratorContext | None = None,
) -> Any:
    """A registered generator, compiled for this process: for a target, or for that of a context."""
    if (target is None) == (context is None):
        raise TypeError("create_callable_from_generator() takes a target or a context, and one of them")
    if name is None:
        raise TypeError("create_callable_from_generator() misses the name of a generator")
    _check_name("a generator", name)
    context = context or (target if isinstance(target, GeneratorContext) else GeneratorContext(target))
    given = {} if generator_params is None else _checked_params(generator_params)
    params = {k: _param_text(k, v) for k, v in given.items()}
    return _core._create_callable_from_generator(
        context.target(), context.autoscheduler_params(), name, params
    )


def _compiler_libraries() -> list[str]:
    """The shared library of the compiler, where the extension module has it from one."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
            paths = (line.rstrip("\n").partition("/")[2] for line in file)
            return sorted({"/" + p for p in paths if "libCalotype" in os.path.basename(p)})
    except OSError:
        return []


def _write_depfile(output: str) -> None:
    """What was imported, in the form of make and for its file `output`: output.d. What is installed is left out,
    but for this package: another version of it may make other code."""
    import sysconfig

    known = sysconfig.get_paths()
    installed = tuple(os.path.join(known[k], "") for k in ("stdlib", "platstdlib", "purelib", "platlib"))
    sources = set(_compiler_libraries())
    for name, module in [*sys.modules.items()]:
        source = os.path.abspath(getattr(module, "__file__", None) or "")
        if os.path.isfile(source) and (name.partition(".")[0] == __package__ or not source.startswith(installed)):
            sources.add(source)
    escaped = [f.replace("$", "$$").replace("#", "\\#").replace(" ", "\\ ") for f in [output, *sorted(sources)]]
    with open(output + ".d", "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(escaped[0] + ":" + "".join(f" \\\n  {f}" for f in escaped[1:]) + "\n")


def main(argv: list[str] | None = None) -> None:
    """The command line of generators, as of those in C++. Does not come back."""
    arguments = sys.argv[1:] if argv is None else argv
    if not isinstance(arguments, (list, tuple)) or not all(isinstance(a, str) for a in arguments):
        raise CallError(f"argv is {_described(arguments)}, must be a list of str")
    sys.stdout.flush()
    status = _core._generator_main(arguments)
    if status == 0 and "CT_DEPFILE_OF" in os.environ:
        _write_depfile(os.environ["CT_DEPFILE_OF"])
    sys.exit(status)
