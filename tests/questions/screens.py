"""The first screen about a kernel of this folder, as its parts."""

import re
import shutil
from pathlib import Path
from typing import NamedTuple

from tests.support.command import gpuprof, process

FOLDER = Path(__file__).parent
SMALL = "small.toml"  # an A100 of two SMs, which small grids fill


class Screen(NamedTuple):
    """What the summary says of one kernel."""

    cycles: int
    facts: dict[str, str]  # by label; the first of several
    advice: tuple[str, ...]  # in its order, without numbers

    def percent(self, fact: str, name: str) -> float:
        """ "L1 hits 98.4%" of the fact `caches`."""
        found = re.search(rf"{name} ([\d.]+)%", self.facts[fact])
        assert found, self.facts
        return float(found[1])


def screens(folder: Path, name: str, *flags: str) -> dict[str, Screen]:
    """Collects NAME with these flags, in a folder of the test, and reads the summary: a screen for each kernel, and
    under "" the page's head.
    """
    for path in FOLDER.glob("*.*"):
        if path.suffix == ".cu" or path.name == name:
            shutil.copy(path, folder)
    (folder / SMALL).write_text('inherits = "a100"\nsms = 2\n')
    code, _, error = gpuprof(folder, "collect", name, "-o", "q.gprec", *flags)
    assert code == 0, error
    code, out, error = gpuprof(folder, "report", "q.gprec", "--page", "summary")
    assert code == 0, error
    head, *blocks = re.split(r"\n\n(?=# \w+\n)", out)
    found = {block.split("\n", 1)[0].removeprefix("# "): screen(block) for block in blocks}
    return {"": screen(head), **found}


def screen(block: str) -> Screen:
    facts: dict[str, str] = {}
    for line in re.findall(r"^# ([a-z][a-z0-9 ]{10}.*)$", block, re.MULTILINE):
        facts.setdefault(line[:11].strip(), line[11:])
    cycles = re.search(r"([\d,]+) cycles", facts.get("time", "0 cycles"))
    assert cycles, block
    advice = re.findall(r"^# \d+\. (.*)$", block, re.MULTILINE)
    return Screen(int(cycles[1].replace(",", "")), facts, tuple(advice))


def printed(folder: Path, name: str, *arguments: str, chip: str = "a100") -> str:
    """What a whole program prints, with these arguments."""
    shutil.copy(FOLDER / name, folder)
    code, out, error = process(folder, "run", "--chip", chip, name, "--", *arguments)
    assert code == 0, error
    return out
