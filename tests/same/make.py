"""Makes the artefacts of a checkout: a folder for each sample and chip.

Those of a base are cached by its commit. Each checkout has its own samples, copied next to the artefacts, so that both
sides use the same relative paths.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from tests.paths import ROOT
from tests.same.plan import MUST_SUCCEED, Sample, commands_of

DRIVER = Path(__file__).with_name("driver.py")
# A loaded machine may take minutes to compile a program.
ENVIRONMENT = {"NO_COLOR": "1", "COLUMNS": "120", "GPUPROF_COMPILER_SECONDS": "3600"}
CODES, MADE = "codes.json", "made.json"


class Checkout(NamedTuple):
    """A folder with gpuprof/ and samples/. `commit` names what is cached of it; "" where it has changes."""

    folder: Path
    commit: str = ""


def base_checkout(base: str, scratch: Path) -> Checkout:
    """`base`: a folder, or a revision of this repository, which is then cloned into `scratch`."""
    if (Path(base) / "gpuprof").is_dir():
        folder = Path(base).resolve()
        return Checkout(folder, _clean_commit(folder))
    commit = _git(ROOT, "rev-parse", "--verify", f"{base}^{{commit}}")
    folder = scratch / "base"
    subprocess.run(["git", "clone", "-q", "--no-checkout", "--shared", ROOT, folder], check=True)
    _git(folder, "checkout", "-q", commit)
    return Checkout(folder, commit)


def _clean_commit(folder: Path) -> str:
    try:
        changes = _git(folder, "status", "--porcelain", "--", "gpuprof", "samples")
        return "" if changes else _git(folder, "rev-parse", "HEAD")
    except subprocess.CalledProcessError:  # no repository
        return ""


def _git(folder: Path, *arguments: str) -> str:
    result = subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return result.stdout.strip()


def made(checkout: Checkout, sample: Sample, chip: str, parent: Path) -> Path:
    """The folder of artefacts in `parent`, made unless the same commands of the same commit have made it before."""
    commands = commands_of(sample, chip)
    digest = hashlib.sha256(json.dumps(commands).encode()).hexdigest()[:12]
    name = f"{sample.name}-{chip}-{digest}"
    folder = parent / checkout.commit / name if checkout.commit else parent / name
    if not (folder / MADE).exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=folder.parent))
        _make(checkout, commands, unfinished)
        if failed(unfinished):  # perhaps for another reason than its code
            return unfinished
        try:
            unfinished.rename(folder)
        except OSError:  # another run has made the same meanwhile
            shutil.rmtree(unfinished)
    return folder


def failed(folder: Path) -> set[str]:
    """The commands that must succeed and did not."""
    codes = json.loads((folder / CODES).read_text())
    return {name for name in MUST_SUCCEED & codes.keys() if codes[name]}


def folders_of(made_folder: Path) -> tuple[tuple[str, str], ...]:
    """The folders of this machine that may be in the artefacts, longest first, and what replaces them."""
    facts = json.loads((made_folder / MADE).read_text())
    pairs = [(facts["folder"], "<here>"), (facts["checkout"], "<checkout>")]
    return tuple(sorted(pairs, key=lambda pair: -len(pair[0])))


def _make(checkout: Checkout, commands: dict[str, list[str]], folder: Path) -> None:
    shutil.copytree(checkout.folder / "samples", folder / "samples", ignore=shutil.ignore_patterns("__pycache__"))
    facts = {
        "folder": str(folder),
        "checkout": str(checkout.folder),
        "commands": commands,
        "required": sorted(MUST_SUCCEED),
    }
    plan = folder / "plan.json"
    plan.write_text(json.dumps(facts))
    environment = os.environ | ENVIRONMENT | {"PYTHONPATH": str(checkout.folder)}
    result = subprocess.run(
        [sys.executable, "-P", str(DRIVER), plan.name],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if result.returncode:
        raise RuntimeError(f"{folder}: {result.stderr or result.stdout}")
    shutil.rmtree(folder / "samples")
    (folder / MADE).write_text(json.dumps(facts))
