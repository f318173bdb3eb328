"""The first run on a machine compiles the emulator and the timing model; later ones find them on disk. All
runs here are for a processor that nothing is shipped for.
"""

import os
import platform
import re
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from gpuprof.timing.engine import KINDS, run_at
from tests.paths import ROOT, SAMPLES
from tests.support.command import PROGRAM, names, process
from tests.support.running import run_file

CPU = "x86-64-v2" if platform.machine() == "x86_64" else "cortex-a76"
NOTICE = re.compile(
    r"gpuprof: first run on this machine: compiling the emulator and the timing model, once"
    rf"( \(the compiled code that came with gpuprof does not fit: it is not for {CPU}\))?\n"
)
WAITING = (
    "gpuprof: first run on this machine: another gpuprof is compiling the emulator and the timing model; waiting for "
    "it\n"
)


def start(folder, cache, output: str, *arguments: str, **environment: str) -> subprocess.Popen:
    return subprocess.Popen(
        [*PROGRAM, "collect", str(SAMPLES / "saxpy.cu"), "-o", output, *arguments],
        cwd=folder,
        env=os.environ | {"NUMBA_CACHE_DIR": str(cache), "NUMBA_CPU_NAME": CPU} | environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


COUNTS = """\
import os, sys
if any("compile_now" in word for word in sys.orig_argv):
    with open(os.environ["COMPILATIONS"], "a") as file:
        file.write("one more\\n")
"""


def counting(folder) -> dict[str, str]:
    """An environment in which each process that compiles the model adds a line to `folder`/compilations."""
    (folder / "sitecustomize.py").write_text(COUNTS)
    return {"COMPILATIONS": str(folder / "compilations"), "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}


@pytest.mark.long
def test_four_first_runs_at_once_compile_once_and_one_after_them_not_at_all(tmp_path):
    outputs = [f"{name}.gprec" for name in "abcd"]
    counts = counting(tmp_path)
    runs = [start(tmp_path, tmp_path / "cache", output, **counts) for output in outputs]
    said = [process.communicate(timeout=600) for process in runs]
    *waiting, notice = sorted((error for _, error in said), key=lambda text: text != WAITING)
    assert waiting == [WAITING] * 3 and NOTICE.fullmatch(notice)
    later = start(tmp_path, tmp_path / "cache", "e.gprec", **counts)
    assert later.communicate(timeout=600)[1] == ""
    assert (tmp_path / "compilations").read_text() == "one more\n"
    assert len({(tmp_path / output).read_bytes() for output in (*outputs, "e.gprec")}) == 1
    assert [process.returncode for process in (*runs, later)] == [0] * 5
    assert not [name for name in names(tmp_path / "cache") if ".tmp" in name]


@pytest.mark.long
def test_another_one_compiles_when_the_first_is_killed(tmp_path):
    counts = counting(tmp_path)
    first = start(tmp_path, tmp_path / "cache", "a.gprec", **counts)
    assert NOTICE.fullmatch(first.stderr.readline())
    second = start(tmp_path, tmp_path / "cache", "b.gprec", **counts)
    assert second.stderr.readline() == WAITING
    first.kill()
    first.communicate()
    assert second.communicate(timeout=600)[1] == "" and second.returncode == 0
    assert (tmp_path / "compilations").read_text() == "one more\n" * 2


@pytest.mark.long
def test_an_interrupt_while_compiling_leaves_nothing_behind(tmp_path):
    process = start(tmp_path, tmp_path / "cache", "a.gprec")
    assert NOTICE.fullmatch(process.stderr.readline())
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=60)
    assert (process.returncode, out, error.strip()) == (130, "", "gpuprof: interrupted")
    assert processes_with(str(tmp_path / "cache")) == []
    assert not [name for name in names(tmp_path / "cache") if "engine" in name and not name.endswith(".lock")]


@pytest.mark.long
def test_the_workers_of_a_sweep_wait_for_one_compilation(tmp_path):
    settings = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "NUMBA_CPU_NAME": CPU} | counting(tmp_path)
    code, _, error = process(tmp_path, "sweep", SAMPLES / "saxpy.cu", "--param", "sms=2,3,4", "--jobs", "3", **settings)
    assert (code, error) == (0, "")
    assert (tmp_path / "compilations").read_text() == "one more\n"


@pytest.mark.long
def test_a_run_that_is_refused_is_no_first_run(tmp_path):
    refused = start(tmp_path, tmp_path / "cache", "a.gprec", "--launch", "saxpy<<<1, 32>>>()")
    assert refused.communicate(timeout=60)[1].startswith("gpuprof: --launch: saxpy takes 4 parameters")


def processes_with(text: str) -> list[int]:
    """Processes of this user's whose environment holds `text`; none where the system has no /proc."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # another user's, or just gone
            found += [int(path.parent.name)] if text.encode() in path.read_bytes() else []
    return found


def test_the_signature_compiled_ahead_is_the_one_that_is_called():
    run_file(SAMPLES / "saxpy.cu")
    assert run_at.kinds == [KINDS]
