"""The survey of races reads what suites say of themselves, and counts."""

from tests.races_survey.__main__ import rates
from tests.races_survey.kernels import cases, kinds_found

RACY = """\
//xfail:NOT_ALL_VERIFIED
//--blockDim=64 --gridDim=[2,2] --no-inline
//kernel.cu: error: possible write-write race on A
__global__ void foo(int *A, int n)
{
    __requires(n == blockDim.x);
    if (n == 64) A[0] = threadIdx.x;
}
"""
CLEAN = RACY.replace("xfail:NOT_ALL_VERIFIED", "pass").replace(
    "//kernel.cu: error: possible write-write race on A\n", ""
)
WRONG = RACY.replace("possible write-write race on A", "this assertion might not hold")


def test_cases_of_a_folder(tmp_path):
    for name, text in (("racy", RACY), ("clean", CLEAN.replace("A[0]", "A[threadIdx.x]")), ("wrong", WRONG)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "kernel.cu").write_text(text)
    clean, racy = cases(tmp_path)
    assert [(case.name, case.is_racy, case.is_warp_synchronous) for case in (clean, racy)] == [
        ("clean", False, False),
        ("racy", True, False),
    ]
    assert kinds_found(racy, tmp_path) == ["global_write_write_race"]


def test_rates():
    def row(is_racy: bool, found: list[str], why_not: str = "") -> tuple[str, bool, dict]:
        return "suite", is_racy, {"found": found, "why_not": why_not}

    rows = [row(True, ["a"]), row(True, []), row(False, []), row(False, ["a"]), row(False, []), row(True, [], "no")]
    assert list(rates(rows)) == [
        "suite       racy  found  clean  with a finding  not run",
        "suite          2      1      3               1        1",
    ]
