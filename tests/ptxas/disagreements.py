"""Where ptxas and this assembler do not agree on what is PTX. `python -m tests.ptxas.disagreements SECONDS [SEED]`
prints the cases, most important first.

Kernels of one to three forms get one piece of grammatical damage, or none. What ptxas takes for sm_90a and is refused
here as malformed is a mistake; what ptxas refuses and is taken here is lenient: worth a look, by the kind of ptxas's
message.
"""

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from gpuprof.assemble import assemble as assembler
from gpuprof.errors import PtxError, UnsupportedInstruction
from tests.fuzz import ptx_grammar
from tests.support.nvidia_tools import PTXAS
from tests.support.ptx_support import ptx_module


def verdict_here(text: str) -> tuple[str, str]:
    try:
        assembler.assemble_program(ptx_module(text))
    except UnsupportedInstruction as error:
        return "unsupported", str(error).split("\n")[0]
    except PtxError as error:
        return "malformed", str(error).split("\n")[0]
    return "taken", ""


def verdict_of_ptxas(text: str, folder: Path) -> tuple[str, str]:
    path = folder / "k.ptx"
    path.write_text(text, encoding="utf-8", errors="replace")
    done = subprocess.run(
        [PTXAS, "-O0", "-arch=sm_90a", str(path), "-o", str(folder / "k.cubin")],
        capture_output=True,
        text=True,
        errors="replace",
    )
    if done.returncode == 0:
        return "taken", ""
    said = re.search(r"(?:line (\d+); )?(?:error|fatal)\s*:\s*(.*)", done.stderr)
    return "refused", f"k.ptx:{said[1]}: {said[2]}" if said else done.stderr[:200]


def case(rng: Random) -> str:
    family = rng.choice([family for name, family in ptx_grammar.families().items() if name != "modules"])
    text = family.module([rng.choice(family.forms) for _ in range(rng.choice((1, 2, 3)))])
    text = re.sub(r"\.version \S+", ".version 9.0", re.sub(r"\.target sm_\w+", ".target sm_90a", text))
    return text if rng.random() < 0.1 else rng.choice(ptx_grammar.DAMAGES)(text, "", rng)


def main(seconds: float, seed: int) -> None:
    stricter: dict[str, list[str]] = {}
    laxer: dict[str, list[str]] = {}
    number, end = 0, time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < end:
            text = case(Random(f"{seed}:{number}"))
            number += 1
            here, why = verdict_here(text)
            if here == "unsupported":
                continue
            there, said = verdict_of_ptxas(text, Path(folder))
            if (here == "malformed") == (there == "refused"):
                continue
            line = re.search(r"k.ptx:(\d+):", why or said)
            shown = text.split("\n")[int(line[1]) - 1].strip()[:200] if line else ""
            found = stricter if here == "malformed" else laxer
            kind = re.sub(r"'[^']*'", "X", re.sub(r"%?\w*\d+\w*", "N", re.sub(r"^\S+ ", "", why or said)))
            found.setdefault(kind, []).append(f"{shown}   # {why or said}")
    for title, found in (("taken by ptxas, refused here", stricter), ("refused by ptxas, taken here", laxer)):
        print(f"== {title}: {sum(map(len, found.values()))}")
        for kind, lines in sorted(found.items(), key=lambda item: -len(item[1])):
            print(f"{len(lines):5} {kind}")
            for line in lines[:6]:
                print(f"          {line}")
    print(f"{number} cases")


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
