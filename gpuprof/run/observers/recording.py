"""Launches, modules and samples of a session as the chunks of its recording (`records.schema`)."""

import numpy as np

from gpuprof.base.version import installed_version
from gpuprof.chips import Chip
from gpuprof.chips.fidelity.sentence import sentence
from gpuprof.device import commands as cmd
from gpuprof.device.module import LoadedModule
from gpuprof.emulate.trace_log.counters import LaunchCounters
from gpuprof.records.schema import BLOCK_COUNTERS_DTYPE, SAMPLED_COUNTERS_DTYPE, WARP_COUNTERS_DTYPE
from gpuprof.records.writer import RecordWriter
from gpuprof.run.observers.launch_rows import activity_rows, counter_rows, pattern_rows, sm_rows
from gpuprof.run.observers.observer import LaunchResult, LaunchStart, SessionObserver
from gpuprof.timing.buffer import by_launch
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.sampling.control_registers import described
from gpuprof.timing.state.activity_bins import MOST_BINS, coarser
from gpuprof.timing.state.launch_timing import LaunchTiming
from gpuprof.timing.state.model_version import MODEL_VERSION

CHUNK_OF_ROWS = {SAMPLED_COUNTERS_DTYPE: b"SMCN", BLOCK_COUNTERS_DTYPE: b"BLKC", WARP_COUNTERS_DTYPE: b"WRPC"}
# Bins of a launch's activity in a recording: its share of MOST_BINS by the cycles of all launches so far. So a long run
# has bins for its logarithm only, and one launch has all.
LEAST_BINS = 16


class Recording(SessionObserver):
    """Writes a session's recording. `sampling`: of the whole run; `record`: the kind of its samples."""

    def __init__(self, recorder: RecordWriter, sampling: Sampling, record: str):
        self._recorder, self._sampling, self._record = recorder, sampling, record
        self._modules: list[LoadedModule] = []
        self._cycles = 0  # of all launches so far

    def begin(self, chip: Chip, command: str) -> None:
        self._recorder.meta(
            {
                "tool": "gpuprof",
                "tool_version": installed_version(),
                "model_version": MODEL_VERSION,
                "fidelity": sentence(chip, MODEL_VERSION),
                "command": command,
                "chip": chip.name,
                "sampling": self._registers(self._sampling),
            }
        )
        self._recorder.chip(chip.describe())

    def loaded(self, module: LoadedModule, image: bytes) -> None:
        program = module.program
        for path, text in sorted(program.sources.items()):
            self._recorder.source(path, text)
        self._recorder.module(
            len(self._modules),
            name=program.name,
            load_base=module.load_base,
            code_nbytes=module.end - module.load_base,
            compiler=program.compiler,
            arch=program.arch,
            image=image,
        )
        self._modules.append(module)

    def launch(self, start: LaunchStart) -> None:
        fields = launch_fields(start, self._modules.index(start.launch.module))
        if start.sampling != self._sampling:
            fields["sampling"] = self._registers(start.sampling)
        if start.shader:
            fields |= start.shader._asdict()
        self._recorder.launch_begin(fields)

    def _registers(self, sampling: Sampling) -> dict[str, int | str]:
        return described(sampling, self._sampling) | {"record": self._record}

    def samples(self, rows: np.ndarray) -> None:
        for launch, rows_of_launch in by_launch(rows):
            if chunk := CHUNK_OF_ROWS.get(rows_of_launch.dtype):
                self._recorder.exact_rows(chunk, launch, rows_of_launch)
            else:
                self._recorder.samples(launch, rows_of_launch)

    def timed(self, result: LaunchResult) -> None:
        self._cycles += result.timing.cycles
        most_bins = max(LEAST_BINS, MOST_BINS * result.timing.cycles // max(1, self._cycles))
        record_end(self._recorder, result.launch, result.timing, result.counters, most_bins)

    def note(self, launch: cmd.Launch, text: str) -> None:
        self._recorder.mark(text, launch.index)


def launch_fields(start: LaunchStart, module: int) -> dict:
    launch, function = start.launch, start.launch.function
    unusual = {} if start.parent is None else {"parent": start.parent}
    unusual |= {"priority": start.priority} if start.priority else {}
    unusual |= {"dependent": True} if launch.dependent else {}
    unusual |= {"traces": ",".join(start.traces)} if start.traces else {}
    return unusual | {
        "launch": launch.index,
        "module": module,
        "kernel": function.display,
        "symbol": function.name,
        "grid": list(launch.grid),
        "block": list(launch.block),
        "dynamic_shared_nbytes": launch.dynamic_shared_nbytes,
        "stream": launch.stream,
        "registers": function.registers,
        "shared_nbytes": function.shared_nbytes,
        "local_nbytes": function.local_nbytes,
        "text": launch.name,
        "task": start.task,
    }


def record_end(
    recorder: RecordWriter, launch: cmd.Launch, timing: LaunchTiming, counters: LaunchCounters, most_bins: int
) -> None:
    """Writes the exact rows of a launch, its activity in `most_bins` bins of time at most, and its end."""
    base = launch.module.load_base
    recorder.ledger(launch.index, timing.ledger, base)
    recorder.stalls(launch.index, timing.stalls, base)
    recorder.exact_rows(b"CAUS", launch.index, timing.causes)
    recorder.counters(launch.index, counter_rows(counters, base))
    recorder.exact_rows(b"BANK", launch.index, pattern_rows(counters, base))
    recorder.exact_rows(b"SMDR", launch.index, timing.losses)
    bins, stalls = activity_rows(coarser(timing.activity, most_bins), timing.start_cycle)
    recorder.exact_rows(b"ACTV", launch.index, bins)
    recorder.exact_rows(b"ACTR", launch.index, stalls)
    recorder.exact_rows(b"ACSM", launch.index, sm_rows(timing))
    recorder.launch_end(launch.index, timing)
