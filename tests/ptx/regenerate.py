"""Makes tests/ptx/nvcc again: `python -m tests.ptx.regenerate`, where nvcc is installed. Each file's first line holds
the digest of its source.
"""

import hashlib
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.support.host_oracle import nvcc

KERNELS = Path(__file__).parents[1] / "kernels"
STORED = Path(__file__).parent / "nvcc"
TOOLKIT = Path(__file__).parents[1] / "toolkit" / "toolkit.cu"
FILES = ("atomics", "calls", "flow", "halves", "newer", "places", "services", "warps")


def heading(source: Path) -> str:
    """What a stored file begins with."""
    return f"// of {source.name}, sha256 {hashlib.sha256(source.read_bytes()).hexdigest()}\n"


def main():
    STORED.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder:
        for source in (*(KERNELS / f"{file}.cu" for file in FILES), TOOLKIT):
            ptx = nvcc(source, Path(folder), "-fmad=false").read_text()
            # Places of the machine that made it say nothing to others.
            lines = [
                line
                for line in ptx.splitlines()
                if not line.lstrip().startswith((".file\t", ".file ", ".loc\t", ".loc "))
            ]
            (STORED / f"{source.stem}.ptx").write_text(heading(source) + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
