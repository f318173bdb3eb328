"""Launches, modules and samples of a session as the chunks of its recording (`records.schema`)."""

import numpy as np

from gpuprof.base.cache_control import KEEP
from gpuprof.base.wording import installed_version
from gpuprof.chips import Chip
from gpuprof.chips.fidelity.sentence import sentence
from gpuprof.device import commands as cmd
from gpuprof.device.module import LoadedModule
from gpuprof.records.writer import RecordWriter
from gpuprof.run.observers.launch_rows import exact_rows
from gpuprof.run.observers.observer import LaunchResult, LaunchStart, SessionObserver
from gpuprof.run.observers.parts_used import not_held
from gpuprof.tables.blocks import BLOCK_COUNTERS, WARP_COUNTERS
from gpuprof.tables.samples import SAMPLED_COUNTERS
from gpuprof.timing.buffer import by_launch
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.sampling.control_registers import described
from gpuprof.timing.state.activity_bins import MOST_BINS
from gpuprof.timing.state.model_version import MODEL_VERSION

TABLE_OF_ROWS = {table.dtype: table for table in (SAMPLED_COUNTERS, BLOCK_COUNTERS, WARP_COUNTERS)}
# Bins of a launch's activity in a recording: its share of MOST_BINS by the cycles of all launches so far. So a long run
# has bins for its logarithm only, and one launch has all.
LEAST_BINS = 16


class Recording(SessionObserver):
    """Writes a session's recording. `sampling`: of the whole run; `record`: the kind of its samples; `host`: its name,
    "" of launches that no program makes.
    """

    def __init__(self, recorder: RecordWriter, sampling: Sampling, record: str, host: str = ""):
        self._recorder, self._sampling, self._record, self._host = recorder, sampling, record, host
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
            | ({"host": self._host} if self._host else {})
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
            if table := TABLE_OF_ROWS.get(rows_of_launch.dtype):
                self._recorder.rows(table, launch, rows_of_launch)
            else:
                self._recorder.samples(launch, rows_of_launch)

    def timed(self, result: LaunchResult) -> None:
        launch, timing = result.launch, result.timing
        self._cycles += timing.cycles
        most_bins = max(LEAST_BINS, MOST_BINS * timing.cycles // max(1, self._cycles))
        rows = exact_rows(timing, result.counters, launch.module.load_base, most_bins)
        self._recorder.all_rows(launch.index, rows)
        self._recorder.launch_end(launch.index, timing, not_held(result))

    def note(self, launch: cmd.Launch, text: str) -> None:
        self._recorder.mark(text, launch.index)


def launch_fields(start: LaunchStart, module: int) -> dict:
    launch, function = start.launch, start.launch.function
    unusual = {} if start.parent is None else {"parent": start.parent}
    unusual |= {"priority": start.priority} if start.priority else {}
    unusual |= {"dependent": True} if launch.dependent else {}
    unusual |= {"cache": start.control.cache} if start.control.cache != KEEP else {}
    unusual |= {"repeat": start.control.repeat} if start.control.repeat != 1 else {}
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
