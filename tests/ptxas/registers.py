"""What ptxas says about the registers of our kernels: writes tests/ptxas/registers.csv, run as `python -m
tests.ptxas.registers`.

The PTX is that of gpuprof's own front end. The file is for machines without ptxas, and fixes which version is compared
with.
"""

import csv
import re
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

from gpuprof.compile.cuda import compile_cuda
from tests.paths import SAMPLES, TESTS

TABLE = TESTS / "ptxas" / "registers.csv"
SOURCES = [*sorted(SAMPLES.glob("*.cu")), *sorted((TESTS / "register_kernels").glob("*.cu"))]
LIMITS = (0, 24, 32, 40, 64)  # of --max-registers; 0: none. ptxas refuses to go below 24 for sm_80
ENTRY = re.compile(r"Compiling entry function '([\w$]+)'.*?(\d+) bytes spill stores.*?Used (\d+) registers", re.S)


class Row(NamedTuple):
    source: str
    kernel: str
    limit: int
    registers: int
    spill_store_bytes: int


def read_table() -> list[Row]:
    with TABLE.open() as file:
        rows = csv.reader(line for line in file if not line.startswith("#"))
        return [Row(source, kernel, *map(int, numbers)) for source, kernel, *numbers in list(rows)[1:]]


def said_by_ptxas(source: Path, folder: Path) -> list[Row]:
    path = folder / f"{source.stem}.ptx"
    path.write_text(compile_cuda(source).ptx)
    rows = []
    for limit in LIMITS:
        given = [f"-maxrregcount={limit}"] if limit else []
        command = ["ptxas", "-v", "-arch=sm_80", *given, str(path), "-o", str(folder / "k.cubin")]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
        rows += [Row(source.name, name, limit, int(n), int(spilled)) for name, spilled, n in ENTRY.findall(said)]
    return sorted(rows)


def version() -> str:
    return (
        subprocess.run(["ptxas", "--version"], capture_output=True, text=True, check=True)
        .stdout.strip()
        .splitlines()[-2]
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, TABLE.open("w") as file:
        file.write(f"# ptxas -v -arch=sm_80 [-maxrregcount=LIMIT], {version()}; written by tests/ptxas/registers.py\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Row._fields)
        for source in SOURCES:
            writer.writerows(said_by_ptxas(source, Path(folder)))


if __name__ == "__main__":
    main()
