"""Trace generators by name: built in, of an installed package, or `file.py:Class`; and the syntax of --trace."""

import importlib.util
import sys
from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import NamedTuple

from gpuprof.base.wording import suggestion
from gpuprof.errors import UsageError
from gpuprof.trace.generator import TraceGenerator

GROUP = "gpuprof.trace_generators"  # of entry points
# Name -> file and class there. A file is imported only when its generator is requested.
GENERATORS = {
    "mix": ("mix", "InstructionMix"),
    "activity": ("counts.lane_activity", "Activity"),
    "block_counts": ("counts.block_counts", "BlockCounts"),
    "branches": ("counts.branch_divergence", "Branches"),
    "convergence": ("counts.lane_convergence", "Convergence"),
    "dimensions": ("counts.dimensions", "Dimensions"),
    "machine": ("counts.machine_counts", "Machine"),
    "balance": ("counts.balance", "Balance"),
    "bytes_balance": ("counts.balance", "BytesBalance"),
    "parallelism": ("counts.parallelism", "Parallelism"),
    "live_registers": ("counts.register_liveness", "LiveRegisters"),
    "widths": ("counts.widths", "Widths"),
    "addresses": ("access_list", "Addresses"),
    "reuse": ("memory.reuse_distance", "Reuse"),
    "cache": ("memory.cache_hits", "Cache"),
    "instruction_cache": ("memory.cache_hits", "InstructionCache"),
    "traffic": ("memory.memory_traffic", "Traffic"),
    "sharing": ("memory.sharing", "Sharing"),
    "watch": ("memory.watch", "Watch"),
    "repeats": ("values.repeats", "Repeats"),
    "redundancy": ("values.redundancy", "Redundancy"),
    "ranges": ("values.value_ranges", "Ranges"),
    "origins": ("values.origins", "Origins"),
    "accelsim": ("trace_files.accelsim", "AccelSim"),
    "intensity": ("bounds.arithmetic_intensity", "Intensity"),
    "graph": ("bounds.flow_graph", "Graph"),
}
# They are named after compute-sanitizer's tools.
CHECKERS = {
    "memcheck": ("memcheck", "Memcheck"),
    "initcheck": ("initcheck", "Initcheck"),
    "racecheck": ("racecheck", "Racecheck"),
    "synccheck": ("synccheck", "Synccheck"),
}
BUILT_IN = {name: (f"generators.{file}", cls) for name, (file, cls) in GENERATORS.items()} | {
    name: (f"checkers.{file}", cls) for name, (file, cls) in CHECKERS.items()
}
LAUNCH_KEYS = ("kernel", "launch", "stream", "task", "draw", "stage", "skip", "count")  # select the watched launches


class Spec(NamedTuple):
    """A parsed --trace: NAME or FILE.py:CLASS, options as texts, and the launches, as a sampling filter's text."""

    name: str
    options: Mapping[str, str]
    where: str


def parse_spec(text: str) -> Spec:
    """Parses NAME[:key=value,...]; a piece without "=" continues the previous value. Raises UsageError."""
    name, pieces = _split(text)
    given: dict[str, str] = {}
    last = ""
    for piece in pieces.split(",") if pieces else ():
        key, equals, value = piece.partition("=")
        if equals:
            if key in given:
                raise UsageError(f"--trace {text!r}: {key} is given twice")
            given[key], last = value, key
        elif last:
            given[last] += f",{piece}"
        else:
            raise UsageError(f"--trace {text!r}: expected KEY=VALUE after the name, not {piece!r}")
    where = " ".join(f"{key}={given.pop(key)}" for key in LAUNCH_KEYS if key in given)
    return Spec(name, given, where)


def _split(text: str) -> tuple[str, str]:
    """The name and the text after its colon. In FILE.py:CLASS the first colon belongs to the name."""
    if ".py:" in text:
        file, rest = text.split(".py:", 1)
        name, _, pieces = rest.partition(":")
        return f"{file}.py:{name}", pieces
    name, _, pieces = text.partition(":")
    return name, pieces


def find(name: str) -> type[TraceGenerator]:
    """The class of this name. Raises UsageError when there is none."""
    if ".py:" in name:
        return _of_file(*name.rsplit(":", 1))
    if name in BUILT_IN:
        file, class_name = BUILT_IN[name]
        return getattr(import_module(f"gpuprof.trace.{file}"), class_name)
    installed = installed_generators()
    if name in installed:
        return _of_package(installed[name])
    if name.endswith(".py"):
        raise UsageError(f"--trace {name!r} names no class; write {name}:CLASS")
    known = (*BUILT_IN, *installed)
    near = suggestion(name, known) or f"there are {', '.join(known)}, and FILE.py:CLASS"
    raise UsageError(f"no trace generator {name!r}; {near}")


def make(spec: Spec) -> TraceGenerator:
    """A generator for a spec. Raises UsageError for an unknown name or option, a wrong value, or a class that does not
    accept options.
    """
    cls = find(spec.name)
    try:
        generator = cls(**spec.options)
    except UsageError:
        raise
    except Exception as error:  # whatever the user's __init__ raises
        raise UsageError(f"trace generator {spec.name}: {type(error).__name__}: {error}") from None
    if not generator.is_ready:
        raise UsageError(f"trace generator {spec.name}: its __init__ does not call super().__init__(**options)")
    return generator


def installed_generators() -> dict[str, EntryPoint]:
    """Generators of installed packages, by name; built-in ones take precedence."""
    cls = {each.name: each for each in sorted(entry_points(group=GROUP), key=lambda each: each.name)}
    return {name: each for name, each in cls.items() if name not in BUILT_IN}


def all_names() -> tuple[str, ...]:
    return (*BUILT_IN, *installed_generators())


def _of_package(entry: EntryPoint) -> type[TraceGenerator]:
    try:
        cls = entry.load()
    except Exception as error:  # whatever a package raises when it is imported
        raise UsageError(f"trace generator {entry.name!r} of {entry.value}: {type(error).__name__}: {error}") from None
    return _checked(cls, f"{entry.value}, the trace generator {entry.name!r},")


def _of_file(file: str, class_name: str) -> type[TraceGenerator]:
    path = Path(file)
    if not path.is_file():
        raise UsageError(f"{path}: there is no such file")
    spec = importlib.util.spec_from_file_location(f"gpuprof_trace_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)  # as Python does for a script: it may import its neighbours
    sys.modules[spec.name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # whatever the user's file raises
        raise UsageError(f"{path}: {type(error).__name__}: {error}") from None
    finally:
        sys.path.remove(folder)
    if not hasattr(module, class_name):
        raise UsageError(f"{path}: it has no class {class_name!r}")
    return _checked(getattr(module, class_name), f"{path}:{class_name}")


def _checked(cls: object, what: str) -> type[TraceGenerator]:
    if not (isinstance(cls, type) and issubclass(cls, TraceGenerator)):
        raise UsageError(f"{what} is not a subclass of gpuprof.trace.TraceGenerator")
    return cls
