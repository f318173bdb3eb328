"""Forms of CUDA C++ that programs have, each a few lines, with nvcc's verdict: `forms/*.cu`, `verdicts.csv`.

A form begins with the line "// form NAME -> OUTPUT", or "// form NAME" where nvcc refuses it. It defines RUN, the
host function; `out` is managed memory, and `show()` waits and prints its first number.
"""

import csv
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
FORMS, VERDICTS = HERE / "forms", HERE / "verdicts.csv"
COLUMNS = ("form", "verdict", "diagnostics")

HEADING = re.compile(r"^// form (\w+)(?: -> (.*))?\n", re.M)
INCLUDE = re.compile(r"^#include .*\n", re.M)
HEAD = """\
#include <cstdio>
#include <cuda_runtime.h>
static int *out;
static void show() { cudaDeviceSynchronize(); printf("%d\\n", *out); }
#define RUN static void run()
"""
ALLOCATION = "cudaMallocManaged(&out, 1024);"


class Form(NamedTuple):
    """`output` is None where nvcc refuses the form. `line`: of its text in `file`."""

    name: str
    file: str
    output: str | None
    text: str
    line: int

    @property
    def program(self) -> str:
        """The form as a program of its own."""
        return f"{HEAD}{self.text}\nint main() {{ {ALLOCATION} run(); return 0; }}\n"


class Verdict(NamedTuple):
    """nvcc's verdict: accepts, warns or rejects. `diagnostics`: the numbers of its warnings, or its first error."""

    form: str
    verdict: str
    diagnostics: str


def read_forms() -> list[Form]:
    """Every form, in the order of the files."""
    forms = []
    for path in sorted(FORMS.glob("*.cu")):
        text = path.read_text(encoding="utf-8")
        headings = [*HEADING.finditer(text)]
        for heading, end in zip(headings, [*(each.start() for each in headings[1:]), len(text)], strict=True):
            line = text.count("\n", 0, heading.end()) + 1
            forms.append(Form(heading[1], path.name, heading[2], text[heading.end() : end], line))
    return forms


def read_verdicts() -> dict[str, Verdict]:
    """The stored verdict of each form, by its name."""
    with VERDICTS.open(newline="", encoding="utf-8") as lines:
        return {row["form"]: Verdict(**row) for row in csv.DictReader(lines)}


def joined(forms: Iterable[Form]) -> str:
    """One program of several forms, each in a namespace of its own. What they include comes first."""
    forms = list(forms)
    includes = "".join(dict.fromkeys(line for form in forms for line in INCLUDE.findall(form.text)))
    parts = [f"namespace form_{form.name} {{\n" + INCLUDE.sub("\n", form.text) + "}\n" for form in forms]
    calls = " ".join(f"form_{form.name}::run();" for form in forms)
    return f"{includes}{HEAD}{''.join(parts)}int main() {{ {ALLOCATION} {calls} return 0; }}\n"
