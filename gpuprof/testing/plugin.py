"""The pytest plugin: the fixture `gpuprof`, the mark of the same name, options, and a table at the end.

pytest loads this in every project where gpuprof is installed. So nothing of gpuprof, and no numpy, is imported before a
test has the fixture or the mark.

    worker of xdist, or only process                            controller of xdist, or only process
    a test's runs ─ judge ─> report.gpuprof: rows, baselines ─> Reports ─> files, the table
"""

import sys
from importlib.machinery import PathFinder
from typing import Any

import pytest

from gpuprof.testing.stash import NAME, STATE, TEST, State

HELP = (
    "gpuprof(baseline=NAME, METRIC='1%|200' or '<=N', findings=0, FLAG=VALUE): judges what the fixture `gpuprof` "
    "collects; FLAG is one of `gpuprof collect`, and a default of the test's runs."
)


class AsWritten:
    """Finds gpuprof's modules before pytest does, which rewrites the assertions of all packages that have a plugin.

    Numba compiles some of these modules. It cannot compile a rewritten assertion.
    """

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
        return PathFinder.find_spec(name, path, target) if name.startswith("gpuprof.") else None


sys.meta_path.insert(0, AsWritten)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup(NAME, "kernels on an emulated GPU")
    group.addoption("--gpuprof-update", action="store_true", help="Write the baselines of tests instead of comparing.")
    group.addoption(
        "--gpuprof-chip", metavar="NAME", help="Run all kernels on this chip. Baselines are NAME@CHIP.toml."
    )
    group.addoption(
        "--gpuprof-against",
        metavar="REV",
        help="Compare with the files of this git revision, collected by this gpuprof, instead of baselines.",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", HELP)
    config.stash[STATE] = state = State()
    if hasattr(config, "workerinput"):
        state.against = config.workerinput.get(NAME)
        return
    config.pluginmanager.register(Reports(state), "gpuprof reports")
    if revision := config.getoption("gpuprof_against"):
        from gpuprof.testing.session import worktree_for

        state.against = worktree_for(config, revision)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    marked = [item for item in items if item.get_closest_marker(NAME)]
    if marked:
        from gpuprof.testing.session import same_baselines

        config.stash[STATE].same_baseline = same_baselines(marked)


@pytest.fixture
def gpuprof(request: pytest.FixtureRequest, tmp_path):
    """Collects kernels on an emulated GPU: `collect`, `program`, `triton`, `numba`, `recording`; see docs/pytest.md."""
    from gpuprof.testing.session import Test

    request.node.stash[TEST] = test = Test(request.node, tmp_path / NAME)
    return test.collector


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker(NAME):
        from gpuprof.testing.session import check_mark

        check_mark(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item):
    result = yield
    if test := item.stash.get(TEST, None):
        test.judge()
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo):
    test = item.stash.get(TEST, None)
    if test and call.excinfo:
        from gpuprof.errors import GpuprofError
        from gpuprof.testing.session import shortened

        if isinstance(error := call.excinfo.value, GpuprofError):
            call.excinfo = shortened(error)
    report = yield
    if test and call.when == "call":
        test.add_to(report)
    return report


class Reports:
    """Takes the values of all reports: workers of xdist send theirs, and only one process writes."""

    def __init__(self, state: State):
        self.state = state

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """A worker of xdist uses the worktree of the controller."""
        node.workerinput[NAME] = self.state.against

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if facts := getattr(report, NAME, None):
            self.state.rows += [(report.nodeid, row) for row in facts["rows"]]
            self.state.baselines |= facts["baselines"]

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if self.state.baselines and exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            from gpuprof.testing.session import write_baselines

            write_baselines(self.state, session.config.rootpath)
            if self.state.not_written:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.state.rows:
            from gpuprof.testing.session import summary

            terminalreporter.section(NAME)
            for line in summary(self.state):
                terminalreporter.line(line)
