"""Outputs never destroy: every output option of every command, with every type of file, as an ordinary user in a folder
of its own.
"""

import os
import shutil
import tempfile
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np
import pytest

from gpuprof.base.output_claims import claimed
from gpuprof.base.output_targets import target_of
from gpuprof.cli.main import COMMANDS
from gpuprof.cli.options.option_reference import options, section
from gpuprof.cli.options.outputs import OutputPath
from gpuprof.cli.options.value_types import InputPath
from tests.paths import DOCS
from tests.support.command import write_files
from tests.support.forked import Done, Server, give, usable
from tests.support.ncu_report import write_report
from tests.support.output_places import PLACES, WRITTEN, Given
from tests.support.program_recording import write_program

KERNEL = """\
.version 8.0
.target sm_80
.address_size 64
// LAUNCH: k<<<2, 64>>>()
.visible .entry k()
{
    .reg .b32 %r<3>;
    mov.u32 %r1, %tid.x;
    add.u32 %r2, %r1, 1;
    bar.sync 0;
    ret;
}
"""
REQUIRE = "k.gprec --require findings<=0"
CUDA = "__global__ void k(int *x) { x[0] = 1; }\n"


class Case(NamedTuple):
    """How an output option is given. `reads`: a file that the command reads, and must not replace."""

    arguments: str
    name: str
    reads: str
    is_text: bool = False
    prefix: str = ""  # of the output's name


# Command and option -> the ways to write with it, one for each kind of file.
CASES = {
    ("init", "-o"): (Case(". -o", "out.toml", "k.ptx"),),
    ("compile", "-o"): (
        Case("k.ptx -o", "out.gpubin", "k.ptx"),
        Case("k.cu --emit ptx -o", "out.ptx", "k.cu", is_text=True),
    ),
    ("collect", "-o"): (Case("k.ptx --period 32 -o", "out.gprec", "k.ptx"),),
    ("collect", "--save"): (
        Case("k.cu --launch k<<<1,1>>>(x:i32[4]=in.npy) -o /dev/null --save", "out.npy", "in.npy", prefix="x="),
    ),
    ("replay", "-o"): (Case("k.gprec -o", "out.gprec", "k.gprec"),),
    # one that may be written over stands in a test of its own
    ("merge", "-o"): (Case("k.gprec other.gprec -o", "out.gprec", ""),),
    ("correlate", "-o"): (Case("k.gprec -o", "out.gpudb", "k.gprec"),),
    ("advise", "-o"): (Case("k.gprec -o", "out.gpudb", "k.gprec"),),
    ("whatif", "-o"): (Case("k.gprec -o", "out.gpudb", "k.gprec"),),
    ("advise", "--traces"): (Case("k.gprec --traces", "out.gptrace", "k.gprec"),),
    ("whatif", "--traces"): (Case("k.gprec --traces", "out.gptrace", "k.gprec"),),
    ("sweep", "--traces"): (Case("k.ptx --jobs 1 --traces", "out.gptrace", "k.ptx"),),
    ("import", "-o"): (Case("k.ncu-rep -o", "out.gpudb", "k.ncu-rep"),),
    ("report", "-o"): (Case("k.gprec --format html -o", "out.html", "k.gprec"),),
    ("report", "--html"): (Case("k.gprec --html", "out.html", "k.gprec"),),
    ("export", "-o"): (
        Case("k.gprec -o", "out.folded", "k.gprec", is_text=True),
        Case("k.gprec -o", "out.pb.gz", "k.gprec"),
        Case("k.gprec -o", "out.speedscope.json", "k.gprec", is_text=True),
        Case("k.gprec -o", "out.callgrind", "k.gprec", is_text=True),
        Case("k.gprec -o", "out.firefox.json", "k.gprec", is_text=True),
        Case("k.gprec -o", "out.hatchet.json", "k.gprec", is_text=True),
        Case("k.gprec -o", "out.flame.svg", "k.gprec", is_text=True),
        Case("k.gprec --against other.gprec -o", "out.difference.svg", "other.gprec", is_text=True),
        Case("k.gprec -o", "out.pftrace", "k.gprec"),
        Case("k.gprec -o", "out.trace.json", "k.gprec", is_text=True),
        Case("k.gprec -o", "out.source.csv", "k.gprec", is_text=True),
        Case("k.gprec -o", "out.details.csv", "k.gprec", is_text=True),
        Case("k.gprec -o", "out.raw.csv", "k.gprec", is_text=True),
        Case("program.gprec -o", "out.cuda_gpu_kern_sum.csv", "program.gprec", is_text=True),
        Case("program.gprec -o", "out.cuda_gpu_mem_time_sum.csv", "program.gprec", is_text=True),
        Case("program.gprec -o", "out.cuda_gpu_mem_size_sum.csv", "program.gprec", is_text=True),
        Case("program.gprec -o", "out.cuda_api_sum.csv", "program.gprec", is_text=True),
        Case("program.gprec -o", "out.cuda_gpu_trace.csv", "program.gprec", is_text=True),
        Case("program.gprec -o", "out.cuda_kern_exec_trace.csv", "program.gprec", is_text=True),
        Case("k.gprec -o", "out.openmetrics", "k.gprec", is_text=True),
        Case("k.gprec -o", "out.md", "k.gprec", is_text=True),
        Case("k.gprec --against other.gprec -o", "out.comparison.md", "other.gprec", is_text=True),
        Case("k.gprec -o", "out.dot", "k.gprec", is_text=True),
        Case("k.gprec -o", "out.cfg.svg", "k.gprec", is_text=True),
        Case("k.gprec -o", "out.relations.dot", "k.gprec", is_text=True),
        Case("k.gprec -o", "out.relations.csv", "k.gprec", is_text=True),
    ),
    ("diff", "-o"): (
        Case("k.gprec other.gprec -o", "out.txt", "k.gprec", is_text=True),
        Case("k.gprec other.gprec -o", "out.json", "other.gprec", is_text=True),
        Case("k.gprec other.gprec -o", "out.md", "k.gprec", is_text=True),
        Case("k.gprec other.gprec -o", "out.html", "other.gprec"),
    ),
    ("check", "--baseline"): (Case("k.gprec --update --baseline", "out.txt", "k.gprec"),),
    ("check", "--output"): (
        Case(f"{REQUIRE} --output", "out.txt", "k.gprec", is_text=True, prefix="text="),
        Case(f"{REQUIRE} --output", "out.json", "k.gprec", prefix="json="),
        Case(f"{REQUIRE} --output", "out.md", "k.gprec", prefix="markdown="),
        Case(f"{REQUIRE} --output", "out.xml", "k.gprec", prefix="junit="),
        Case(f"{REQUIRE} --output", "out.log", "k.gprec", is_text=True, prefix="github="),
        Case(f"{REQUIRE} --output", "out.json", "k.gprec", is_text=True, prefix="gitlab="),
        Case(f"{REQUIRE} --output", "out.sarif", "k.gprec", prefix="sarif="),
        Case(f"{REQUIRE} --output", "out.json", "k.gprec", is_text=True, prefix="benchmark="),
    ),
    ("sweep", "-o"): (
        Case("k.ptx --jobs 1 -o", "out.csv", "k.ptx", is_text=True),
        Case("k.ptx --jobs 1 -o", "out.json", "k.ptx", is_text=True),
        Case("k.ptx --jobs 1 -o", "out.sqlite", "k.ptx"),
    ),
    ("sweep", "--plot"): (
        Case("k.ptx --jobs 1 --plot", "out.png", "k.ptx"),
        Case("k.ptx --jobs 1 --plot", "out.svg", "k.ptx", is_text=True),
    ),
}
EACH = [
    pytest.param(command, case, id=f"{command} {case.name}") for (command, _), cases in CASES.items() for case in cases
]
pytestmark = pytest.mark.skipif(not usable(), reason="needs setpriv, to be an ordinary user")


@pytest.fixture(scope="module")
def server():
    with tempfile.TemporaryDirectory(prefix="gpuprof-test-") as folder:
        started = Server(Path(folder))
        write_files(started.folder / "inputs", {"k.ptx": KERNEL, "k.cu": CUDA})
        write_report(started.folder / "inputs" / "k.ncu-rep")
        write_program(started.folder / "inputs" / "program.gprec")
        np.save(started.folder / "inputs" / "in.npy", np.arange(4, dtype=np.int32))
        give(started.folder)
        for command in (
            "collect k.ptx --period 32 --save-stream --trace graph -o k.gprec",
            "replay k.gprec --seed 1 -o other.gprec",
        ):
            done = started.run(started.folder / "inputs", *command.split())
            assert done.code == 0, done
        yield started
        started.close()


def prepared(server: Server, folder: Path) -> Path:
    shutil.copytree(server.folder / "inputs", folder, dirs_exist_ok=True)
    give(folder)
    return folder


def test_every_output_option_is_tried():
    assert {(command, option.opts[0]) for command, option in options()} == CASES.keys()
    for command, option in options():
        tried = [Path(case.name).suffix for case in CASES[command, option.opts[0]]]
        assert len(tried) == len(option.type.kinds)


def test_every_path_is_read_or_an_output():
    """A new option that names a file has to say which."""
    for name in COMMANDS:
        for parameter in import_module(f"gpuprof.cli.{name}").command.params:
            if isinstance(parameter.type, click.Path) and not isinstance(parameter.type, OutputPath | InputPath):
                assert isinstance(parameter, click.Argument), (name, parameter.name)


def test_the_page_says_what_the_table_says():
    page = (DOCS / "security.md").read_text()
    assert page[page.index(section().partition("\n")[0]) :] == section()


@pytest.mark.long
@pytest.mark.parametrize("command, case", EACH)
def test_every_type_of_file(server, command, case):
    own = own_file(server, command, case)
    wrong = []
    for name, place in PLACES.items():
        if (not case.reads and "what_is_read" in name) or (case.is_text and name == "foreign_file"):
            continue
        for flag, outcome in (((), place.outcome), (("--force",), place.with_force)):
            with tempfile.TemporaryDirectory(dir=server.folder) as made:
                given = Given(prepared(server, Path(made)), case.name, own, Path(made, case.reads))
                other_name = place.make(given)
                give(given.folder)
                output = case.name if other_name is None else other_name
                before = state_of(given.folder)
                done = server.run(given.folder, command, *case.arguments.split(), case.prefix + output, *flag)
                fault = fault_of(done, before, state_of(given.folder), outcome, own)
                if fault:
                    wrong.append((name, flag, fault, done))
    assert not [(name, flag, fault, done.error) for name, flag, fault, done in wrong]


def own_file(server: Server, command: str, case: Case) -> bytes:
    """What the command writes where nothing was."""
    with tempfile.TemporaryDirectory(dir=server.folder) as made:
        done = server.run(prepared(server, Path(made)), command, *case.arguments.split(), case.prefix + case.name)
        assert done.code == 0, done
        return Path(made, case.name).read_bytes()


def state_of(folder: Path) -> dict[str, tuple]:
    """name -> its type, what a link says, what a file holds."""
    state = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        state[str(path.relative_to(folder))] = (
            oct(status.st_mode), os.readlink(path) if path.is_symlink() else "", content,
        )  # fmt: skip
    return state


def fault_of(done: Done, before: dict, after: dict, outcome: str, own: bytes) -> str:
    """What is wrong; "" for nothing."""
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    if outcome == WRITTEN:
        if done.code != 0:
            return "fails"
        if any(name not in after or before.get(name, ("", "", b""))[1] != after[name][1] for name in changed):
            return f"replaces a link, or removes: {changed}"
        made = {name for name in changed if not name.endswith(".old")}
        if len(made) > 1 or any(after[name][2][:4] != own[:4] for name in made):
            return f"writes something else: {changed}"
        return ""
    if changed:
        return f"changes {changed}"
    if done.code not in (1, 2) or not done.error.startswith("gpuprof: ") or done.error.count("\n") != 1:
        return "is not refused in one line"
    return ""


# stdout, and two at once.


@pytest.mark.long
@pytest.mark.parametrize(
    "command, printed",
    [
        ("compile k.ptx", "k: "),
        ("collect k.ptx --period 32", "k<<<2, 64>>>"),
        ("merge k.gprec other.gprec", "28 samples"),
        ("correlate k.gprec", "/dev/stdout: 1 launch"),
        ("check k.gprec --update", "/dev/stdout: baseline of 1 launch written"),
    ],
)
def test_an_output_that_is_stdout(server, command, printed):
    """It has the bytes of the file, and what is printed else goes to stderr."""
    option = "--baseline" if "--update" in command else "-o"
    with tempfile.TemporaryDirectory(dir=server.folder) as made:
        folder = prepared(server, Path(made))
        arguments = command.split()
        assert server.run(folder, *arguments, option, "made").code == 0
        done = server.run(folder, *arguments, option, "/dev/stdout", stdout=str(folder / "piped"))
        assert done.code == 0 and done.error.startswith(printed), done
        assert (folder / "piped").read_bytes() == (folder / "made").read_bytes()


@pytest.mark.long
@pytest.mark.parametrize("command", ["collect k.ptx -o out.gprec", "sweep k.ptx --jobs 1 -o out.csv"])
def test_a_second_run_with_the_same_output(server, command):
    with tempfile.TemporaryDirectory(dir=server.folder) as made:
        folder = prepared(server, Path(made))
        output = command.split()[-1]
        with claimed(target_of(folder / output)):
            give(folder)
            error = f"gpuprof: {output}: another gpuprof is writing it; wait until it ends, or give another name\n"
            assert server.run(folder, *command.split()) == (2, "", error)
        assert server.run(folder, *command.split()).code == 0
