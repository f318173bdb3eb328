"""A file of known findings to suppress: one per line, each with its reason.

# kind:path:line  reason, or kind:kernel:name  reason; * is any kind
out_of_bounds:src/tail.cu:41     reads one element ahead, and does not use it
*:kernel:histogram               is replaced next month
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath

from gpuprof.errors import UsageError
from gpuprof.trace.kernel import Kernel
from gpuprof.trace.tables import Finding

# The name of a kernel may have spaces in its template arguments.
NAME = r"[^\s<]+(?:<.*?>(?=\s+[^>\s]))?"
LINE = re.compile(rf"(?P<kind>[a-z][a-z0-9_]*|\*):(?P<path>[^:]+):(?P<last>{NAME})\s+(?P<reason>\S.*)")
NUMBER = re.compile(r"[0-9]{1,9}")


@dataclass(eq=False)
class Suppression:
    """`path` and `line`, or `kernel`. `used`: number of findings that it has matched."""

    text: str  # as written, without the reason
    number: int  # of its line
    kind: str
    path: str
    line: int
    kernel: str
    used: int = 0

    def meets(self, finding: Finding, kernel: Kernel) -> bool:
        if self.kind not in ("*", finding.kind):
            return False
        if self.kernel:
            return self.kernel in (kernel.name, kernel.symbol)
        return any(frame.line == self.line and _ends(frame.file, self.path) for frame in frames_of(kernel, finding.pc))


def parse(text: str, name: str) -> tuple[Suppression, ...]:
    """The suppressions of a file with this name. Raises UsageError for a malformed line."""
    return tuple(_parsed(text, name))


def _parsed(text: str, name: str) -> Iterator[Suppression]:
    for number, line in enumerate(text.splitlines(), 1):
        plain = line.strip()
        if not plain or plain.startswith("#"):
            continue
        match = LINE.fullmatch(plain)
        is_kernel = bool(match) and match["path"] == "kernel"
        if not match or not (is_kernel or NUMBER.fullmatch(match["last"])):
            raise UsageError(
                f"{name}:{number}: expected KIND:PATH:LINE REASON or KIND:kernel:NAME REASON, not {plain!r:.80}"
            )
        what = f"{match['kind']}:{match['path']}:{match['last']}"
        if is_kernel:
            yield Suppression(what, number, match["kind"], "", 0, match["last"])
        else:
            yield Suppression(what, number, match["kind"], match["path"], int(match["last"]), "")


def frames_of(kernel: Kernel, pc: int) -> Iterator:
    """Source positions of a code address, innermost first: its own, and the call sites that it was inlined at."""
    for instruction in kernel.instructions:
        if instruction.pc == pc:
            yield from instruction.frames


def _ends(path: str, with_: str) -> bool:
    """True if a path ends with the parts of another."""
    parts, suffix = PurePath(path).parts, PurePath(with_).parts
    return parts[-len(suffix) :] == suffix
