"""The commands of the pages and what they print. `python -m tests.house.readme` writes the pages anew with the output
of this tree.

A fenced block of language `console` holds commands after "$ " and their output (stdout and stderr together). A line
"..." in the output stands for any lines. The commands of a page run one after the other in one folder that has the
samples.

The table of docs/speed.md is what `make bench` last wrote into build/bench.json.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from tests.paths import DOCS, ROOT

README = ROOT / "README.md"
PAGES = (
    README,
    *(
        DOCS / f"{name}.md"
        for name in ("launches", "python-api", "interop", "sweep", "export", "check", "ci", "diff", "pytest")
    ),
)
OF_PROJECT = ("ci.md", "pytest.md")  # pages whose commands run in a copy of the sample project, each in its own
SPEED = DOCS / "speed.md"
FIGURES = ROOT / "build" / "bench.json"
COMPILERS = {"triton_": ("triton", "3.9."), "numba_": ("numba-cuda", "0.30.")}  # word in a command -> what it runs
_TABLE = re.compile(r"(?<=<!-- bench -->\n).*?(?=<!-- /bench -->)", re.DOTALL)
_BLOCK = re.compile(r"(?<=```console\n).*?(?=```)", re.DOTALL)
# A line of progress, which comes when a step takes long: on this machine, and not on every other.
_PROGRESS = re.compile(
    r"^gpuprof: (?:run \d+ of \d+: )?(?:(?:compiling|assembling) |.*: [\d,]+ of [\d,]+ blocks).*\n", re.M
)


class Step(NamedTuple):
    command: str
    output: str


def steps_of(block: str) -> list[Step]:
    """The commands of one console block, each with the output written below it."""
    parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)
    return [Step(command, output) for command, output in zip(parts[1::2], parts[2::2], strict=True)]


def steps_on(page: Path) -> list[Step]:
    return [step for block in _BLOCK.findall(page.read_text()) for step in steps_of(block)]


def missing(command: str) -> str:
    """The compiler that a command needs and that is not installed, in the version that the pages were written with; ""
    when nothing is missing.
    """
    for word, (package, version) in COMPILERS.items():
        if word in command and not _version_of(package).startswith(version):
            return f"{package} {version}"
    return ""


def _version_of(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def run(command: str, folder: Path) -> str:
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "COLUMNS": "80",
        "LC_ALL": "C.UTF-8",
    }
    # Triton 3.9 warns of a new default when it is not told
    # progress would be shown on a slow machine only
    environment |= {"PYTHONPATH": str(ROOT), "TRITON_DEFAULT_FP_FUSION": "1", "GPUPROF_PROGRESS": "off"}
    environment.pop("NO_COLOR", None)
    done = subprocess.run(
        command, shell=True, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    return _PROGRESS.sub("", done.stdout)


def prepare(folder: Path, page: Path = README) -> None:
    if page.name in OF_PROJECT:
        _copy_project(folder)
    else:
        (folder / "samples").symlink_to(ROOT / "samples")


def _copy_project(folder: Path) -> None:
    """The sample project as a repository of one commit. A comment with the folder's name keeps its runs apart from
    those of other copies: what was run before in this one is unchanged, and nothing else.
    """
    shutil.copytree(ROOT / "samples" / "project", folder, dirs_exist_ok=True)
    with open(folder / "kernels" / "transpose.cu", "a", encoding="utf-8") as kernel:
        kernel.write(f"// {folder}\n")
    who = ("-c", "user.name=a", "-c", "user.email=a")
    for words in (["init", "-q"], ["add", "-A"], [*who, "commit", "-q", "-m", "A first state"]):
        subprocess.run(["git", "-C", str(folder), *words], check=True)
    run("gpuprof check", folder)  # so that entries are kept, however slow this machine is


def matches(expected: str, printed: str) -> bool:
    """Whether the output is the expected one, where a line "..." stands for any lines."""
    pattern = "".join(
        r"(?:.*\n)*?" if line == "...\n" else re.escape(line) for line in expected.splitlines(keepends=True)
    )
    return re.fullmatch(pattern, printed) is not None


def write_anew() -> None:
    for page in PAGES:
        page.write_text(_with_output(page.read_text(), page))
    if FIGURES.exists():
        table = figures_table(json.loads(FIGURES.read_text()))
        SPEED.write_text(_TABLE.sub(lambda _: table, SPEED.read_text()))


def _with_output(text: str, page: Path) -> str:
    """A page with what its commands print now."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder, page)

        def block(match: re.Match) -> str:
            text = ""
            for step in steps_of(match.group()):
                if missing(step.command):
                    text += f"$ {step.command}\n{step.output}"
                    continue
                printed = run(step.command, folder)
                text += f"$ {step.command}\n" + (
                    step.output if "...\n" in step.output and matches(step.output, printed) else printed
                )
            return text

        return _BLOCK.sub(block, text)


def figures_table(figures: list[dict]) -> str:
    rows = [f"| `{row['name']}` | {row['value']:,.10g} {row['unit']} | {row['command']} |" for row in figures]
    return "\n".join(["| figure | median | command |", "|---|---|---|", *rows, ""])


if __name__ == "__main__":
    write_anew()
