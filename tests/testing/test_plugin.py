"""The pytest plugin, in projects of its users: each run is a process of its own, with and without xdist."""

import os
import re
import signal
import subprocess
import sys
import time
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from tests.support.command import gpuprof as run_gpuprof

pytest_plugins = "pytester"

KERNEL = """\
__global__ void scale(const float *x, float *y)
{
    int i = threadIdx.x;
    y[i] = 2 * x[i];
}
"""
SLOWER = KERNEL.replace("2 * x[i]", "2 * x[(int)x[i]]")
TESTS = """\
import pytest

LAUNCH = "scale<<<1, 64>>>(x: f32[64]=arange, y: f32[64])"


@pytest.mark.gpuprof(baseline="scale", cycles="1%", registers="<=128")
def test_scale(gpuprof):
    run = gpuprof.collect("scale.cu", launch=LAUNCH)
    assert run.kernel("scale").launches == run.launches
"""
NUMBER = re.compile(r"\b\d+(?:,\d{3})*(?:\.\d+)?\b")


@pytest.fixture
def project(pytester, monkeypatch):
    """Runs pytest in a project with a kernel and the tests of `write`, and gives its result. pytester's home has no
    compiled kernels: the cache is that of this process.
    """
    monkeypatch.setenv("GPUPROF_CACHE", str(CACHE))
    pytester.makeini("[pytest]\n")
    return Project(pytester)


# pytester sets another home; this is read before.
CACHE = Path(
    os.environ.get("GPUPROF_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "gpuprof"
)


class Project:
    def __init__(self, pytester):
        self.pytester, self.folder = pytester, pytester.path
        self.write("tests/scale.cu", KERNEL)
        self.write("tests/test_scale.py", TESTS)

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def run(self, *arguments: str) -> pytest.RunResult:
        return self.pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider", *arguments)

    def baselines(self) -> list[str]:
        return sorted(path.name for path in self.folder.glob("gpuprof-baselines/*"))


def section(result: pytest.RunResult, title: str) -> str:
    """The lines below a title of pytest's, up to the next, with numbers as N."""
    lines = result.stdout.str().splitlines()
    start = next(number for number, line in enumerate(lines) if re.fullmatch(f"=+ {title} =+", line)) + 1
    is_end = re.compile(r"=====|\d+ (passed|failed)").match
    end = next(number for number in range(start, len(lines)) if is_end(lines[number]))
    return NUMBER.sub("N", "\n".join(lines[start:end]))


def test_the_plugin_is_an_entry_point():
    (found,) = [each for each in entry_points(group="pytest11") if each.name == "gpuprof"]
    assert found.value == "gpuprof.testing.plugin"


UNUSED = """\
import sys

def test_nothing():
    top = {name.partition(".")[0] for name in sys.modules}
    heavy = top & {"numpy", "numba", "llvmlite", "click", "rich", "sqlite3"}
    ours = {name for name in sys.modules if name.partition(".")[0] == "gpuprof"}
    assert heavy == set()
    assert ours == {"gpuprof", "gpuprof.testing", "gpuprof.testing.plugin", "gpuprof.testing.stash"}
"""


def test_a_project_that_does_not_use_it_pays_nothing(project):
    """Hypothesis' plugin, which imports some of these itself, is left out."""
    project.write("tests/test_scale.py", UNUSED)
    result = project.run("-p", "no:hypothesispytest")
    assert (result.ret, result.parseoutcomes()) == (0, {"passed": 1})
    assert "gpuprof" not in result.stdout.str()


def test_a_baseline_from_the_first_run_to_a_regression(project):
    """Missing, written, slower."""
    missing = project.run()
    assert missing.parseoutcomes() == {"failed": 1}
    assert section(missing, "FAILURES") == (
        "__________________________________ test_scale __________________________________\n"
        "gpuprof-baselines/scale.toml: there is no baseline yet\n"
        "write it with: pytest tests/test_scale.py::test_scale --gpuprof-update"
    )
    written = project.run("--gpuprof-update")
    assert written.parseoutcomes() == {"passed": 1}
    assert section(written, "gpuprof") == (
        "test                             kernel  cycles  before  change  verdict\n"
        "tests/test_scale.py::test_scale  scale    N       -       -  written\n"
        "gpuprof-baselines/scale.toml written"
    )
    run_gpuprof(
        *(project.folder / "tests", "collect", "scale.cu", "--launch"),
        "scale<<<1, 64>>>(x: f32[64]=arange, y: f32[64])",
    )
    run_gpuprof(project.folder / "tests", "check", "scale.gprec", "--baseline", "by_check.toml", "--update")
    baseline = project.folder / "gpuprof-baselines" / "scale.toml"
    assert baseline.read_text() == (project.folder / "tests" / "by_check.toml").read_text()
    project.write("tests/scale.cu", SLOWER)
    slower = project.run()
    assert slower.parseoutcomes() == {"failed": 1}
    assert section(slower, "FAILURES") == (
        "__________________________________ test_scale __________________________________\n"
        "regressed  scale<<<N, N>>>: cycles N -> N (+N, +N %), limit N%, its code changed\n"
        "             scale.cu:N  N -> N warp-cycles (+N)  y[i] = N * x[(int)x[i]];\n"
        "N launch compared (cycles=N%): N regressed\n"
        "against gpuprof-baselines/scale.toml\n"
        "if this is intended: pytest tests/test_scale.py::test_scale --gpuprof-update"
    )
    assert section(slower, "gpuprof").endswith("tests/test_scale.py::test_scale  scale    N   N  +N %  regressed")
    assert project.baselines() == ["scale.toml"]


MORE_TESTS = (
    TESTS
    + """

@pytest.mark.gpuprof(baseline="class", chip="h100")
class TestClass:
    @pytest.mark.parametrize("blocks", [1, 2])
    def test_size(self, gpuprof, blocks):
        run = gpuprof.collect("scale.cu", launch=f"scale<<<{blocks}, 64>>>(f32[64], f32[64])")
        assert run.launches[0].grid == (blocks, 1, 1)

    def test_without(self):
        pass


def test_plain(gpuprof):
    assert gpuprof.collect("scale.cu", launch=LAUNCH, chip="t4").cycles > 0
"""
)
TABLE = """\
test                                         kernel  cycles  before  change  verdict
tests/test_scale.py::TestClass::test_size[N]  scale    N       -       -  written
tests/test_scale.py::TestClass::test_size[N]  scale    N       -       -  written
tests/test_scale.py::test_plain               scale    N       -       -  measured
tests/test_scale.py::test_scale               scale    N       -       -  written
"""


@pytest.mark.long
def test_workers_write_what_one_process_writes(project):
    """Marks of a class set defaults, and its tests have baselines of their own. The table is the same, once."""
    project.write("tests/test_scale.py", MORE_TESTS)
    one = project.run("--gpuprof-update")
    assert one.parseoutcomes() == {"passed": 5}
    names = ["class.test_size-1.toml", "class.test_size-2.toml", "scale.toml"]
    assert project.baselines() == names
    texts = [(project.folder / "gpuprof-baselines" / name).read_text() for name in names]
    assert [re.search('^chip = "(.*)"', text, re.M)[1] for text in texts] == ["h100", "h100", "a100"]
    for name in names:
        (project.folder / "gpuprof-baselines" / name).unlink()
    two = project.run("--gpuprof-update", "-n", "2")
    assert two.parseoutcomes() == {"passed": 5}
    assert [(project.folder / "gpuprof-baselines" / name).read_text() for name in names] == texts
    assert section(two, "gpuprof") == section(one, "gpuprof")
    lines = [f"gpuprof-baselines/{NUMBER.sub('N', name)} written\n" for name in names]
    assert section(two, "gpuprof").split() == (TABLE + "".join(lines)).split()
    assert two.stdout.str().count("= gpuprof =") == 1
    same = project.run("-n", "2")
    assert same.parseoutcomes() == {"passed": 5}
    assert section(same, "gpuprof").splitlines()[-1].split()[1:] == ["scale", "N", "N", "+N", "%", "same"]


@pytest.mark.long
def test_the_chip_option(project):
    """It goes before the chips of marks and calls; each chip has baselines of its own."""
    project.write("tests/test_scale.py", MORE_TESTS)
    assert project.run("--gpuprof-update", "--gpuprof-chip", "t4").parseoutcomes() == {"passed": 5}
    assert project.baselines() == ["class.test_size-1@t4.toml", "class.test_size-2@t4.toml", "scale@t4.toml"]
    assert all('chip = "t4"' in path.read_text() for path in project.folder.glob("gpuprof-baselines/*"))
    missing = project.run("--gpuprof-chip=h100", "-k", "test_scale.py and not Class and not plain")
    assert section(missing, "FAILURES").endswith(
        "gpuprof-baselines/scale@h100.toml: there is no baseline yet\n"
        "write it with: pytest tests/test_scale.py::test_scale --gpuprof-chip=h100 --gpuprof-update"
    )


WRONG = """\
import pytest

@pytest.mark.gpuprof(cylces="1%")
def test_unknown(gpuprof):
    pass

@pytest.mark.gpuprof(findings=0)
def test_no_fixture():
    pass

@pytest.mark.gpuprof(baseline="one")
def test_one(gpuprof):
    pass

@pytest.mark.gpuprof(baseline="one")
def test_other(gpuprof):
    pass

@pytest.mark.gpuprof(baseline="nothing")
def test_nothing(gpuprof):
    pass
"""
ONE = (
    "tests/test_scale.py::test_one and tests/test_scale.py::test_other have one baseline, 'one'; give each a name of "
    "its own"
)


@pytest.mark.parametrize("workers", ["0", pytest.param("2", marks=pytest.mark.long)])
def test_marks_that_are_wrong(project, workers):
    project.write("tests/test_scale.py", WRONG)
    result = project.run("-n", workers)
    assert result.parseoutcomes() == {"errors": 4, "failed": 1}
    result.stdout.fnmatch_lines_random(
        [
            "@pytest.mark.gpuprof(cylces=...): unknown keyword 'cylces'; did you mean cycles?",
            "@pytest.mark.gpuprof: the test does not have the fixture `gpuprof`, so there is nothing to judge",
            f"@pytest.mark.gpuprof: {ONE}",
            "the test collected nothing, so there is nothing to judge",
        ]
    )


FAILING = """\
LAUNCH = "scale<<<1, 64>>>(x: f32[64]=arange, y: f32[64])"

def test_number(gpuprof):
    run = gpuprof.collect("scale.cu", launch=LAUNCH)
    assert run.kernel("scale").launches == ()

def test_error(gpuprof):
    gpuprof.collect("scale.cu", launch="scall<<<1, 64>>>()")
"""


def test_failures_show_lines_of_the_kernel_and_none_of_ours(project):
    project.write("tests/test_scale.py", FAILING)
    result = project.run()
    assert result.parseoutcomes() == {"failed": 2}
    failures = section(result, "FAILURES")
    below = failures.partition("- gpuprof -")[2].splitlines()
    assert below[1:5] == [
        "scale<<<N, N>>>: N cycles, N registers",
        "             scale.cu:N  N warp-cycles (N %)  y[i] = N * x[i];",
        "             scale.cu:N  N warp-cycles (N %)  int i = threadIdx.x;",
        "             scale.cu:N  N warp-cycles (N %)  }",
    ]
    assert below[5].startswith("gpuprof report ")
    assert below[6:] == [
        "__________________________________ test_error __________________________________",
        "",
        below[8],
        "",
        "    def test_error(gpuprof):",
        '>       gpuprof.collect("scale.cu", launch="scall<<<N, N>>>()")',
        "E       gpuprof.errors.UsageError: --launch: scale.cu has no kernel scall; it has scale. Did you mean scale?",
        "E           scall<<<N, N>>>()",
        f"E       in {NUMBER.sub('N', str(project.folder / 'tests'))}: "
        "gpuprof collect scale.cu '--launch=scall<<<N, N>>>()'",
        "",
        "tests/test_scale.py:N: UsageError",
    ]


def git(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    return subprocess.run(["git", "-C", folder, *who, *words], check=True, capture_output=True, text=True).stdout


@pytest.mark.long
@pytest.mark.parametrize("workers", ["0", "2"])
def test_against_a_revision(project, workers):
    """The old kernel is collected from its commit. Nothing is left, and nothing written to the checkout."""
    project.write("tests/.gitignore", "__pycache__/\n")  # Python's own
    git(project.folder, "init", "-q")
    git(project.folder, "add", "tests")
    git(project.folder, "commit", "-q", "-m", "scale")
    project.write("tests/scale.cu", SLOWER)
    project.write("tests/new.cu", KERNEL)
    tests = TESTS + "\n\ndef test_new(gpuprof):\n    gpuprof.collect('new.cu', launch=LAUNCH)\n"
    project.write("tests/test_scale.py", tests)
    before = git(project.folder, "status", "--short", "tests")
    result = project.run("-n", workers, "--gpuprof-against", "HEAD")
    assert result.parseoutcomes() == {"failed": 1, "passed": 1}
    assert section(result, "FAILURES").splitlines()[-4:] == [
        "regressed  scale<<<N, N>>>: cycles N -> N (+N, +N %), limit N%, its code changed",
        "             scale.cu:N  N -> N warp-cycles (+N)  y[i] = N * x[(int)x[i]];",
        "N launch compared (cycles=N%): N regressed",
        "against HEAD",
    ]
    assert [line.split() for line in section(result, "gpuprof").splitlines()[1:]] == [
        ["tests/test_scale.py::test_new", "scale", "N", "-", "-", "new"],
        ["tests/test_scale.py::test_scale", "scale", "N", "N", "+N", "%", "regressed"],
    ]
    assert git(project.folder, "status", "--short", "tests") == before and project.baselines() == []
    assert len(git(project.folder, "worktree", "list").splitlines()) == 1


def test_a_revision_that_is_none(project):
    git(project.folder, "init", "-q")
    result = project.run("--gpuprof-against", "v9")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert result.stderr.str().startswith("ERROR: --gpuprof-against: v9: git knows no such revision here")


ENDLESS = """\
def test_endless(gpuprof, tmp_path):
    tmp_path.parent.joinpath("begun").touch()
    gpuprof.collect("endless.cu", launch="k<<<1, 32>>>(i32[1])")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_an_interrupt_leaves_nothing(project):
    """No process, no baseline, no temporary folder."""
    project.write("tests/endless.cu", "__global__ void k(volatile int *x) { while (x[0] == 0); }\n")
    project.write("tests/test_scale.py", ENDLESS)
    temporary = project.folder / "temporary"
    temporary.mkdir()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--gpuprof-update"]
    with subprocess.Popen(
        [*command, "--basetemp", project.folder / "base"],
        cwd=project.folder, env=os.environ | {"TMPDIR": str(temporary)}, stdout=subprocess.PIPE, text=True,
        start_new_session=True,
    ) as session:  # fmt: skip
        while not list(project.folder.glob("base/*/gpuprof/run1/.endless.gprec.lock")):
            assert session.poll() is None
            time.sleep(0.05)
        os.kill(session.pid, signal.SIGINT)
        out = session.communicate(timeout=60)[0]
    assert "KeyboardInterrupt" in out
    assert list(temporary.iterdir()) == [] and project.baselines() == []
    with pytest.raises(ProcessLookupError):  # all of the session's processes are of its group
        os.killpg(session.pid, 0)


REWRITTEN = """\
import gpuprof.emulate.run
from gpuprof.isa import encoding

def test_assertions_are_as_written():
    names = [name for name in vars(gpuprof.emulate.run) if name.startswith("@pytest")]
    assert names == [] and not hasattr(encoding, "@pytest_ar")
"""


def test_pytest_rewrites_no_assertion_of_ours(project):
    """An installed distribution has a list of its files: pytest rewrites those of all that have a plugin."""
    project.write("other-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: other\nVersion: 1\n")
    project.write("other-1.dist-info/entry_points.txt", "[pytest11]\nother = other_plugin\n")
    project.write("other-1.dist-info/RECORD", "gpuprof/__init__.py,,\nother_plugin.py,,\n")
    project.write("other_plugin.py", "")
    project.write("tests/test_scale.py", REWRITTEN)
    assert project.run().parseoutcomes() == {"passed": 1}
