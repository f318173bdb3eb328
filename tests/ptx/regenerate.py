"""Makes tests/ptx/nvcc again: `python -m tests.ptx.regenerate`, where nvcc is installed. Each file's first line holds the digest of its source."""

import hashlib
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.host_oracle import nvcc

KERNELS = Path(__file__).parents[1] / "kernels"
STORED = Path(__file__).parent / "nvcc"
FILES = ("atomics", "calls", "flow", "halves", "newer", "places", "services", "warps")


def heading(file: str) -> str:
    """What a stored file begins with."""
    return f"// of tests/kernels/{file}.cu, sha256 {hashlib.sha256((KERNELS / f'{file}.cu').read_bytes()).hexdigest()}\n"


def main():
    STORED.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder:
        for file in FILES:
            ptx = nvcc(KERNELS / f"{file}.cu", Path(folder), "-fmad=false").read_text()
            # Places of the machine that made it say nothing to others.
            lines = [line for line in ptx.splitlines() if not line.lstrip().startswith((".file\t", ".file ", ".loc\t", ".loc "))]
            (STORED / f"{file}.ptx").write_text(heading(file) + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
