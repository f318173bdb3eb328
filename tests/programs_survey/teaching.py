"""`python -m tests.programs_survey.teaching FOLDER [FILE...]`: how single-file programs of teaching code build and run.

FOLDER holds the repositories of REPOSITORIES, a folder OWNER+NAME each; they are no part of this one. Of each one N
programs are drawn that nvcc 13 builds from one file. What is found is kept in FOLDER/teaching.json; name files to look
again. A program that prints numbers is judged by hand.
"""

import argparse
import json
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.programs_survey.arguments import known_arguments
from tests.programs_survey.draw import INCLUDED, library_of
from tests.programs_survey.judge import judge
from tests.programs_survey.limits import run_limited
from tests.programs_survey.makefile import LINKS_DEVICE
from tests.support.nvidia_tools import NVCC

REPOSITORIES = (
    "brucefan1983+CUDA-Programming",
    "Tony-Tan+CUDA_Freshman",
    "PacktPublishing+Learn-CUDA-Programming",
    "R100001+Programming-Massively-Parallel-Processors",
    "olcf+cuda-training-series",
)
KEPT = "teaching.json"
N_DRAWN = 12  # of a repository
STANDARD = "c++17"
SECONDS, GIB = 75, 16
MAIN = re.compile(r"\bmain\s*\(")
STATES = {"passes": "passes", "wrong": "wrong", "nothing": "prints", "usage": "no arguments", "memory": "needs memory"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("files", nargs="*", help="programs to look at again, in place of a draw")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    kept = given.folder / KEPT
    found: dict[str, Any] = json.loads(kept.read_text()) if kept.is_file() else {}
    drawn = given.files or [name for each in REPOSITORIES for name in _drawn(given.folder, each, given.seed, found)]
    for name in drawn:
        if given.files or "state" not in found.get(name, {}):
            found[name] = found.get(name, {}) | _looked_at(given.folder, name)
            print(f"{name}: {found[name]['state']}  {found[name]['cause']}", flush=True)
            kept.write_text(json.dumps(found, indent=1), encoding="utf-8")


def _drawn(folder: Path, repository: str, seed: int, found: dict[str, Any]) -> Iterator[str]:
    """The first N_DRAWN programs, in a random order, that nvcc builds."""
    names = sorted(str(path.relative_to(folder)) for path in (folder / repository).rglob("*.cu") if is_program(path))
    random.Random(seed).shuffle(names)
    n_built = 0
    for name in names:
        entry = found.setdefault(name, {})
        if "nvcc" not in entry:
            entry["nvcc"] = _nvcc_says(folder / name, folder / repository)
        if entry["nvcc"] == "":
            n_built += 1
            yield name
        if n_built == N_DRAWN:
            return


def is_program(path: Path) -> bool:
    text = path.read_text(encoding="utf-8", errors="replace")
    return bool(MAIN.search(text)) and not any(map(library_of, INCLUDED.findall(text)))


def _nvcc_says(path: Path, repository: Path) -> str:
    """nvcc's errors, "" for none."""
    with TemporaryDirectory() as folder:
        flags = [f"-I{each}" for each in include_dirs(path, repository)] + (["-rdc=true"] if _is_rdc(path) else [])
        command = [str(NVCC), f"-std={STANDARD}", "-arch=sm_80", "-w", *flags, str(path), "-o", f"{folder}/program"]
        done = subprocess.run([*command, "-lgomp"], capture_output=True, text=True)
    return (done.stdout + done.stderr)[:400] or "fails" if done.returncode else ""


def include_dirs(path: Path, repository: Path) -> list[Path]:
    """Folders of the repository that hold headers which are not beside the program, the nearest of each name."""
    text = path.read_text(encoding="utf-8", errors="replace")
    folders = [
        _nearest(path, repository, name) for name in INCLUDED.findall(text) if not (path.parent / name).is_file()
    ]
    return list(dict.fromkeys(each for each in folders if each is not None))


def _nearest(path: Path, repository: Path, name: str) -> Path | None:
    for folder in (each for each in path.parents if each.is_relative_to(repository)):
        if found := sorted(folder.rglob(Path(name).name)):
            return found[0].parents[len(Path(name).parts) - 1]
    return None


def _is_rdc(path: Path) -> bool:
    makefile = path.parent / "Makefile"
    return makefile.is_file() and bool(LINKS_DEVICE.search(makefile.read_text(errors="replace")))


def _looked_at(folder: Path, name: str) -> dict[str, Any]:
    path, repository = folder / name, folder / Path(name).parts[0]
    flags = [f"-I{each}" for each in include_dirs(path, repository)] + (["--rdc"] if _is_rdc(path) else [])
    flags.append(f"--std={STANDARD}")
    built = run_limited([sys.executable, "-m", "tests.programs_survey.build", *flags, path.name], path.parent, 240, GIB)
    if built.code != 0:
        return {"state": "does not build", "cause": built.output[-1500:], "build_s": built.seconds}
    command = [sys.executable, "-m", "gpuprof", "run", *flags, path.name, "--", *known_arguments().get(name, ())]
    ended = run_limited(command, path.parent, SECONDS, GIB)
    entry = {"build_s": built.seconds, "run_s": ended.seconds, "output": ended.output[:2000] + ended.output[-2000:]}
    if ended.code is None or ended.seconds > SECONDS:
        return entry | {"state": "time over", "cause": f"more than {SECONDS} s"}
    verdict = judge(ended.output, ended.code, GIB)
    return entry | {"state": STATES[verdict.says], "cause": verdict.line.strip()[:200]}


if __name__ == "__main__":
    main()
