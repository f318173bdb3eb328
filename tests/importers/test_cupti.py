"""gpuprof import of CUPTI's PC samples: the lines that its sample program prints."""

import sqlite3

import pytest

from gpuprof.isa.stalls import NAMES
from tests.support.command import gpuprof

STALLED = "smsp__pcsamp_warps_issue_stalled_"
# The first line is one that a public program quotes; that of pc_sampling_utility before it is no sample.
TEXT = f"""\
Number of PCs remaining: 0
functionName: _Z6HistSMPiiPfi, functionIndex: 11, pcOffset: 320, lineNumber:0, fileName: ERROR_NO_CUBIN, dirName: , \
stallReasonCount: 2, {STALLED}mio_throttle: 1, {STALLED}wait: 1
functionName: _Z4copyPf, functionIndex: 1, pcOffset: 16, lineNumber:3, fileName: copy.cu, dirName: /src, \
stallReasonCount: 2, {STALLED}long_scoreboard: 6, {STALLED}long_scoreboard_not_issued: 4
functionName: _Z4copyPf, functionIndex: 1, pcOffset: 16, lineNumber:3, fileName: copy.cu, dirName: /src, \
stallReasonCount: 1, {STALLED}long_scoreboard: 2
"""


def test_samples_of_two_kernels(tmp_path):
    (tmp_path / "s.pcsamp.csv").write_text(TEXT)
    assert gpuprof(tmp_path, "import", "s.pcsamp.csv", "-o", "s.gpudb") == (
        0, "s.gpudb: 2 launches on unknown card, by CUPTI\n", "",
    )  # fmt: skip
    with sqlite3.connect(tmp_path / "s.gpudb") as db:
        found = db.execute(
            "SELECT kernel, s.pc - first_pc, reason, samples, samples_not_issued FROM samples s "
            "JOIN launches USING (launch) JOIN functions USING (function) ORDER BY launch, 2, 3"
        ).fetchall()
        assert [(kernel, offset, NAMES[reason], *counts) for kernel, offset, reason, *counts in found] == [
            ("HistSM", 320, "wait", 1, 0),
            ("HistSM", 320, "mio_throttle", 1, 0),
            ("copy", 16, "long_scoreboard", 8, 4),
        ]
        assert db.execute("SELECT path, line FROM instructions JOIN sources USING (source)").fetchall() == [
            ("/src/copy.cu", 3)
        ]
    code, out, error = gpuprof(tmp_path, "report", "s.gpudb", "--page", "summary", "--kernel", "copy")
    assert (code, error) == (0, "")
    assert "# measured   by CUPTI, on unknown card, not by gpuprof\n" in out
    assert "# stalls     long_scoreboard 100.0%\n" in out


@pytest.mark.parametrize(
    "old, new, why",
    [
        (TEXT, "nothing\n", "it has no sample of pc_sampling_utility"),
        ("pcOffset: 16", "pcOffset: 17", "line 3 has a pcOffset of 17, where no instruction is"),
        ("lineNumber:3", "line 3", "line 3 is not a sample of pc_sampling_utility"),
        (
            f"{STALLED}wait",
            f"{STALLED}new_thing",
            f"line 2 has the stall reason '{STALLED}new_thing', which this gpuprof does not know",
        ),
    ],
)
def test_what_is_refused(tmp_path, old, new, why):
    (tmp_path / "s.pcsamp.csv").write_text(TEXT.replace(old, new, 1))
    assert gpuprof(tmp_path, "import", "s.pcsamp.csv") == (
        1, "", f"gpuprof: s.pcsamp.csv: cannot be imported: {why}\n",
    )  # fmt: skip
