"""What people who tune kernels asked in public, and what a card or the thread answered: the first screen says it.

Sizes are smaller than theirs; each test names the place and, where it has one, the published number.
"""

import re
import shutil
from contextlib import closing

import pytest

from gpuprof.correlate.database import open_database
from tests.program.hosts import WHY_NOT
from tests.questions.screens import FOLDER, SMALL, printed, screens
from tests.support.command import gpuprof, process

needs_host = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)


def test_is_it_worth_to_pad_a_tile(tmp_path):
    """deepspeed PR #8055: on an L20, with warm caches, 4.3 to 5.8 % faster without bank conflicts."""
    flags = ("--chip", "rtx4090", "--cache", "warm")
    turned = screens(tmp_path, "turn.cu", *flags)["turn"]
    fixed = screens(tmp_path, "turn.cu", *flags, "-D", "PITCH=17")["turn"]
    assert 1.03 < turned.cycles / fixed.cycles < 1.08
    (conflicts,) = (text for text in turned.advice if text.startswith("Bank conflicts in turn.cu:16"))
    assert re.search(r"Pad the array's rows: 1[78] words a row instead of 16 words\.", conflicts)
    # The 17th word leaves two: a warp takes two columns, of which the last lane and the first are in one bank.
    (left,) = (text for text in fixed.advice if text.startswith("Bank conflicts"))
    assert "That makes 2-way conflicts 1-way there" in left


def test_why_is_my_gemv_slow(tmp_path):
    """NVIDIA forum 289842: all threads of x compute the same row."""
    found = screens(tmp_path, "gemv.cu", "--chip", SMALL)
    assert re.search(r"same (word|row|value|result|thing)", found["by_row_2d"].advice[0])
    assert "wider accesses" not in " ".join(found["by_row_2d"].advice)


def test_would_a_texture_help_a_stencil_of_doubles(tmp_path):
    """NVIDIA forum 316900: tex_throttle on a Turing card is its FP64 unit of two lanes."""
    for kernel, found in screens(tmp_path, "box.cu", "--chip", "t4").items():
        if kernel:
            assert "f64 unit" in found.advice[0]
            assert "texture" not in " ".join(found.advice)


@needs_host
def test_are_rounds_faster_as_launches_or_as_one_cooperative_kernel(tmp_path):
    """gunrock #438, GV100: 110.9 ms as launches, 104.6 as a graph, 375.9 as one cooperative launch."""
    us = us_of_rounds(tmp_path)
    assert us["graph"] <= us["launches"] < us["cooperative"]


@needs_host
@pytest.mark.xfail(strict=True, reason="grid.sync() is too fast: of 18.8 us a round the model has 8.4")
def test_how_much_slower_is_one_cooperative_kernel(tmp_path):
    us = us_of_rounds(tmp_path)
    assert 2 < us["cooperative"] / us["launches"] < 5


def us_of_rounds(folder) -> dict[str, float]:
    said = re.findall(r"^(\w+) +([\d.]+) us", printed(folder, "rounds.cu", chip="v100"), re.M)
    return {way: float(us) for way, us in said}


def test_what_does_a_fence_do_to_the_l1(tmp_path):
    """ptxas: a fence of device scope invalidates it (CCTL.IVALL)."""
    found = screens(tmp_path, "fence.cu", "--chip", SMALL)
    assert found["plain"].percent("caches", "L1 hits") > 90
    assert found["fenced"].percent("caches", "L1 hits") < 10
    assert "fence" in found["fenced"].advice[0]


@needs_host
def test_is_a_chain_of_short_kernels_faster_as_a_graph(tmp_path):
    """ocannl #488, AiDotNet.Tensors PR #548: on an RTX 3080 5.5 times faster."""
    lines = re.findall(r"launches\+sync +([\d.]+) us .*graph\+sync +([\d.]+) us", printed(tmp_path, "chain.cu"))
    assert len(lines) == 3
    assert all(float(graph) * 1.2 < float(launches) for launches, graph in lines)


def test_a_thread_or_a_block_for_each_row_of_a_softmax(tmp_path):
    """Fast-CUDA-Kernels, RTX 4090, rows of 65536: 22.47 ms by threads, 0.908 by blocks."""
    found = screens(tmp_path, "softmax.cu", "--chip", "rtx4090")
    assert found["thread_a_row"].cycles > 5 * found["block_a_row"].cycles
    first = found["thread_a_row"].advice[:2]
    assert any("4 blocks for 128 multiprocessors" in text for text in first)
    assert any(text.startswith("Uncoalesced global access in softmax.cu") for text in first)


def test_do_my_registers_spill(tmp_path):
    """kekzl/imp #1549: ptxas gives 96 registers, and spills where it may have only 64."""
    free = screens(tmp_path, "outer.cu", "--chip", SMALL)["outer"]
    assert "spills" not in " ".join(free.advice)
    bounded = screens(tmp_path, "outer.cu", "--chip", SMALL, "-D", "BOUND=__launch_bounds__(32, 32)")["outer"]
    assert "64 registers" in bounded.facts["launch"]
    assert re.search(r"\d+ bytes are register spills", bounded.advice[0])


def test_where_does_attention_lose_its_time(tmp_path):
    """ThunderKittens #73, without counters: rows of 64 floats lie in the same banks."""
    found = screens(tmp_path, "attention.cu", "--chip", SMALL)["attention"]
    assert found.advice[0].startswith("Bank conflicts in attention.cu:")
    padded = [text for text in found.advice if "Pad the array's rows" in text]
    assert padded and all("instead of 64 words" in text for text in padded)


def test_does_a_race_hide_in_a_reduction(tmp_path):
    """HeCBench #254: compute-sanitizer misses it."""
    found = screens(tmp_path, "totals.cu", "--chip", "a100", "--trace", "racecheck")
    assert found["reserve"].cycles
    assert re.search(r"[1-9]\d* errors?", gpuprof(tmp_path, "report", "q.gprec", "--page", "summary")[1])
    findings = gpuprof(tmp_path, "report", "q.gprec", "--page", "findings")[1]
    assert re.search(r"^error +shared_read_write_race .* totals\.cu:19 +totals\.cu:22 ", findings, re.M)


def test_what_limits_a_histogram(tmp_path):
    """yencal.github.io, H100: 276.13 ms for 2^30 bytes in 256 bins are 1.96 lanes a clock, within a third."""
    found = screens(tmp_path, "count.cu", "--chip", "h100")["in_global"]
    assert found.advice[0].startswith("One slice of the L2 works on atomics in 98% of the cycles")
    assert not any("More warps" in text for text in found.advice)
    assert 1.96 / 1.33 < 524288 / found.cycles < 1.96 * 1.33


@pytest.mark.xfail(
    strict=True, reason="blocks that go down columns cost nothing: DRAM rows open faster than sectors move"
)
def test_does_the_order_of_blocks_matter(tmp_path):
    """NVIDIA forum 58655: 0.935 ms by rows, 1.980 by columns."""
    found = screens(tmp_path, "grid.cu", "--chip", "t4", "--period", "0")
    assert 1.5 < found["down"].cycles / found["across"].cycles < 2.5


@needs_host
def test_do_my_copies_overlap(tmp_path):
    """NVIDIA forums 334237, 237147: a timeline has the copies, which take time, in addition to the kernels."""
    shutil.copy(FOLDER / "pipeline.cu", tmp_path)
    assert process(tmp_path, "collect", "pipeline.cu", "-o", "q.gprec")[0] == 0
    assert process(tmp_path, "correlate", "q.gprec", "-o", "q.gpudb")[0] == 0
    with closing(open_database(tmp_path / "q.gpudb")) as database:
        copies = database.execute("SELECT end_cycle - begin_cycle FROM tasks WHERE kind LIKE 'copy to%'").fetchall()
    assert len(copies) == 16
    assert all(cycles for (cycles,) in copies)


def test_do_two_streams_cost_anything(tmp_path):
    """Two launches of one kernel: together they are no slower than one after the other."""
    one = screens(tmp_path, "smooth_streams.py", "--period", "0")["smooth"]
    two = screens(tmp_path, "smooth_streams.py", "--period", "0", "--", "two")["smooth"]
    assert span(two) <= 1.01 * span(one)


def span(screen) -> int:
    """From the first launch's begin to the last one's end."""
    found = re.search(r"([\d,]+) cycles from the first start", screen.facts["time"])
    return int(found[1].replace(",", "")) if found else screen.cycles


def test_do_my_branches_diverge(tmp_path):
    """madgraph4gpu #25: in the switch, and not in the search; the words of other tools are known."""
    found = screens(tmp_path, "branches.cu", "--chip", SMALL)["work"]
    assert re.match(r"branches\.cu:1\d runs with \d\.\d of 32 lanes\.", found.advice[0])
    assert not any(re.match(r"branches\.cu:[5-9] runs with", text) for text in found.advice)
    code, out, _ = gpuprof(tmp_path, "explain", "branch efficiency")
    assert code == 0 and "divergent" in out


@needs_host
def test_what_do_faults_of_managed_memory_cost(tmp_path):
    """Umpire #262: the first touch on the device costs page faults, a prefetch avoids them."""
    times = dict(re.findall(r"^(\w[\w ,]+?) +([\d.]+) us", printed(tmp_path, "managed.cu"), re.M))
    assert float(times["host has touched it"]) > 2 * float(times["touched, then prefetched"])
