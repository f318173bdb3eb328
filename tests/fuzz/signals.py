"""Signals at random moments of a run: what was there before is whole, or what came in its place is; what is promised
can be read; nothing is left over, not even by SIGKILL once the next run has ended.

`python -m tests.fuzz.signals N` sends N of each kind, and prints what it finds.
"""

import os
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from tests.paths import ROOT
from tests.support import recordings
from tests.support.command import PROGRAM, names, write_files

MOST_NBYTES = 8 << 30  # of address space
MOST_SECONDS = 300
WEAK = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
MARK = "GPUPROF_TESTED_WITH_SIGNALS"  # in the environment of a run and its children

KERNELS = """\
// LAUNCH: first<<<4, 64>>>(x: i32[256])
// LAUNCH: second<<<32, 128>>>(x)
// LAUNCH: first<<<8, 64>>>(x)
__global__ void first(int *x) { x[threadIdx.x] += blockIdx.x; }
__global__ void second(int *x)
{
    int s = 0;
    for (int i = 0; i < 600; i++) s = s * 3 + x[(i + threadIdx.x) & 255];
    x[threadIdx.x] = s;
}
"""


class Command(NamedTuple):
    """`words` write `output`. `files` are what stands there before, by the names of those that `prepare` makes."""

    words: str
    output: str
    files: dict[str, str]


COMMANDS = {
    "collect": Command(
        "collect k.cu -o out.gprec --period 64", "out.gprec", {"out.gprec": "old.gprec", "k.cu": "k.cu"}
    ),
    "correlate": Command(
        "correlate k.gprec -o out.gpudb", "out.gpudb", {"out.gpudb": "old.gpudb", "k.gprec": "whole.gprec"}
    ),
    "check": Command(
        "check k.gprec --baseline out.txt --update", "out.txt", {"out.txt": "old.txt", "k.gprec": "whole.gprec"}
    ),
    "passes": Command(
        "collect k.cu -o out.gprec --period 64 --passes 2", "out.gprec", {"out.gprec": "old.gprec", "k.cu": "k.cu"}
    ),
    "replay": Command(
        "replay k.gprec -o out.gprec", "out.gprec", {"out.gprec": "old.gprec", "k.gprec": "stream.gprec"}
    ),
    "merge": Command(
        "merge a.gprec b.gprec -o out.gprec", "out.gprec",
        {"out.gprec": "old.gprec", "a.gprec": "whole.gprec", "b.gprec": "seed.gprec"},
    ),
    "compile": Command("compile k.cu -o out.gpubin", "out.gpubin", {"out.gpubin": "old.gpubin", "k.cu": "k.cu"}),
    "sweep": Command(
        "sweep k.cu --param sms=2,3,4 --jobs 2 -o out.csv", "out.csv", {"out.csv": "old.csv", "k.cu": "k.cu"}
    ),
}  # fmt: skip
ASKED = ("collect", "correlate", "check")
# What is sent: one signal, or two, the second a moment after.
KINDS = {
    "SIGINT": (signal.SIGINT,),
    "SIGTERM": (signal.SIGTERM,),
    "SIGKILL": (signal.SIGKILL,),
    "SIGINT twice": (signal.SIGINT, signal.SIGINT),
    "SIGTERM and SIGINT": (signal.SIGTERM, signal.SIGINT),
}
ENDINGS = {signal.SIGINT: (130, "interrupted"), signal.SIGTERM: (143, "terminated")}
PROMISE = re.compile(r"can be read: gpuprof (report .*)")


class Ground(NamedTuple):
    """`files`: by name; `whole`: what each command writes; `seconds`: how long it takes."""

    files: dict[str, bytes]
    whole: dict[str, bytes]
    seconds: dict[str, float]


class Outcome(NamedTuple):
    code: int
    error: str
    is_outside: bool  # sent while Python started or ended: gpuprof looked after signals not yet, or no more


def run(folder: Path, *words: str) -> None:
    code, out, error = recordings.gpuprof(folder, *words)
    assert code == 0, (words, out, error)


def prepare(folder: Path, commands=tuple(COMMANDS)) -> Ground:
    """What the commands need, and what they write when nothing disturbs them."""
    write_files(folder, {"k.cu": KERNELS, "old.cu": "// LAUNCH: k<<<1, 32>>>()\n__global__ void k() {}\n"})
    for words in (
        "collect k.cu -o whole.gprec --period 64", "collect k.cu -o seed.gprec --period 64 --seed 1",
        "collect k.cu -o stream.gprec --save-stream", "collect old.cu -o old.gprec",
        "correlate old.gprec -o old.gpudb", "check old.gprec --baseline old.txt --update",
        "compile old.cu -o old.gpubin",
    ):  # fmt: skip
        run(folder, *words.split())
    (folder / "old.csv").write_text("an earlier table\n")
    files = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    whole, seconds = {}, {}
    for name in commands:
        place = placed(folder / f"whole {name}", name, files)
        begin = time.monotonic()
        code, error = start(place, name).wait(MOST_SECONDS), ""
        seconds[name] = time.monotonic() - begin
        assert code == 0, (name, error)
        whole[name] = (place / COMMANDS[name].output).read_bytes()
    return Ground(files, whole, seconds)


def placed(folder: Path, name: str, files: dict[str, bytes]) -> Path:
    """A folder in which the command can run."""
    (folder / "tmp").mkdir(parents=True)
    return write_files(folder, {here: files[there] for here, there in COMMANDS[name].files.items()})


def start(folder: Path, name: str) -> subprocess.Popen:
    """Compiles anew, as its cache is empty. Root goes without its powers, so that what stops others stops it."""
    settings = {"TMPDIR": str(folder / "tmp"), "GPUPROF_CACHE": str(folder / "tmp" / "cache"), MARK: str(folder)}
    weak = (
        ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 and shutil.which("setpriv") else []
    )
    with open(folder / "tmp" / "stderr", "wb") as error:
        return subprocess.Popen(
            [*weak, *PROGRAM, *COMMANDS[name].words.split()],
            cwd=folder, env=os.environ | settings | {"PYTHONPATH": str(ROOT)}, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=error, preexec_fn=_limit, start_new_session=True,
        )  # fmt: skip


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_NBYTES, MOST_NBYTES))
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.default_int_handler if each == signal.SIGINT else signal.SIG_DFL)


def disturbed(folder: Path, name: str, kind: str, moment: float, gap: float) -> Outcome:
    """Sends the signals of a kind, `moment` seconds after the start and then `gap` seconds apart."""
    process = start(folder, name)
    time.sleep(moment)
    is_outside = not catches(process.pid, KINDS[kind][0])
    for number in KINDS[kind]:
        with suppress(ProcessLookupError):
            process.send_signal(number)
        time.sleep(gap)
    code = process.wait(MOST_SECONDS)
    return Outcome(code, (folder / "tmp" / "stderr").read_text(errors="replace"), is_outside)


def catches(process: int, number: int) -> bool:
    """Whether gpuprof looks after signals in this process by now. It does for all from the same moment on, but Python
    itself looks after SIGINT.
    """
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except FileNotFoundError:
        return False
    caught = int(re.search(r"SigCgt:\s*(\w+)", status)[1], 16)
    return bool(caught >> (signal.SIGTERM - 1) & 1)


def judge(folder: Path, name: str, kind: str, ground: Ground, rng: random.Random) -> str:
    """The outcome in a word. Raises AssertionError."""
    command, old = COMMANDS[name], ground.files[COMMANDS[name].files[COMMANDS[name].output]]
    placed(folder, name, ground.files)
    moment = rng.uniform(0, 1.1) * ground.seconds[name]
    outcome = disturbed(folder, name, kind, moment, rng.uniform(0, 0.3))
    context = f"{name}, {kind} after {moment:.3f} s: exit code {outcome.code}, stderr {outcome.error!r}"
    wait_for_children(folder, context)
    killed = signal.SIGKILL in KINDS[kind]
    word = check_end(outcome, kind, context)
    check_promises(folder, outcome, context)
    word += check_output(folder, command, old, ground.whole[name], context)
    if killed:
        process = start(folder, name)
        assert process.wait(MOST_SECONDS) == 0, f"{context}; the next run ended otherwise"
        assert (folder / command.output).read_bytes() == ground.whole[name], f"{context}; the next run wrote otherwise"
    check_left(folder, command, context)
    return word


def check_end(outcome: Outcome, kind: str, context: str) -> str:
    if outcome.code == 0:
        return "had ended, "
    if kind == "SIGKILL":
        assert outcome.code == -signal.SIGKILL, context
        return "killed, "
    if outcome.is_outside:
        return "outside, "
    assert "Traceback" not in outcome.error and "Exception ignored" not in outcome.error, context
    if outcome.code < 0:  # Python's own end
        assert -outcome.code in KINDS[kind], context
        return "at its end, "
    endings = [ENDINGS[number] for number in KINDS[kind]]  # of two, Python may see the second first
    assert any(outcome.code == code and outcome.error.endswith(f"gpuprof: {word}\n") for code, word in endings), context
    return "stopped, "


def check_promises(folder: Path, outcome: Outcome, context: str) -> None:
    for words in PROMISE.findall(outcome.error):
        for also in (shlex.split(words), ["records", *shlex.split(words)[1:]]):
            code, _, error = recordings.gpuprof(folder, *also)
            assert code == 0, f"{context}; {also}: {error}"


def check_output(folder: Path, command: Command, old: bytes, whole: bytes, context: str) -> str:
    """What was there before is whole, or what came in its place; or it is aside, and a part of a recording came."""
    path = folder / command.output
    aside = path.with_name(f"{path.name}.old")
    if aside.exists():
        assert aside.read_bytes() == old, f"{context}; {aside.name} is not what was there"
    if not path.exists():
        assert aside.exists(), f"{context}; nothing is left of what was there"
        return "old, aside"
    now = path.read_bytes()
    if now in (old, whole):
        return "old" if now == old else "whole"
    assert aside.exists() and path.suffix == ".gprec", f"{context}; {path.name} is neither what was nor what was to be"
    code, _, error = recordings.gpuprof(folder, "report", path.name, "--page", "summary")
    assert code == 0, f"{context}; {error}"
    return "a part"


def check_left(folder: Path, command: Command, context: str) -> None:
    """Nothing but inputs, outputs and the cache of kernels, which is not looked into: it may keep what it has."""
    output = Path(command.output)
    expected = {*command.files, command.output, f"{output.name}.old", "tmp", "tmp/cache", "tmp/stderr"}
    expected.add(f"{output.stem}.partial{output.suffix}")  # a sweep's table of the runs that were done
    left = [name for name in names(folder) if name not in expected and not name.startswith("tmp/cache/")]
    assert left == [], f"{context}; left: {left}"
    half = [name for name in names(folder) if name.startswith("tmp/cache/") and "/." in name]
    assert half == [], f"{context}; left: {half}"


def wait_for_children(folder: Path, context: str) -> None:
    """Processes that a run has started end with it, or a moment after."""
    end = time.monotonic() + 10
    while alive := [number for number in processes() if started_by(number, folder)]:
        assert time.monotonic() < end, f"{context}; still running: {[words_of(number) for number in alive]}"
        time.sleep(0.05)


def processes() -> list[int]:
    return [int(path.name) for path in Path("/proc").glob("[0-9]*")]


def started_by(number: int, folder: Path) -> bool:
    with suppress(OSError):  # it is gone, or another user's
        return f"{MARK}={folder}\0".encode() in Path(f"/proc/{number}/environ").read_bytes()
    return False


def words_of(number: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{number}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return ""


def campaign(n_each: int, seed: int, commands, kinds, report: Callable[[str], None]) -> int:
    """Sends `n_each` of each kind, to the commands in turn. Gives the number of findings."""
    n_found = 0
    with tempfile.TemporaryDirectory() as name:
        ground = prepare(Path(name) / "ground", commands)
        for kind in kinds:
            words = Counter()
            for number in range(n_each):
                command = commands[number % len(commands)]
                place = Path(name) / f"{kind} {number}"
                try:
                    words[
                        f"{command}: {judge(place, command, kind, ground, random.Random(f'{seed} {kind} {number}'))}"
                    ] += 1
                except AssertionError as error:
                    n_found += 1
                    report(f"FOUND {number}: {error}")
                shutil.rmtree(place, ignore_errors=True)
            report(f"{kind}: {n_each} sent; {dict(sorted(words.items()))}")
    return n_found


def main(n_each: int, seed: int = 0, commands: str = ",".join(ASKED), kinds: str = "SIGINT,SIGTERM,SIGKILL") -> int:
    return campaign(n_each, seed, commands.split(","), kinds.split(","), lambda line: print(line, flush=True))


if __name__ == "__main__":
    number, *rest = sys.argv[1:]
    sys.exit(main(int(number), *map(int, rest[:1]), *rest[1:]) > 0)
