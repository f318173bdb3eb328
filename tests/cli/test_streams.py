"""Standard streams that are closed, full, or that are not read: no command ends in a traceback, and each does its
work.
"""

import tempfile
from pathlib import Path

import pytest

from gpuprof.cli.main import COMMANDS
from tests.cli.test_outputs import KERNEL
from tests.support.command import write_files
from tests.support.forked import Server, give, usable
from tests.support.ncu_report import write_report

LINES = {
    "init": "init . -o made.toml",
    "compile": "compile k.ptx -o made.gpubin",
    "disasm": "disasm k.gpubin",
    "collect": "collect k.ptx --period 32 -o made.gprec",
    "run": "run k.c",
    "debug": "debug k.ptx --batch -ex run",
    "replay": "replay k.gprec -o made.gprec",
    "merge": "merge k.gprec other.gprec -o made.gprec",
    "records": "records k.gprec",
    "correlate": "correlate k.gprec -o made.gpudb",
    "import": "import k.ncu-rep --no-code -o made.gpudb",
    "report": "report k.gprec",
    "view": "view none.gprec",
    "relate": "relate k.gprec",
    "export": "export k.gprec -o made.folded",
    "quality": "quality k.gprec",
    "predict": "predict k.gprec",
    "check": "check k.gprec --baseline made.txt --update",
    "bisect": "bisect HEAD~1 HEAD",
    "diff": "diff k.gprec other.gprec",
    "sweep": "sweep k.ptx --jobs 1 -o made.csv --traces made.gptrace",
    "whatif": "whatif k.gprec --json --traces made.gptrace",
    "advise": "advise k.gprec --json",
    "mcp": "mcp .",
    "vary": "vary k.ptx --vary max_registers=32 --jobs 1",
    "fidelity": "fidelity",
    "list": "list stalls",
    "explain": "explain wait",
    "help": "--help",
    "wrong": "report none.gprec",
}
PRINTS_NOTHING = ("run", "export", "wrong", "view", "bisect", "mcp")
FAIL = ("wrong", "view", "bisect")  # there is no project; view would serve until it is ended: tests/page tries that
NOTHING, FULL, UNREAD = None, "/dev/full", "pipe"
STREAMS = [
    {"stdin": NOTHING},
    {"stdout": NOTHING},
    {"stderr": NOTHING},
    {"stdout": NOTHING, "stderr": NOTHING},
    {"stdin": NOTHING, "stdout": NOTHING, "stderr": NOTHING},
    {"stdout": FULL},
    {"stderr": FULL},
    {"stdout": FULL, "stderr": FULL},
    {"stdout": UNREAD},
    {"stderr": UNREAD},
    {"stdout": UNREAD, "stderr": UNREAD},
]

pytestmark = pytest.mark.skipif(not usable(), reason="needs setpriv, to be an ordinary user")


@pytest.fixture(scope="module")
def server():
    with tempfile.TemporaryDirectory(prefix="gpuprof-test-") as name:
        started = Server(Path(name))
        write_files(started.folder / "k", {"k.ptx": KERNEL, "k.c": "int main(void) { return 0; }\n"})
        write_report(started.folder / "k" / "k.ncu-rep")
        give(started.folder)
        for line in (
            "collect k.ptx --period 32 --save-stream",
            "replay k.gprec --seed 1 -o other.gprec",
            "compile k.ptx",
        ):
            assert started.run(started.folder / "k", *line.split()).code == 0
        yield started
        started.close()


def test_every_command_is_tried():
    assert set(COMMANDS) < LINES.keys()


@pytest.mark.long
@pytest.mark.parametrize("name", LINES)
def test_streams_that_take_nothing(server, name):
    wrong = []
    for streams in STREAMS:
        for made in (server.folder / "k").glob("made.*"):
            made.unlink()
        done = server.run(server.folder / "k", *LINES[name].split(), **streams)
        code = 2 if name in FAIL else 1 if streams.get("stdout") == FULL and name not in PRINTS_NOTHING else 0
        made = [path.name for path in (server.folder / "k").glob("made.*") if path.stat().st_size]
        if (done.code, len(made), "Traceback" in done.error) != (code, LINES[name].count("made"), False):
            wrong.append((streams, done, made))
    assert not wrong


@pytest.mark.long
def test_what_was_to_go_to_stdout_is_not_lost_in_silence(server):
    done = server.run(server.folder / "k", *["export", "k.gprec", "-o", "-", "--format", "folded"], stdout=NOTHING)
    assert (done.code, done.error) == (
        2,
        "gpuprof: /dev/stdout: is not open for writing; redirect it to a file or a pipe\n",
    )
