"""`gpuprof report` as people run it: CSV and JSON whole, exit codes, what it imports."""

import csv
import io
import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from gpuprof.cli.report import command
from gpuprof.errors import FileFormatError, NotComparable, UsageError
from gpuprof.isa.stalls import COLUMNS, NAMES
from gpuprof.report.estimates import wilson
from tests.support.report_database import (
    BASE,
    CODE,
    FIDELITY,
    KERNEL,
    counters_of,
    cycles_of,
    make_database,
    samples_of,
)

# The columns of `ncu --page source --csv`, in its order (Nsight Compute's own names).
NCU = [
    "Address",
    "Source",
    "Warp Stall Sampling (All Samples)",
    "Warp Stall Sampling (Not-issued Samples)",
    "# Samples",
    "Instructions Executed",
    "Thread Instructions Executed",
    "Predicated-On Thread Instructions Executed",
    "Avg. Threads Executed",
    "Avg. Predicated-On Threads Executed",
    "Divergent Branches",
    "Address Space",
    "Access Operation",
    "Access Size",
    "L1 Tag Requests Global",
    "L1 Conflicts Shared N-Way",
    "L1 Wavefronts Shared Excessive",
    "L1 Wavefronts Shared",
    "L1 Wavefronts Shared Ideal",
    "L2 Theoretical Sectors Global Excessive",
    "L2 Theoretical Sectors Global",
    "L2 Theoretical Sectors Global Ideal",
    "L2 Theoretical Sectors Local",
    "stall_barrier",
    "stall_branch_resolving",
    "stall_dispatch",
    "stall_drain",
    "stall_imc",
    "stall_lg",
    "stall_long_sb",
    "stall_math",
    "stall_membar",
    "stall_mio",
    "stall_misc",
    "stall_no_inst",
    "stall_not_selected",
    "stall_selected",
    "stall_short_sb",
    "stall_sleep",
    "stall_tex",
    "stall_wait",
]
NCU += [f"{column} (Not Issued)" for column in NCU if column.startswith("stall_")]


def run(*arguments, raises=None):
    result = CliRunner().invoke(command, [str(a) for a in arguments])
    if raises is None:
        assert result.exception is None, result.output
    else:
        assert isinstance(result.exception, raises), result.exception
    return result


@pytest.fixture
def database(tmp_path):
    return make_database(tmp_path / "t.gpudb")


def test_isa_csv_says_what_the_tables_say(database):
    """Every cell of every instruction that comes from a table, computed from the fixture's own numbers."""
    name, heading, *rows = csv.reader(io.StringIO(run(database, "--page", "isa", "--format", "csv").stdout))
    assert name == ["Kernel Name", KERNEL]
    assert heading[: len(NCU)] == NCU
    assert heading[len(NCU) :] == [
        *("File", "Line", "Function", "Warp Cycles (Exact)", "Exact Share", "Warp Cycles With Inlined (Exact)"),
        *("Sampled Share", "Sampled Share Low 95%", "Sampled Share High 95%"),
        *("Estimated Share", "Estimated Share Low 95%", "Estimated Share High 95%", "Attributed Stalls"),
        *(
            "Stalls (Exact)",
            "Mean Stall Cycles (Exact)",
            "Longest Stall Cycles (Exact)",
            "Operations Per Byte",
            "stall_gmma",
            "stall_gmma (Not Issued)",
        ),
        *(f"{column} (Exact)" for column in COLUMNS),
    ]
    assert len(rows) == len(CODE)
    for index, cells in enumerate(rows):
        row = dict(zip(heading, cells, strict=True))
        (_, _, text, space, operation), counters = CODE[index], [2 * n for n in counters_of(index)]
        assert (row["Address"], row["Source"]) == (f"{BASE + 16 * index:#x}", text)
        assert (row["Address Space"], row["Access Operation"]) == (space.capitalize(), operation.capitalize())
        assert row["Access Size"] == ("32" if space else "")
        executed, threads, predicated, divergent, tags, sectors, ideal, local, wavefronts, wavefronts_ideal = counters
        assert [int(row[column]) for column in NCU[5:8]] == [executed, threads, predicated]
        assert float(row["Avg. Threads Executed"]) == threads / executed
        assert [int(row[column]) for column in ("Divergent Branches", "L1 Tag Requests Global")] == [divergent, tags]
        assert [int(row[column]) for column in NCU[19:23]] == [sectors - ideal, sectors, ideal, local]
        assert [int(row[column]) for column in NCU[16:19]] == [
            wavefronts - wavefronts_ideal,
            wavefronts,
            wavefronts_ideal,
        ]
        for reason, column in zip(NAMES, COLUMNS, strict=True):
            assert int(row[f"{column} (Exact)"]) == 2 * cycles_of(index).get(reason, 0)
            assert int(row[column]) == 2 * samples_of(index).get(reason, 0)
        assert (
            int(row["# Samples"])
            == int(row["Warp Stall Sampling (All Samples)"])
            == 2 * sum(samples_of(index).values())
        )


@pytest.mark.parametrize("page", ["source", "ptx", "isa"])
def test_csv_sums_to_the_whole(database, page):
    _, heading, *rows = csv.reader(io.StringIO(run(database, "--page", page, "--format", "csv").stdout))
    table = [dict(zip(heading, row, strict=True)) for row in rows]
    assert sum(float(row["Exact Share"]) for row in table) == pytest.approx(1, abs=1e-4)
    assert sum(float(row["Sampled Share"]) for row in table) == pytest.approx(1, abs=1e-4)
    assert sum(int(row["Warp Cycles (Exact)"]) for row in table) == 2 * sum(
        sum(cycles_of(i).values()) for i in range(len(CODE))
    )


def test_csv_without_sampling_leaves_the_sampled_cells_empty(tmp_path):
    path = make_database(tmp_path / "t.gpudb", period_cycles=0, with_samples=False)
    _, heading, *rows = csv.reader(io.StringIO(run(path, "--format", "csv").stdout))
    for row in (dict(zip(heading, cells, strict=True)) for cells in rows):
        assert {
            row[column] for column in heading if column in COLUMNS or "Samples" in column or "Sampled" in column
        } == {""}


def test_json_source_page(database):
    document = json.loads(run(database, "--format", "json").stdout)
    assert (document["version"], document["page"]) == (2, "source")
    assert document["header"] == {
        **{
            "tool_version": "0.1.0",
            "model_version": "1",
            "fidelity": FIDELITY,
            "chip": "a100",
            "kernels": [KERNEL],
            "launches": 2,
            "samples": 1832,
            "dropped": 0,
        },
        **{
            "buffer_full": False,
            "period_cycles": 512,
            "mode": "random",
            "passes": 1,
            "partition": "",
            "filter": "",
            "notes": [],
            "complete": True,
            "samples_time": True,
            "trigger": "",
        },
        **{"losses": [], "cycles": 10_000, "disturbance_cycles": 0, "results": [], "alike": "", "measured_by": ""},
        "caches": [{"cache": "keep", "repeat": 1, "launches": 2}],
        "not_held": [],
    }
    (kernel,) = document["kernels"]
    rows = {(section["path"], row["line"]): row for section in kernel["sections"] for row in section["rows"]}
    store = rows["samples/transpose.cu", 14]
    assert store == {
        "line": 14,
        "text": "        out[at(x, y + i, n)] = value;",
        "addresses": [0x1140, 0x1150],
        "warp_cycles": 118_000,
        "exact_share": round(118_000 / 184_720, 6),
        "cycles": {"selected": 2048, "wait": 976, "long_scoreboard": 54_000, "lg_throttle": 60_000, "drain": 976},
        "samples": 1176,
        "sampled_share": round(1176 / 1832, 6),
        "sampled_share_95": [round(end, 6) for end in wilson(1176, 1832)],  # itself tested against the score test
        "estimated_share": round(1176 / 1832, 6),  # all samples weigh the same here
        "estimated_share_95": [round(end, 6) for end in wilson(1176, 1832)],
        "samples_by_reason": {"selected": 20, "wait": 8, "long_scoreboard": 540, "lg_throttle": 600, "drain": 8},
        "samples_not_issued_by_reason": {"wait": 4, "long_scoreboard": 270, "lg_throttle": 300, "drain": 4},
        "counters": {
            **{
                "inst_executed": 2048,
                "thread_inst_executed": 65_536,
                "thread_inst_executed_pred_on": 65_536,
                "divergent_branches": 0,
            },
            **{
                "l1_tag_requests_global": 1024,
                "l2_sectors_global": 32_768,
                "l2_sectors_global_ideal": 4096,
                "l2_sectors_local": 0,
            },
            **{"l1_wavefronts_shared": 0, "l1_wavefronts_shared_ideal": 0},
            **{"l2_sectors_global_excess": 28_672, "l1_wavefronts_shared_excess": 0},
        },
        "with_inlined": {"warp_cycles": 118_000 + 2 * 4 * 712, "samples": 1176 + 2 * 4 * 7},
    }


def test_launches_csv(database):
    heading, *rows = csv.reader(io.StringIO(run(database, "--page", "launches", "--format", "csv").stdout))
    first = dict(zip(heading, rows[0], strict=True))
    assert [first[k] for k in ("launch", "kernel", "grid", "block", "cycles", "complete")] == [
        "0",
        KERNEL,
        "4,4,1",
        "32,8,1",
        "5000",
        "1",
    ]
    assert [first[k] for k in ("theoretical_occupancy", "blocks_per_sm", "occupancy_limiter", "l1_hits")] == [
        "1.0",
        "8",
        "warps",
        "1024",
    ]


def test_no_samples_shows_the_ledger_and_is_not_a_success(tmp_path):
    path = make_database(tmp_path / "t.gpudb", period_cycles=1 << 20, with_samples=False)
    result = run(path, "--page", "source", raises=NotComparable)
    assert ">>   14  63.9%" in result.stdout
    assert str(result.exception).startswith(
        "no samples were taken: the longest launch ran 5000 cycles, the sampling period is 1048576;"
    )
    assert result.exception.exit_code == 4


@pytest.mark.parametrize("bend", [{"launches": 0}, {"with_ledger": False, "with_samples": False}])
def test_nothing_measured(tmp_path, bend):
    result = run(make_database(tmp_path / "t.gpudb", **bend), raises=NotComparable)
    assert str(result.exception).startswith("nothing was measured: ") and result.stdout == ""


@pytest.mark.parametrize(
    "arguments, message",
    [
        (
            ["--source-lines", "20-10"],
            "--source-lines '20-10': the first line must be at least 1 and not after the last",
        ),
        (["--source-lines", "0"], "--source-lines '0': the first line must be at least 1 and not after the last"),
        (["--source-lines", "ten"], "--source-lines 'ten': expected a line or a range of lines, as in 10 or 10-20"),
        (["--source-lines", "1-2"], "--source-lines 1-2: no kernel has code there; transpose_naive is in lines 5-16"),
        (
            ["--source-lines", "10", "--page", "isa"],
            "--source-lines selects lines of the source page; leave it out with --page isa",
        ),
        (
            ["--isa", "--format", "csv"],
            "--isa shows instructions as text, under the lines of the source page or on the stalls page; for all "
            "instructions give --page isa",
        ),
        (["--kernel", "x"], "--kernel 'x' finds no kernel; the file has: transpose_naive"),
    ],
)
def test_wrong_usage(database, arguments, message):
    assert str(run(database, *arguments, raises=UsageError).exception) == message


def test_files_that_are_not_there_or_foreign(tmp_path):
    run(tmp_path / "none.gpudb", raises=UsageError)
    (tmp_path / "foreign.gpudb").write_bytes(b"\x7fELF")
    run(tmp_path / "foreign.gpudb", raises=FileFormatError)


def modules_after(code: str) -> set[str]:
    program = f"import sys\n{code}\nprint(','.join(sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    return set(done.stderr.strip().split(","))


def test_help_is_light(database):
    loaded = modules_after("from gpuprof.cli.report import command\ncommand(['--help'], standalone_mode=False)")
    assert not loaded & {"numpy", "rich", "sqlite3", "numba", "llvmlite"}


def test_report_reads_the_database_alone(database):
    loaded = modules_after(
        f"from gpuprof.cli.report import command\ncommand([{str(database)!r}], standalone_mode=False)"
    )
    assert not loaded & {
        "numba",
        "llvmlite",
        "elftools",
        "gpuprof.compile",
        "gpuprof.emulate",
        "gpuprof.timing",
        "gpuprof.assemble",
        "gpuprof.device",
    }


@pytest.mark.long
def test_two_runs_print_the_same_bytes(database):
    outputs = set()
    for seed in ("0", "1"):
        for arguments in (["--format", "json"], ["--format", "csv"], []):
            command_line = [
                sys.executable,
                "-c",
                "from gpuprof.cli.main import main; main()",
                "report",
                str(database),
                *arguments,
            ]
            environment = {"PYTHONHASHSEED": seed, "PATH": ""}
            outputs.add(
                subprocess.run(command_line, capture_output=True, env=environment, timeout=60, check=True).stdout
            )
    assert len(outputs) == 3
