"""Draws that share multiprocessors do not take each other's constants out of the caches."""

from gpuprof.chips import altered, load_chip
from gpuprof.graphics.frame import Frame
from gpuprof.graphics.pipeline import LESS, Pipeline
from gpuprof.isa.stalls import INDEX
from gpuprof.records.writer import RecordWriter
from gpuprof.run.run_settings import Observer, Settings
from gpuprof.run.session import open_device
from tests.draws.frames import mesh
from tests.paths import ROOT


class VertexStalls(Observer):
    """Cycles that the warps of each draw's vertex shader waited for constants, in the order of the draws."""

    def __init__(self):
        self.cycles: dict[int, int] = {}

    def finished(self, result) -> None:
        if result.launch.function.display == "placed":
            self.cycles[result.launch.index] = int(result.timing.ledger[:, INDEX["imc_miss"]].sum())


def stalls_of(n_draws: int, path) -> list[int]:
    """Of as many draws of one shader, in one pass on two multiprocessors; recorded at `path`."""
    seen, chip = VertexStalls(), altered(load_chip("rtx3090"), {"sms": 2}, "test")
    with RecordWriter(path) as recorder:
        gpu = open_device(Settings(chip=chip, recorder=recorder, observer=seen))
        shaders, frame = gpu.load(ROOT / "tests/draws/plain.cu"), Frame(gpu, 16, 16)
        frame.clear()
        given, indices = map(gpu.to_device, mesh(16, 16))
        for _ in range(n_draws):
            frame.draw(Pipeline(shaders.placed, shaders.tinted, depth=LESS), given, indices)
        gpu.executor.finish()
    return [cycles for _, cycles in sorted(seen.cycles.items())]


def test_draws_keep_their_constants(tmp_path):
    """Both draws find their own constants as one does without the other, whose warps run beside its own."""
    [alone], both = (stalls_of(n, tmp_path / f"{n}.gprec") for n in (1, 2))
    assert len(both) == 2 and max(both) < 1.01 * alone
