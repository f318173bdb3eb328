"""Recordings of what this process launches itself: on a Device, with Triton, with numba.cuda."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from gpuprof.base.wording import suggestion
from gpuprof.device.api import Device
from gpuprof.errors import NotComparable, UsageError
from gpuprof.records.writer import RecordWriter
from gpuprof.run.observers.tracing import Attached
from gpuprof.run.run_settings import Settings
from gpuprof.run.script import collecting, device_of_script
from gpuprof.testing.collect_flags import check_flags
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.trace.find import make, parse_spec

PERIOD_CYCLES = 256  # of samples: the default of `gpuprof collect`


def _traces(texts: str | Sequence[str]) -> tuple[Attached, ...]:
    specs = [parse_spec(text) for text in ([texts] if isinstance(texts, str) else texts)]
    return tuple(Attached(make(spec), spec.where) for spec in specs)


# Flag of collect -> the field of Settings that it fills, and how.
FIELDS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "chip": ("chip_name", str),
    "host": ("host_name", str),
    "cache": ("cache", str),
    "repeat": ("repeat", int),
    "max_cycles": ("max_cycles", int),
    "max_instructions": ("max_instructions", int),
    "sample_blocks": ("sample_blocks", bool),
    "save_stream": ("save_stream", bool),
    "trace": ("traces", _traces),
}


@contextmanager
def recorded(output: Path, flags: Mapping[str, Any], command: str, interop: Sequence[str]) -> Generator[Device]:
    """The Device whose launches are recorded while the block runs; `gpuprof.Device()` gives the same one there.

    `interop`: "triton", "numba", whose kernels launch on it. Raises UsageError for a flag or name that is none of
    these, NotComparable when nothing was launched.
    """
    settings = Settings(sampling=Sampling(PERIOD_CYCLES), observe=True, command=command, **dict(_fields(flags)))
    enabled = [_interop(name) for name in interop]
    with RecordWriter(output, settings.record) as recorder:
        with collecting(replace(settings, recorder=recorder)), ExitStack() as stack:
            device = device_of_script()
            for each in enabled:
                stack.enter_context(each(device))
            yield device
        if recorder.n_launches == 0:
            raise NotComparable("recording(): no kernel was launched in the block, so nothing was recorded")


def _fields(flags: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    check_flags(flags, "recording")
    for name, value in flags.items():
        if name not in FIELDS:
            raise UsageError(
                f"{name}={value!r}: a run in the test's own process has only the flags {', '.join(FIELDS)}"
            )
        field, made = FIELDS[name]
        if value is not None and value is not False:
            yield field, made(value)


def _interop(name: str) -> Callable[[Device], Any]:
    if name == "triton":
        from gpuprof.interop import triton

        return triton.enabled
    if name == "numba":
        from gpuprof.interop import numba

        return numba.enabled
    near = suggestion(name, ("triton", "numba")) or "it is triton or numba"
    raise UsageError(f"recording(interop={name!r}): unknown; {near}")
