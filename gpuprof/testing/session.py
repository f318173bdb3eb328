"""A test of pytest with its runs, and what a session of pytest makes of all of them.

mark, options ─ Test ─> a Collector; its runs ─ judge ─> the test's failure ─ add_to ─> values of the report
values of all reports, in State ─ write_baselines, summary ─> files, the table
"""

import contextlib
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType

import pytest

from gpuprof.base.files import replacing
from gpuprof.base.outputs import Kind, check_output
from gpuprof.check.baseline import TITLE
from gpuprof.check.render import aligned
from gpuprof.errors import GpuprofError, UsageError
from gpuprof.testing.against import Worktree
from gpuprof.testing.collector import Collector
from gpuprof.testing.judge import Judgement, Old, Row, baseline_of, costly_lines, judge
from gpuprof.testing.mark import MARK, Expected, merged, parse_mark
from gpuprof.testing.stash import NAME, STATE, State

BASELINES = "gpuprof-baselines"  # the folder, in rootdir
PACKAGE = Path(__file__).parents[1]
PLUGIN = str(Path(__file__).with_name("plugin.py"))
HEAD = ("test", "kernel", "cycles", "before", "change", "verdict")


def worktree_for(config: pytest.Config, revision: str) -> dict[str, str]:
    """The values of a worktree, which is removed when the session ends. Raises pytest's UsageError, which ends the
    session, where there can be none.
    """
    if config.getoption("gpuprof_update"):
        raise pytest.UsageError("--gpuprof-against writes no baselines; leave out --gpuprof-update")
    stack = contextlib.ExitStack()
    config.add_cleanup(stack.close)
    try:
        return Worktree.made(config.rootpath, revision, stack).values
    except GpuprofError as error:
        raise pytest.UsageError(f"--gpuprof-against: {error}") from None


def expected_of(item: pytest.Item) -> Expected:
    """Raises UsageError for a mark that is wrong."""
    return parse_mark(merged((mark.args, mark.kwargs) for mark in item.iter_markers(NAME)))


def check_mark(item: pytest.Item) -> None:
    """Fails the test when its mark is wrong, or there is nothing for it to judge."""
    if sentence := wrong_mark(item):
        pytest.fail(sentence, pytrace=False)


def wrong_mark(item: pytest.Item) -> str:
    """A sentence on a test's mark that is wrong; "" for one that is right."""
    try:
        expected_of(item)
        is_own = any(mark.name == NAME for mark in item.own_markers)
        if is_own and NAME not in getattr(item, "fixturenames", ()):
            return f"{MARK}: the test does not have the fixture `{NAME}`, so there is nothing to judge"
    except UsageError as error:
        return str(error)
    return item.config.stash[STATE].same_baseline.get(item.nodeid, "")


def same_baselines(items: Sequence[pytest.Item]) -> dict[str, str]:
    """Test -> a sentence, for those that have the baseline of another one."""
    of_name: dict[str, list[str]] = {}
    for item in items:
        if NAME in getattr(item, "fixturenames", ()) and (name := baseline_name(item)):
            of_name.setdefault(name, []).append(item.nodeid)
    return {
        test: f"{MARK}: {' and '.join(tests)} have one baseline, {name!r}; give each a name of its own"
        for name, tests in of_name.items()
        if len(tests) > 1
        for test in tests
    }


def baseline_name(item: pytest.Item) -> str:
    """The name of a test's baseline: of a mark on the test itself the mark's. A mark on a class or module, and one on a
    test with parameters, is shared: each test has NAME.TEST. "" without one.
    """
    for node, mark in item.iter_markers_with_node(NAME):
        if isinstance(name := mark.kwargs.get("baseline"), str) and name:
            is_shared = node is not item or hasattr(item, "callspec")
            return f"{name}.{as_file_name(item.name)}" if is_shared else name
    return ""


def as_file_name(name: str) -> str:
    """ "test_scan[64-h100]" as "test_scan-64-h100"."""
    return re.sub(r"[^\w.+-]+", "-", name).strip("-")


class Test:
    """A test that has the fixture: its runs, and the judgement on them at its end."""

    __test__ = False  # pytest looks for tests by this name

    def __init__(self, item: pytest.Item, scratch: Path):
        self.item, self.config = item, item.config
        self.expected = expected_of(item)
        chip = self.config.getoption("gpuprof_chip")
        self.collector = Collector(
            scratch,
            (item.path.parent, self.config.rootpath),
            defaults=self.expected.flags,
            overrides={"chip": self.chip_of_option(chip)} if chip else {},
            command=self.command(),
        )
        name = baseline_name(item)
        self.baseline = f"{BASELINES}/{name}{f'@{Path(chip).stem}' if chip else ''}.toml" if name else ""
        self.judgement: Judgement | None = None

    def chip_of_option(self, chip: str) -> str:
        """A file is named from where pytest was started; runs are elsewhere."""
        return str(self.config.invocation_params.dir / chip) if chip.endswith(".toml") else chip

    def command(self, *options: str) -> str:
        """The line that runs this test again."""
        chip = self.config.getoption("gpuprof_chip")
        return shlex.join(["pytest", self.item.nodeid, *([f"--gpuprof-chip={chip}"] if chip else []), *options])

    def old(self) -> Old | None:
        """The baseline, or the other revision, that the runs are compared with."""
        if against := self.config.stash[STATE].against:
            return Worktree(**against).old(self.collector)
        if self.baseline:
            path = self.config.rootpath / self.baseline
            return baseline_of(path, self.baseline, self.command("--gpuprof-update"))
        return None

    def judge(self) -> None:
        """Fails the test by its judgement; a test that collected nothing and has no baseline has none."""
        if not self.collector.runs and not self.baseline:
            return
        update = self.config.getoption("gpuprof_update")
        self.judgement = judge(self.collector.runs, self.expected, self.old(), update=update)
        if self.judgement.failure:
            pytest.fail("\n".join(self.judgement.failure), pytrace=False)

    def add_to(self, report: pytest.TestReport) -> None:
        """Puts into the report what the controller of xdist needs, and what a failed assertion of the test is about."""
        if self.judgement is None and report.failed and self.collector.runs:
            report.sections.append((NAME, "\n".join(self.about())))
        if self.judgement:
            text = self.judgement.baseline if report.passed else ""
            rows = [list(row) for row in self.judgement.rows]
            setattr(report, NAME, {"rows": rows, "baselines": {self.baseline: text} if text else {}})

    def about(self) -> Iterator[str]:
        """The comparison of a test that failed by itself; its costliest lines where there is none."""
        try:
            self.judgement = judge(self.collector.runs, self.expected, self.old())
            yield from self.judgement.failure or costly_lines(self.collector.runs)
        except GpuprofError as error:
            yield str(error)


def shortened(error: GpuprofError) -> pytest.ExceptionInfo:
    """The error without the frames of gpuprof, and those that it called: what it does inside is no help in a test."""
    frames: list[TracebackType] = []
    traceback = error.__traceback__
    while traceback:
        frames.append(traceback)
        traceback = traceback.tb_next
    files = [frame.tb_frame.f_code.co_filename for frame in frames]
    # The plugin's own hook is among pytest's frames, before the test's.
    inside = [number for number, file in enumerate(files) if PACKAGE in Path(file).parents and file != PLUGIN]
    end = inside[0] if inside else len(frames)
    while end and files[end - 1] == contextlib.__file__:
        end -= 1
    shorter = None
    for frame in reversed(frames[:end]):
        shorter = TracebackType(shorter, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return pytest.ExceptionInfo.from_exception(error.with_traceback(shorter or error.__traceback__))


def write_baselines(state: State, root: Path) -> None:
    """Writes the baselines that reports brought, and notes which were and which were not."""
    kind = Kind("baseline", ((0, TITLE.encode()),))
    for name, text in sorted(state.baselines.items()):
        path = root / name
        try:
            path.parent.mkdir(exist_ok=True)
            check_output(path, kind)
            with replacing(path) as partial:
                partial.write_text(text, encoding="utf-8", newline="\n")
            state.written.append(name)
        except (GpuprofError, OSError) as error:
            state.not_written.append(f"{name} was not written: {error}")


def summary(state: State) -> Iterator[str]:
    """The table of all tests by name, and what was written."""
    rows = [(test, *cells_of(Row(*row))) for test, row in sorted(state.rows, key=lambda each: each[0])]
    yield from (line.removeprefix("  ") for line in aligned([HEAD, *rows], "<<>>><"))
    yield from (f"{name} written" for name in state.written)
    yield from state.not_written


def cells_of(row: Row) -> tuple[str, ...]:
    change = "-"
    if row.before:
        change = f"{100 * (row.cycles - row.before) / row.before:+.1f} %"
    before = "-" if row.before is None else f"{row.before:,}"
    return row.kernel or "-", f"{row.cycles:,}" if row.kernel else "-", before, change, row.verdict
