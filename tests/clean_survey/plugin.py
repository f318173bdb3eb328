"""A plugin of pytest: every GPU that a test makes has all checkers. `--clean-survey FILE` gets, as JSON, how many
launches were watched and what was found in which test.
"""

import json
from collections import defaultdict
from pathlib import Path

from gpuprof.run.observers.tracing import Attached, LaunchTrace, Tracers
from gpuprof.trace.find import CHECKERS, find
from gpuprof.trace.finding_report import ERROR, text_of


class Survey:
    def __init__(self, path: Path):
        self.path, self.n_launches, self.test = path, 0, ""
        self.found: dict[str, list[str]] = defaultdict(list)  # by test

    def watch(self) -> None:
        make, finish = Tracers.__init__, LaunchTrace.finish

        def with_checkers(tracers: Tracers, *given) -> None:
            make(tracers, *given)
            for name in CHECKERS:
                tracers.attach(Attached(find(name)()))

        def noted(trace: LaunchTrace) -> None:
            finish(trace)
            self.n_launches += 1
            for _, _, results in trace.results:
                errors = [each for each in results.findings if each.severity == ERROR]
                self.found[self.test] += [text_of(trace.feed.kernel, each) for each in errors]

        Tracers.__init__, LaunchTrace.finish = with_checkers, noted

    def write(self) -> None:
        found = {test: sorted(set(told)) for test, told in self.found.items() if told}
        self.path.write_text(json.dumps({"launches": self.n_launches, "found": found}), encoding="utf-8")

    def pytest_runtest_setup(self, item) -> None:
        self.test = item.name

    def pytest_runtest_teardown(self) -> None:
        """What is seen is kept where the time is over before the last test."""
        self.write()


def pytest_addoption(parser) -> None:
    parser.addoption("--clean-survey", type=Path, required=True)


def pytest_configure(config) -> None:
    survey = Survey(config.getoption("--clean-survey"))
    survey.watch()
    config.pluginmanager.register(survey)
