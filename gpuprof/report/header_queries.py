"""The head of every page, from the database: the sampling, the losses, the chip."""

import json
import sqlite3
from collections import Counter

from gpuprof.base.cache_control import CacheControl, control_of
from gpuprof.base.wording import plural
from gpuprof.chips.peaks import peaks_of
from gpuprof.correlate.findings import read_results
from gpuprof.correlate.tasks.host_clock import clock_in
from gpuprof.records.reader import HOST
from gpuprof.records.sampling_registers import CYCLES, narrowed_by
from gpuprof.report.fidelity_line import words_of_caution, words_on_kernels_like
from gpuprof.report.model import ChipFacts, Header, Kernel, Launch

OWN_WORDS = "NVIDIA"  # the maker whose parts the model is made for
# registers that are in the header's line of the samples
IN_HEADER = ("period_cycles", "mode", "trigger", "every", "partition")


def read_header(database: sqlite3.Connection, meta: dict[str, str], kernels: tuple[Kernel, ...]) -> Header:
    launches = [launch for kernel in kernels for launch in kernel.launches]
    return Header(
        tool_version=meta["tool_version"],
        model_version=meta["model_version"],
        fidelity=meta.get("fidelity", ""),
        alike=words_on_kernels_like(meta, kernels),
        not_held=(*words_of_caution(launches, called(database)), *words_of_host(database, meta)),
        chip=meta["chip"],
        kernels=tuple(kernel.name for kernel in kernels),
        launches=len(launches),
        samples=sum(launch.samples_kept for launch in launches),
        dropped=sum(launch.samples_dropped for launch in launches),
        buffer_full=any(launch.buffer_full for launch in launches),
        losses=read_losses(database, launches),
        cycles=sum(launch.cycles for launch in launches),
        disturbance_cycles=sum(int(launch.metrics.get("disturbance_cycles", 0)) for launch in launches),
        period_cycles=period_in_force(meta, launches),
        mode=", ".join(in_force(meta, launches, "mode")),
        passes=int(passes) if (passes := meta.get("passes", "")).isdecimal() else 1,
        trigger=", ".join(triggers_in_force(meta, launches)),
        partition=", ".join(name for name in in_force(meta, launches, "partition") if name != "-1"),
        filter=filters_in_force(meta, launches),
        results=tuple(read_results(database)),
        caches=() if "measured_by" in meta else caches_of(launches),
        measured_by=meta.get("measured_by", ""),
        samples_time="measured_by" in meta or not any(map(narrowed_by, registers_in_force(meta, launches))),
        notes=(
            *chip_notes(meta),
            *register_notes(meta, launches),
            *dict.fromkeys(note for key in ("damage", "marks") for note in meta.get(key, "").splitlines()),
        ),
        complete=meta["complete"] == "1" and all(launch.complete for launch in launches),
    )


def caches_of(launches: list[Launch]) -> tuple[tuple[CacheControl, int], ...]:
    return tuple(Counter(control_of(launch.metrics) for launch in launches).items())


def called(database: sqlite3.Connection) -> set[str]:
    """Names of the functions that a program's host called."""
    return {name for (name,) in database.execute("SELECT DISTINCT name FROM api_calls JOIN tasks USING (task)")}


def words_of_host(database: sqlite3.Connection, meta: dict[str, str]) -> tuple[str, ...]:
    """The sentence about times that come from a table of the host."""
    if clock_in(database) is None:
        return ()
    named = f" {meta[HOST]}" if HOST in meta else ""
    return (f"times of copies and of the host{named} are estimates",)


def read_losses(database: sqlite3.Connection, launches: list[Launch]) -> tuple[tuple[int, int, int], ...]:
    rows: dict[int, tuple[int, int]] = {}
    chosen = {launch.launch for launch in launches}
    query = "SELECT launch, sm, dropped_fifo, dropped_buffer FROM sample_losses WHERE dropped_fifo + dropped_buffer > 0"
    for launch, sm, fifo, buffer in database.execute(query):
        if launch in chosen:
            fifo_before, buffer_before = rows.get(sm, (0, 0))
            rows[sm] = (fifo_before + fifo, buffer_before + buffer)
    losses = ((sm, fifo, buffer) for sm, (fifo, buffer) in rows.items())
    return tuple(sorted(losses, key=lambda row: (-row[1] - row[2], row[0])))


def registers_in_force(meta: dict[str, str], launches: list[Launch]) -> list[dict[str, int | str]]:
    """The registers that the sampler has had, among other things: each set of them once, in the order of the launches;
    without one, those to begin with.
    """
    own = {tuple(launch.sampling.items()): launch.sampling for launch in launches}
    return [{**meta, **registers} for registers in own.values()] or [{**meta}]


def in_force(meta: dict[str, str], launches: list[Launch], name: str) -> list[str]:
    """The values that a register of the sampler has had, in the order of the launches; a script may have set it in
    mid-stream.
    """
    values = [str(registers.get(name, "")) for registers in registers_in_force(meta, launches)]
    return [value for value in dict.fromkeys(values) if value]


def period_in_force(meta: dict[str, str], launches: list[Launch]) -> int:
    """The period of all launches; where they differ, the one to begin with, or else the shortest."""
    periods = [
        int(value) for value in in_force(meta, launches, "period_cycles") if value.isascii() and value.isdecimal()
    ]
    if len(periods) == 1:
        return periods[0]
    return int(meta["period_cycles"]) or min((period for period in periods if period), default=0)


def triggers_in_force(meta: dict[str, str], launches: list[Launch]) -> list[str]:
    """The kinds of events that started the sampler, each with how many of them."""
    registers = registers_in_force(meta, launches)
    triggers = [
        f"{values['trigger']}:{values.get('every', '?')}"
        for values in registers
        if values.get("trigger", CYCLES) != CYCLES
    ]
    return list(dict.fromkeys(triggers))


def filters_in_force(meta: dict[str, str], launches: list[Launch]) -> str:
    counts = Counter(str(launch.sampling.get("filter", meta.get("filter", ""))) for launch in launches)
    if len(counts) < 2:
        return "".join(counts)
    return "; ".join(f"{text or 'none'} ({plural(n, 'launch', 'launches')})" for text, n in counts.items())


def register_notes(meta: dict[str, str], launches: list[Launch]) -> list[str]:
    """The registers that a script set during the run, except the filter, and the periods that --period auto chose."""
    auto_periods, was_set = Counter(), Counter()
    for launch in launches:
        sought = str(launch.sampling.get("auto_period", meta.get("auto_period"))) == "1"
        for name, value in launch.sampling.items():
            if name == "period_cycles" and sought:
                auto_periods[value] += 1
            elif name != "filter":
                was_set[name, value] += 1
    for name, value in [key for key, n in was_set.items() if key[0] in IN_HEADER and n == len(launches)]:
        del was_set[name, value]

    def when(n_launches: int) -> str:
        return (
            "throughout"
            if n_launches == len(launches)
            else f"for {n_launches} of {plural(len(launches), 'launch', 'launches')}"
        )

    return [
        *(
            f"--period auto: {period} cycles is the shortest period without losses, {when(n)}"
            for period, n in auto_periods.items()
        ),
        *(f"the sampler's {name} was {value} {when(n)}" for (name, value), n in was_set.items()),
    ]


def chip_notes(meta: dict[str, str]) -> list[str]:
    """How the chip is expressed, where the model has no words of its own for it."""
    chip = json.loads(meta.get("chip_json", "null")) or {}
    return (
        [f"chip {meta['chip']}: {chip.get('notes', 'of another maker')}"]
        if chip.get("maker", OWN_WORDS) != OWN_WORDS
        else []
    )


def chip_facts(meta: dict[str, str]) -> ChipFacts:
    """The chip as it was when collecting; only its name when the recording was cut off before its description."""
    chip = json.loads(meta.get("chip_json", "null")) or {}
    known = {
        name: chip[name] for name in ("clock_mhz", "sms", "partitions", "dispatch_units", "warp_slots") if name in chip
    }
    return ChipFacts(meta["chip"], lanes=chip.get("warp_lanes", ChipFacts.lanes), **known, peaks=peaks_of(chip))
