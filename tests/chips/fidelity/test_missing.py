"""A launch's use of the parts of the chip that are coarse, or held against no card."""

import json

import pytest

from gpuprof.chips.fidelity.missing import MISSING, NAMED, Ran, Spent, caution, used, used_by_calls
from gpuprof.isa.opcodes import BY_NAME, TABLE
from gpuprof.report.fidelity_line import words_of_caution
from gpuprof.report.model import Launch
from tests.support.command import gpuprof, write_files

KERNELS = """\
// LAUNCH: plain<<<4, 64>>>(x: f32[256]=random, y: f32[256])
__global__ void plain(const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i];
}
// LAUNCH: fenced<<<4, 64>>>(x, y)
__global__ void fenced(const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = 0; r < 8; r++) { y[i] = x[i] * r; __threadfence_system(); }
}
"""


def op(**wanted):
    return next(each for each in TABLE if all(getattr(each, name) == value for name, value in wanted.items()))


def ran(*spent: tuple) -> Ran:
    """A launch of 1000 warp-cycles, from (opcode, scope, warp-cycles)."""
    return Ran(tuple(Spent(*each) for each in spent), 1000)


FENCE, ADD = op(kind="fence"), BY_NAME["FADD"]
SUM = next(each for each in TABLE if each.kind == "matrix" and "f32" in each.types)


@pytest.mark.parametrize(
    ("launch", "names"),
    [
        (ran((ADD, "", 1000)), ()),
        (ran((FENCE, "gpu", 500)), ()),
        (ran((FENCE, "sys", 19)), ()),
        (ran((FENCE, "sys", 20)), ("system-scope fences",)),
        (ran((FENCE, "sys", 10), (FENCE, "sys", 10)), ("system-scope fences",)),
        (ran((BY_NAME["REDG.ADD.U32"], "", 500)), ()),
        (ran((BY_NAME["REDG.ADD.U64"], "", 500)), ("atomics other than 32-bit additions",)),
        (ran((op(kind="reduction", space="shared"), "", 500)), ()),
        (ran((op(pipe="fp64"), "", 500)), ()),
        (ran((SUM, "", 500)), ("tensor cores",)),
        (
            ran((op(kind="fetch"), "", 500), (op(kind="cluster_barrier"), "", 500)),
            ("clusters", "textures and surfaces"),
        ),
    ],
)
def test_what_a_launch_uses(launch, names):
    assert used(launch) == names


def test_what_calls_use():
    assert used_by_calls({"cudaMalloc", "cudaMemcpyAsync"}) == ()
    assert used_by_calls({"cudaMallocManaged"}) == ("managed memory",)
    assert used_by_calls({"cudaHostGetDevicePointer"}) == ("mapped memory of the host",)
    assert used_by_calls({"cudaLaunchKernel"}) == ()


def test_every_rule_has_a_name_and_names_differ():
    assert all(gap.name for gap in MISSING if gap.uses or gap.calls)
    assert len(NAMED) == sum(bool(gap.name) for gap in MISSING)


def test_what_a_page_says():
    """Parts without a published figure share a phrase; a newer version's name is kept."""
    mapped = "mapped memory of the host"
    assert caution(["textures and surfaces", "system-scope fences", mapped, "a newer part"]) == (
        f"{mapped}: buffers that are read or written once took 1.02 to 1.15 times as long as on cards",
        "system-scope fences, textures and surfaces, a newer part: not held against any card",
    )
    assert caution([]) == ()


def launch(cycles: int, not_held: str = "") -> Launch:
    metrics = {"not_held": not_held} if not_held else {}
    return Launch(0, "k", (1, 1, 1), (32, 1, 1), 0, 0, "", 0, cycles, cycles, 0, 0, 0, False, True, metrics)


def test_it_matters_for_the_launches_of_a_page_together():
    fenced = launch(10, "system-scope fences")
    assert words_of_caution([fenced, launch(490)], ()) == ("system-scope fences: not held against any card",)
    assert words_of_caution([fenced, launch(491)], ()) == ()
    assert words_of_caution([launch(491)], {"cudaMallocManaged"}) == (
        "managed memory: faults took 0.5 to 1.5 times as long as on a V100",
    )


def test_a_recording_notes_it_and_pages_say_it(tmp_path):
    write_files(tmp_path, {"k.cu": KERNELS})
    assert gpuprof(tmp_path, "collect", "k.cu", "--chip", "t4")[0] == 0
    said = "# caution    system-scope fences: not held against any card\n"
    assert said in gpuprof(tmp_path, "report", "k.gprec")[1]
    assert said in gpuprof(tmp_path, "report", "k.gprec", "--page", "stalls")[1]
    assert said not in gpuprof(tmp_path, "report", "k.gprec", "--kernel", "plain")[1]
    document = json.loads(gpuprof(tmp_path, "report", "k.gprec", "--format", "json")[1])
    assert document["header"]["not_held"] == ["system-scope fences: not held against any card"]
