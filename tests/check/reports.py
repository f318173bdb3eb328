"""Reports of all kinds of verdicts, for the tests of the renderers."""

from gpuprof.check.verdict import BlamedLine, CheckReport, EntryVerdict, LaunchNumbers, Place, Problem

SCAN, GEMM = "scan<<<4, 64>>>", "gemm<<<1, 32>>>"
UPDATE = "gpuprof check --update scan"


def scan(line: int) -> Place:
    return Place("src/scan.cu", line)


def gemm(line: int) -> Place:
    return Place("src/gemm.cu", line)


HEADER = Place("src/scan.cuh", 7)
REGRESSED = Problem(
    "regressed",
    SCAN,
    "cycles 200 -> 1000 (+800, +400.0 %), limit 1%|200, its code changed",
    "cycles",
    200,
    1000,
    "1%|200",
    (HEADER, scan(5)),
    (
        BlamedLine(
            "src/scan.cu:5",
            "y[i] = sum(x, i);",
            900,
            4900,
            "warp_cycles",
            (HEADER, scan(5)),
        ),
        BlamedLine("src/scan.cu:6", "__syncthreads();", None, 160, "warp_cycles", (scan(6),)),
    ),
)
DRAW = "lit<<<8, 32>>> (draw 3, lamp, pass 1, pixel)"
ENTRIES = (
    EntryVerdict(
        "scan",
        "scan.gprec",
        (
            Problem("reshaped", f"{SCAN} #2", "shape changed from <<<8, 64>>> to <<<4, 64>>>", places=(scan(3),)),
            REGRESSED,
            Problem(
                "improved", f"{SCAN} #2", "cycles 900 -> 300 (-600, -66.7 %), limit 1%|200",
                "cycles", 900, 300, "1%|200", (scan(5),),
            ),
            Problem("missing", "carry<<<1, 64>>>", "in the baseline, but not in this profile"),
            Problem("new", "fill<<<1, 32>>>", "not in the baseline; --update adds it", places=(scan(20),)),
        ),
        (
            LaunchNumbers(SCAN, "regressed", {"cycles": 1000, "registers": 12}),
            LaunchNumbers(f"{SCAN} #2", "improved", {"cycles": 300, "registers": 12}),
            LaunchNumbers("fill<<<1, 32>>>", "new", {"cycles": 40, "registers": 8}),
        ),
        3,
        update=UPDATE,
        closing="2 launches compared (cycles=1%|200): 1 regressed, 1 improved, 1 missing, 1 new, 1 with another shape",
        json={"version": 1, "verdict": "regressed"},
    ),
    EntryVerdict(
        "gemm",
        "gemm.cu",
        (
            Problem("wrong results", "", "c == ref.npy: 3 of 64 elements differ", places=(gemm(2),)),
        ),
        json={"version": 1, "verdict": "results differ"},
    ),
    EntryVerdict(
        "frame",
        "frame.py",
        (
            Problem(
                "regressed", DRAW, "draw_cycles 1000 -> 1050 (+50, +5.0 %), limit 1%", "draw_cycles", 1000, 1050, "1%",
            ),
        ),
        (LaunchNumbers(DRAW, "regressed", {"cycles": 300, "draw_cycles": 1050}),),
        1,
    ),
    EntryVerdict(
        "limits",
        "limits.cu",
        (
            Problem("budget", "gemm", "registers 130, budget <=128", "registers", None, 130, "<=128", (gemm(2),)),
            Problem("requirement", "", "findings<=0: 1", "findings", None, 1, "0", (gemm(4),)),
            Problem("ratchet", GEMM, "cycles 90, booked 100", "cycles", 100, 90, "", (gemm(3),)),
            Problem("finding", GEMM, "race: two threads write c[0] (4 times)", "race", places=(gemm(4),)),
        ),
        (LaunchNumbers(GEMM, "same", {"cycles": 90, "dram_nbytes": 2048, "registers": 130}),),
        1,
        update="gpuprof check --update limits",
    ),
    EntryVerdict(
        "old",
        "old.cu",
        (Problem("not comparable", "", "the baseline is not comparable: compiler 'clang 21' -> 'clang 22'"),),
        cause="compiler",
        update="gpuprof check --update old",
    ),
    EntryVerdict("gone", "gone.cu", (Problem("failed", "", "gone.cu: there is no such file"),)),
    EntryVerdict("retired", "", (Problem("removed", "", "the entry is not in the project any more"),)),
    EntryVerdict(
        "clean", "clean.cu", (), (LaunchNumbers("add<<<1, 32>>>", "same", {"cycles": 40}),), 1, is_cached=True,
        json={"version": 1, "verdict": "same"},
    ),
)  # fmt: skip
REPORT = CheckReport(ENTRIES)
OF_FILE = CheckReport(ENTRIES[:1], of_file=True)

# What Markdown, XML, workflow commands and terminals take for their own.
NASTY = "k<a|b>`_*[x](y)&amp;\n::error::100%,\x1b[31m\u202e]]>\ufffe"
HOSTILE = CheckReport(
    (
        EntryVerdict(
            NASTY,
            NASTY,
            (
                Problem(
                    "regressed", NASTY, NASTY, "cycles", 1, 2, NASTY, (Place(f"src/{NASTY}", 3),),
                    (BlamedLine(NASTY, f"</pre></details>{NASTY}", 1, 2, "cycles", (Place("src/a,b:c%.cu", 4),)),),
                ),
                Problem("finding", "", NASTY, places=(Place("src/a,b:c%.cu", 4),)),
            ),
            (LaunchNumbers(NASTY, "regressed", {"cycles": 2}),),
            1,
            update=f"gpuprof check '{NASTY}'",
        ),
    )
)  # fmt: skip
FILES = ("src/scan.cu", "src/scan.cuh", "src/gemm.cu", "src/a,b:c%.cu")  # of the checkout
