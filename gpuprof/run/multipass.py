"""Several passes of one run: the first as it comes, the others from its command stream, each with a seed and a phase of
its own.

Pass k of n has the seed + k, and is k / n of a period later, so that together they sample n times as often. Each is a
recording; in the end `records.merge` makes one of them.
"""

import shlex
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from gpuprof.base.files import hidden, remove_what_was_left
from gpuprof.base.output_targets import target_of
from gpuprof.base.stages import stage
from gpuprof.errors import GpuprofError, UsageError
from gpuprof.records.command_stream.read import read_stream
from gpuprof.records.merge import merge
from gpuprof.records.writer import RecordWriter
from gpuprof.run.observers.tracing import Attached
from gpuprof.run.replay import chip_of, replay
from gpuprof.run.run_settings import Observer, Settings
from gpuprof.trace.finding_report import Findings


def record(
    output: Path,
    settings: Settings,
    first: Callable[[Settings], None],
    passes: int = 1,
    fixed: frozenset[str] | None = None,
) -> RecordWriter:
    """Records what `first` does with the settings, with a recorder in them, and its later passes; gives the writer of
    the recording.

    `fixed`: registers of the sampler that stay as the settings have them, also where the stream sets them.
    A run that is stopped in a later pass leaves a recording of the passes before, which says so. Raises UsageError for
    settings of which there can be one pass only, and what `first` raises.
    """
    if passes > 1:
        _check(output, settings, passes)
    remove_what_was_left(output)
    recorder = RecordWriter(output, settings.record)
    with _what_is_left(recorder, output, settings.observer), recorder:
        first(replace(settings, recorder=recorder, save_stream=settings.save_stream or passes > 1))
    if passes == 1:
        return recorder
    n_launches, save_stream, stream = recorder.n_launches, settings.save_stream, read_stream(output)
    # The kernels' output, durations and findings are known from the first pass.
    settings = replace(
        settings,
        chip=chip_of(stream),
        chip_changes={},
        save_stream=False,
        observer=Observer(),
        findings=Findings(),
        traces=tuple(_refusing(settings.traces)),
    )
    with _temporary(output, passes) as paths, stage("", "passes", passes, each="pass") as under_way:
        for number, path in enumerate(paths, 1):
            under_way.done = number
            try:
                with RecordWriter(path, settings.record) as recorder:
                    replay(stream, replace(settings, recorder=recorder), fixed=fixed, number=number, of=passes)
            except KeyboardInterrupt as error:
                stopped = f"{str(error) or 'interrupted'} in pass {number + 1} of {passes}"
                merge([output, *paths[: number - 1]], output, stopped, save_stream)
                raise
        under_way.done = passes
        merged = merge([output, *paths], output, save_stream=save_stream).writer
        assert merged.n_launches == n_launches, "what is exact differs between passes"
        return merged


def _refusing(traces: Iterable[Attached]) -> Iterator[Attached]:
    """A kernel continues like in the first pass: accesses that were refused there are refused again."""
    for attached in traces:
        if attached.generator.refuses:
            yield Attached(attached.generator.again(), attached.where)


def passes_of(sampling: dict[str, Any]) -> int:
    """How many passes there are in a recording, by its META chunk."""
    passes = sampling.get("passes", 1)
    return passes if type(passes) is int and passes > 0 else 1


def _check(output: Path, settings: Settings, passes: int) -> None:
    if not settings.sampling.is_on:
        raise UsageError(f"{passes} passes with sampling off would all be the same; give --period")
    if settings.sampling.auto_period:
        raise UsageError(
            f"{passes} passes with --period auto: each may find another period; give the period that a single "
            "pass finds"
        )
    if settings.sampling.stream == "lsu":
        raise UsageError(f"{passes} passes with --stream lsu: samples disturb each pass differently; use --stream aux")
    if target_of(output).path is None:
        raise UsageError(f"{output}: {passes} passes need a regular file as output")


@contextmanager
def _what_is_left(recorder: RecordWriter, output: Path, observer: Observer) -> Iterator[None]:
    """An error, or interrupt, that cuts the recording short says what can be had of it."""

    def left() -> str:
        page = ["--page", "draws"] if recorder.draws_alone else []
        return f"the part before can be read: {shlex.join(['gpuprof', 'report', str(output), *page])}"

    try:
        yield
    except GpuprofError as error:
        if recorder.is_part:
            error.args = (f"{error}; {left()}",)
        raise
    except KeyboardInterrupt:
        if recorder.is_part:
            observer.notice(left())
        raise


@contextmanager
def _temporary(output: Path, passes: int) -> Iterator[list[Path]]:
    """Names next to the output for the second pass and those after it. The files are gone at the end."""
    paths = [hidden(output, f"pass{number}") for number in range(2, passes + 1)]
    try:
        yield paths
    finally:
        for path in paths:
            path.unlink(missing_ok=True)
