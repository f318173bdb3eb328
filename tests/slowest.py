"""`python -m tests.slowest` runs what `make test` runs, and writes the slowest 50 tests into docs/hacking.md, each with
its reason: processor seconds of the test and of what it starts, all variants together, which other work on the machine
hardly changes.

The module is a plugin of pytest, too, which writes the seconds of each test into $GPUPROF_TEST_SECONDS.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.paths import DOCS, ROOT

PAGE = DOCS / "hacking.md"
MOST = 50
TABLE = re.compile(r"(?<=<!-- slowest -->\n).*?(?=<!-- /slowest -->)", re.DOTALL)
SUITE = ("-q", "-n", "2", "--dist", "worksteal", "-m", "not long")
SECONDS = "GPUPROF_TEST_SECONDS"
# Words in a test's name, file first -> why it takes long. The first row that fits is the reason.
REASONS = {
    "checkers/test_async_races": "compiles racecheck's kernels for asynchronous copies, once, and runs planted cases",
    "checkers/test_image_races": "compiles racecheck's kernels for images, once",
    "checkers/test_racecheck.py::test_pairs": "compiles racecheck's kernels, once",
    "checkers/": "runs planted errors and their correct twins under a checker",
    "emulate/test_guarded_calls": "compiles the emulator's kernels of memory, once",
    "assemble/test_registers": "compiles every sample and compares its registers with ptxas's",
    "assemble/test_call_variables": "compiles programs for ptxas and for us, and runs both",
    "assemble/": "assembles every form, or many random programs",
    "run/test_determinism": "records in processes with other seeds, threads and caches",
    "run/": "records whole sessions",
    "predict/": "records frames and launches on several chips to predict one from the other",
    "house/test_readme": "runs the README's commands",
    "house/": "reads every source file",
    "whole/": "runs kernels through clang's own machine code and ours",
    "timing/": "compares random launches with the readable twin, in plain Python",
    "compile/": "compiles many sources by clang, without the cache",
    "cli/": "compiles, records and reports as a user does, some in processes of their own",
    "emulate/": "compares every form with its reference on numpy",
    "isa/": "makes random rows, programs or damage by Hypothesis",
    "base/test_files_left": "kills commands while they write",
    "base/": "makes random values by Hypothesis",
    "records/": "damages recordings at many places",
    "report/test_samples": "records launches with scripts that set the sampler",
    "report/test_rules_of_lanes": "records six kernels whose findings are known",
    "report/": "prints every page in every format and width",
    "sweep/": "runs launches on several chips, in several processes",
    "interop/": "runs stored PTX of Triton and numba",
    "one_thread/": "interprets random programs one thread after the other",
    "fidelity/": "measures the model by microbenchmarks",
    "check/": "makes random facts by Hypothesis",
    "trace/": "records launches under trace generators",
}


def so_far() -> float:
    """Processor seconds of this process and of those that it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


class Seconds:
    """Appends a line to a file for each test: its name, and its processor seconds."""

    def __init__(self, path: str):
        self._path = path

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        before = so_far()
        result = yield
        with open(self._path, "a", encoding="utf-8") as file:
            file.write(json.dumps([item.nodeid, round(so_far() - before, 2)]) + "\n")
        return result


def pytest_configure(config) -> None:
    if path := os.environ.get(SECONDS):
        config.pluginmanager.register(Seconds(path), "processor seconds")


def reason_of(name: str) -> str:
    return next((reason for words, reason in REASONS.items() if words in name), "")


def table(lines: list[str]) -> Iterator[str]:
    """The rows of the page, from lines that the plugin wrote."""
    seconds: Counter[str] = Counter()
    for name, of_test in map(json.loads, lines):
        seconds[name.removeprefix("tests/").partition("[")[0]] += of_test
    yield "| test | s | reason |"
    yield "|---|--:|---|"
    for name, total in seconds.most_common(MOST):
        yield f"| `{name}` | {total:.1f} | {reason_of(name)} |"


def measure() -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "seconds"
        command = [sys.executable, "-m", "pytest", "-p", "tests.slowest", *SUITE]
        subprocess.run(command, cwd=ROOT, env=os.environ | {SECONDS: str(path)})
        return path.read_text(encoding="utf-8").splitlines()


def main(measured: list[str]) -> None:
    rows = "\n".join([*table(measured), ""])
    PAGE.write_text(TABLE.sub(lambda _: rows, PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]).read_text(encoding="utf-8").splitlines() if len(sys.argv) > 1 else measure())
