"""The commands whatif and advise, as a user runs them."""

import json
import os
import signal
import sqlite3
import subprocess

import pytest

from gpuprof.base.processes import own_program
from gpuprof.correlate.database import reading
from tests.paths import SAMPLES
from tests.support.command import gpuprof

# Of the load, lanes of a warp are 128 bytes apart: each takes a sector of its own. The store is packed.
COLUMN = """// LAUNCH: column<<<64, 128>>>(in: f32[262144]=random, out: f32[8192])
__global__ void column(const float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[32 * i];
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("column")
    (made / "column.cu").write_text(COLUMN)
    return made


@pytest.fixture(scope="module")
def recording(folder):
    assert gpuprof(folder, "collect", "column.cu", "--save-stream", "-o", "column.gprec")[0] == 0
    return "column.gprec"


def rows(folder, *words):
    code, out, error = gpuprof(folder, "whatif", *words, "--json")
    assert (code, error) == (0, "")
    return json.loads(out)


def test_a_recording_and_its_source_give_the_same(folder, recording):
    of_source, of_recording = rows(folder, "column.cu"), rows(folder, recording)
    assert of_source["schema"] == "gpuprof-whatif-1" and of_source["not_measured"] == []
    assert {**of_source, "file": ""} == {**of_recording, "file": ""}
    best = of_source["rows"][0]
    assert set(best) == {
        *("kind", "place", "launch", "kernel", "cycles_before", "cycles_after", "speedup", "bound", "moved_to"),
        "fidelity",
    }


def test_launches_of_one_kernel_that_run_together(tmp_path):
    """One of them is changed, and the other is as it was, though their code is the same."""
    launch = "<<<64, 128, 0, {}>>>(f32[262144]=random, f32[8192])"
    head = "".join(f"// LAUNCH: column{launch.format(stream)}\n" for stream in (1, 2))
    (tmp_path / "two.cu").write_text(head + COLUMN.split("\n", 1)[1])
    found = rows(tmp_path, "two.cu", "--all")
    assert len({row["kind"] for row in found["rows"]}) > 5 and found["not_measured"] == []


@pytest.mark.parametrize("control", [["--cache", "warm"], ["--cache", "keep"], ["--repeat", "2"]])
def test_launches_are_timed_as_they_were_measured(folder, control):
    """What caches held is part of the launch: the stream has it, and `replay` gets the same cycles, too."""
    assert gpuprof(folder, "collect", "column.cu", "--save-stream", *control, "-o", "set.gprec")[0] == 0
    assert rows(folder, "set.gprec", "--only", "packed")["rows"]
    assert gpuprof(folder, "replay", "set.gprec", "-o", "again.gprec")[0] == 0
    cycles = []
    for name in ("set.gprec", "again.gprec"):
        with reading(folder / name) as database:
            cycles += database.execute("SELECT cycles FROM launches").fetchall()
    assert cycles[0] == cycles[1]


def test_packed_accesses_move_the_sectors_that_they_need(folder, recording):
    """There are eight times fewer sectors, so the launch is faster."""
    (row,) = rows(folder, recording, "--line", "column.cu:5", "--only", "packed")["rows"]
    assert (row["kind"], row["place"], row["kernel"]) == ("packed", "column.cu:5", "column")
    assert row["cycles_after"] < row["cycles_before"]


def test_any_number_of_processes_gives_the_same_bytes(folder, recording):
    one, two = (gpuprof(folder, "whatif", recording, "--json", "--all", "--jobs", n)[1] for n in "12")
    assert one == two


def test_what_the_budget_has_no_time_for_is_listed(folder, recording):
    found = rows(folder, recording, "--budget", "0s")
    everything = rows(folder, recording, "--all")
    assert len(found["rows"]) == 1
    assert len(found["not_measured"]) == len(everything["rows"]) - 1
    assert set(found["not_measured"][0]) == {"kind", "place", "launch", "kernel", "bound"}


def test_a_curve_ends_with_results_at_once(folder, recording):
    kinds = [row["kind"].split() for row in rows(folder, recording, "--curve", "--line", "column.cu:5")["rows"]]
    amounts = [int(kind[1]) for kind in kinds[:-1]]
    assert [kind[0] for kind in kinds] == ["sooner"] * 4 and kinds[-1] == ["sooner"] and amounts == sorted(amounts)


def test_the_best_sequence_gets_shorter_with_each_step(folder, recording):
    found = rows(folder, recording, "--greedy", "3")["rows"]
    assert len(found) > 1
    cycles = [row["cycles_after"] for row in found]
    assert cycles == sorted(cycles, reverse=True) and cycles[0] < found[0]["cycles_before"]
    assert [row["kind"].count("+") for row in found] == list(range(len(found)))


def test_rows_in_a_database(folder, recording):
    assert gpuprof(folder, "whatif", recording, "-o", "rows.gpudb", "--json")[0] == 0
    with sqlite3.connect(folder / "rows.gpudb") as database:
        stored = database.execute("SELECT kind, place, cycles_before, cycles_after FROM whatif ORDER BY row").fetchall()
    found = rows(folder, recording)["rows"]
    assert stored == [(r["kind"], r["place"], r["cycles_before"], r["cycles_after"]) for r in found]


@pytest.mark.parametrize(
    "words, code, error",
    [
        (["missing.cu"], 2, "missing.cu: there is no such file"),
        (["column.cu", "--only", "magic"], 2, "--only magic: no such intervention; there are l1_hits"),
        (["column.cu", "--only", "split"], 2, "--only split: only `gpuprof advise` measures it"),
        (["column.cu", "--line", "5"], 2, "--line 5: expected FILE:N, as in matmul.cu:24"),
        (["column.gprec", "--line", "column.cu:1"], 2, "--line column.cu:1: no instruction of these launches is of"),
        (["column.cu", "--budget", "soon"], 2, "--budget soon: expected seconds or minutes"),
        (["column.gprec", "--kernel", "row"], 2, "--kernel row: no kernel of the profile has such a name"),
        (["column.gprec", "--launch-index", "1"], 4, "no launch 1 of the profile was timed to its end"),
        (["plain.gprec"], 4, "plain.gprec: no command stream is saved in it: collect with --save-stream"),
        (["few.gprec"], 4, "few.gprec: --sample-blocks timed a part of the blocks; collect without it"),
        (["plain.gprec", "--chip", "t4"], 2, "--chip is for a file that is collected, and plain.gprec is a profile"),
    ],
)
def test_refused(folder, recording, words, code, error):
    for name, more in (("plain", []), ("few", ["--sample-blocks", "--save-stream"])):
        if f"{name}.gprec" in words:
            assert gpuprof(folder, "collect", "column.cu", "-o", f"{name}.gprec", *more)[0] == 0
    found_code, out, found_error = gpuprof(folder, "whatif", *words)
    assert (found_code, out) == (code, "")
    assert f"gpuprof: {error}" in found_error


def test_advice_in_text_in_brief_and_as_json(folder, recording):
    code, out, _ = gpuprof(folder, "advise", recording, "--json")
    found = json.loads(out)
    assert (code, found["schema"], found["chip"]) == (0, "gpuprof-advice-1", "a100")
    (kernel,) = found["kernels"]
    best = kernel["advice"][0]
    assert (best["topic"], best["place"], best["line"], best["intervention"]) == (
        *("coalesce", "column.cu:5", 5, "packed"),
    )
    assert best["evidence"] == "8,192 sectors where 1,024 would do, 32 a request"
    assert best["speedup"] == round(best["cycles_before"] / best["cycles_after"], 4) > 1

    code, out, _ = gpuprof(folder, "advise", recording, "--brief")
    assert code == 0 and len(out) <= 2_400
    lines = out.splitlines()
    assert lines[:3] == ["kernel: column", "launch: 0", f"cycles: {best['cycles_before']}"]
    assert "1: coalesce" in lines and "at: column.cu:5" in lines and f"evidence: {best['evidence']}" in lines
    assert "verify: gpuprof diff column.gprec CHANGED --kernel '^column$'" in lines

    code, out, _ = gpuprof(folder, "advise", recording, "--width", "60")
    assert code == 0 and max(map(len, out.splitlines())) <= 60 and "1. " in out


def test_the_summary_has_the_measured_advice(folder, recording):
    assert gpuprof(folder, "advise", recording, "-o", "column.gpudb")[0] == 0
    _, out, _ = gpuprof(folder, "report", "column.gpudb", "--page", "summary")
    (first,) = [line for line in out.splitlines() if line.startswith("# 1. ")]
    assert first.startswith("# 1. column.cu:5: ") and "times as fast, measured (coalesce): 8,192 sectors" in first


@pytest.mark.long
def test_an_interrupt_ends_the_workers_without_a_traceback(folder):
    """A signal from the terminal reaches the workers, too."""
    command = [*own_program(), "whatif", str(SAMPLES / "matmul.cu"), "--kernel", "naive", "--all", "--jobs", "2"]
    shown = {name: value for name, value in os.environ.items() if name != "GPUPROF_PROGRESS"}
    run = subprocess.Popen(
        command, cwd=folder, env=shown, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    lines = []
    for line in run.stderr:
        lines.append(line)
        if "measuring" in line:
            os.killpg(run.pid, signal.SIGINT)
    assert (run.wait(), lines[-1]) == (130, "gpuprof: interrupted\n")
    assert not any("Traceback" in line for line in lines)
