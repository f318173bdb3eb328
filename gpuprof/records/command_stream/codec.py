"""Commands as lines of JSON, and back.

    {"do":"load","load_base":1048576}
    {"do":"allocate","name":"x, f32[1024]","nbytes":4096}
    {"do":"copy_in","address":30064771072,"blocks":[1],"nbytes":4096}
    {"do":"launch","block":[128,1,1],"grid":[8,1,1],"module":0,
     "name":"twice<<<8, 128>>>(x, 1024)","params":"0000...","symbol":"_Z5twicePfi"}
    {"do":"end"}

A line is an object: `do` says which row of LINES it is, the rest are that class's fields, those at their defaults left
out. bytes are hexadecimal. Nothing read is believed: types are checked here, what a command means where it is carried
out.
"""

import json
import types
import typing
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from typing import Any

from gpuprof.device import commands as cmd
from gpuprof.device.graphics_state.draw_state import Buffers, DrawState, Interface, Targets
from gpuprof.device.memory import ALIGNMENT
from gpuprof.device.module import Placed
from gpuprof.timing.sampling.configuration import Sampling

# Of the stream. 1: the first; 2: relations between tasks; 3: calls of programs, launches without time; 4: allocations
# whose content is undefined, their alignment, draws; 5: what the host waits for, streams that do not block, command
# buffers, draws by stages, tessellation, lines, points; 6: draws by records in memory, state of rasteriser and outputs,
# memory that is freed in the order of a stream; 7: variables that have memory before their module, images whose rows
# lie apart, memory that is mapped; 8: what caches hold when a launch is measured, and how often it is; 9: the host's
# time, its calls, functions and writes, what is asked together, page-locked memory.
VERSION = 9
LIMIT = 1 << 63


@dataclass(frozen=True)
class Header:
    """The first line: how the run was set that the stream comes from."""

    version: int
    sampling: Sampling
    record: str
    sample_blocks: bool = False
    max_cycles: int | None = None
    alignment: int = ALIGNMENT  # of allocations, in bytes
    max_instructions: int | None = None  # of a warp
    host: str = ""  # its numbers as JSON; "": launches of no program, whose calls take no time


@dataclass(frozen=True)
class SavedLoad:
    """Loads the recording's next module."""

    load_base: int
    placed: tuple[Placed, ...] = ()


@dataclass(frozen=True)
class SavedCopyIn:
    """A copy to the device. Its content is that of the blocks, one after the other."""

    address: int
    nbytes: int
    blocks: tuple[int, ...] = ()
    stream: int = 0
    is_pinned: bool = False
    is_waited: bool = False


@dataclass(frozen=True)
class SavedHostWrite:
    """Bytes that the host has written itself. Their content is that of the blocks, one after the other."""

    address: int
    nbytes: int
    blocks: tuple[int, ...] = ()


@dataclass(frozen=True)
class SavedLaunch:
    """A Launch whose module is a number, in the order loaded, and whose kernel is a symbol."""

    module: int
    symbol: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    dynamic_shared_nbytes: int = 0
    params: bytes = b""
    stream: int = 0
    name: str = ""
    cluster: tuple[int, int, int] = (1, 1, 1)
    dependent: bool = False
    is_timed: bool = True
    cache: str = ""
    repeat: int = 0


@dataclass(frozen=True)
class SavedShader:
    """A Shader whose module is a number, in the order loaded, and whose kernel is a symbol."""

    module: int
    symbol: str
    params: bytes
    interface: Interface


@dataclass(frozen=True)
class SavedDraw:
    """A Draw of saved shaders."""

    shaders: tuple[SavedShader, ...]
    buffers: Buffers
    state: DrawState
    targets: Targets
    name: str = ""


@dataclass(frozen=True)
class Failed:
    """The command before it raised an error, and the script continued."""


@dataclass(frozen=True)
class End:
    """The stream is whole."""


LINES = {
    "stream": Header,
    "load": SavedLoad,
    "allocate": cmd.Allocate,
    "free": cmd.Free,
    "free_later": cmd.FreeLater,
    "map": cmd.Map,
    "unmap": cmd.Unmap,
    "make_image": cmd.MakeImage,
    "copy_in": SavedCopyIn,
    "host_write": SavedHostWrite,
    "host_touch": cmd.HostTouch,
    "prefetch": cmd.Prefetch,
    "advise": cmd.Advise,
    "copy_out": cmd.CopyOut,
    "copy_within": cmd.CopyWithin,
    "fill": cmd.Fill,
    "launch": SavedLaunch,
    "draw": SavedDraw,
    "resolve": cmd.Resolve,
    "event": cmd.Event,
    "event_time": cmd.EventTime,
    "priority": cmd.Priority,
    "non_blocking": cmd.NonBlocking,
    "set_sampler": cmd.SetSampler,
    "wait": cmd.Wait,
    "host_time": cmd.HostTime,
    "host_call": cmd.HostCall,
    "host_function": cmd.HostFunction,
    "together": cmd.Together,
    "together_end": cmd.TogetherEnd,
    "task_begin": cmd.TaskBegin,
    "task_end": cmd.TaskEnd,
    "call_begin": cmd.CallBegin,
    "call_end": cmd.CallEnd,
    "identify": cmd.Identify,
    "relate": cmd.Relate,
    "parameter": cmd.Parameter,
    "failed": Failed,
    "end": End,
}
NAMES = {kind: name for name, kind in LINES.items()}


class NewerStream(ValueError):
    """A stream of a version that this gpuprof does not know; its fields may be others."""


def line_of(value: Any) -> bytes:
    """A value of one of LINES' classes as its line, "\\n" included."""
    plain = {"do": NAMES[type(value)]} | _plain(value)
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def value_of(line: bytes) -> Any:
    """The inverse of `line_of`; raises ValueError for what is no line of a stream."""
    try:
        plain = json.loads(line.decode("ascii"))
    except RecursionError as error:
        raise ValueError(str(error)) from None
    if type(plain) is not dict or not isinstance(name := plain.pop("do", None), str):
        raise ValueError(f"the line {line[:40]!r} is not a command")
    if LINES.get(name) is Header and type(version := plain.get("version")) is int and version > VERSION:
        raise NewerStream(f"has version {version}, and this gpuprof reads up to {VERSION}")
    if name not in LINES:
        raise ValueError(f"unknown command {name[:40]!r}")
    return _value(LINES[name], plain, name)


def text_of(value: Any) -> bytes:
    """A value of plain fields, of a class that is no line of a stream."""
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def object_of(kind: type, text: bytes) -> Any:
    """The inverse of `text_of`; raises ValueError for what does not stand for a `kind`."""
    try:
        plain = json.loads(text.decode("ascii"))
    except RecursionError as error:
        raise ValueError(str(error)) from None
    return _value(kind, plain, kind.__name__)


def _plain(value: Any) -> Any:
    if _has_fields(type(value)):
        defaults = _defaults(type(value))
        return {
            name: _plain(getattr(value, name))
            for name in _hints(type(value))
            if name not in defaults or getattr(value, name) != defaults[name]
        }
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value.hex() if isinstance(value, bytes) else value


def _value(kind: Any, plain: Any, where: str) -> Any:
    """The value of a type annotation that `plain` stands for; raises ValueError that names the place."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is types.UnionType:  # of plain types, or something and None
        fitting = [each for each in arguments if type(plain) is each]
        return _value(fitting[0] if fitting else arguments[0], plain, where)
    if origin is tuple:
        return _items(arguments, plain, where)
    if _has_fields(kind):
        return _object(kind, plain, where)
    if kind is bytes and type(plain) is str:
        return bytes.fromhex(plain)
    if kind is float and type(plain) is int and -LIMIT < plain < LIMIT:
        return float(plain)
    if type(plain) is not kind or (kind is int and not -LIMIT < plain < LIMIT):
        raise ValueError(f"{where} is {str(plain)[:40]!r}, not {kind.__name__}")
    return plain


def _object(kind: Any, plain: Any, where: str) -> Any:
    hints, defaults = _hints(kind), _defaults(kind)
    if (
        type(plain) is not dict
        or not plain.keys() <= hints.keys()
        or not hints.keys() <= plain.keys() | defaults.keys()
    ):
        raise ValueError(f"{where} does not have the fields of {kind.__name__}")
    return kind(**{name: _value(hints[name], item, f"{where}.{name}") for name, item in plain.items()})


def _items(arguments: tuple, plain: Any, where: str) -> tuple:
    if type(plain) is not list:
        raise ValueError(f"{where} is not a list")
    kinds = arguments[:1] * len(plain) if arguments[-1] is Ellipsis else arguments
    if len(kinds) != len(plain):
        raise ValueError(f"{where} has {len(plain)} items, not {len(kinds)}")
    return tuple(_value(kind, item, f"{where}[{i}]") for i, (kind, item) in enumerate(zip(kinds, plain, strict=True)))


def _has_fields(kind: Any) -> bool:
    return isinstance(kind, type) and (is_dataclass(kind) or hasattr(kind, "_fields"))


@cache
def _hints(kind: Any) -> dict[str, Any]:
    names = {field.name for field in fields(kind)} if is_dataclass(kind) else set(kind._fields)
    return {name: hint for name, hint in typing.get_type_hints(kind).items() if name in names}


@cache
def _defaults(kind: Any) -> dict[str, Any]:
    if not is_dataclass(kind):
        return kind._field_defaults
    given = {field.name: field.default for field in fields(kind) if field.default is not MISSING}
    return given | {
        field.name: field.default_factory() for field in fields(kind) if field.default_factory is not MISSING
    }
