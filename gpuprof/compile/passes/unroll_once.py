"""Loops that LLVM has unrolled are unrolled no further where nvcc's are not.

LLVM does a loop of an unknown number of turns four turns at a time, and what is left over in a loop of its own. nvcc's
does, too. ptxas makes sixteen turns of the four where it sees through the way in which nvcc's code counts. That is so
for a counter of 32 bits and signed indices. Where the counter has 64 bits, or an index is unsigned and may wrap around,
nvcc's code counts in a sum with another variable of the loop, and ptxas leaves the four (ptxas 13.0, the table of
loops in tests/ptxas/unrolled.py). It would see through this LLVM's, so the loop says that it is not to be
unrolled: LLVM writes `.pragma "nounroll"` in front of it.
"""

import re

# The branch at the end of such a loop: LLVM calls the turns so far niter, and their comparison niter.ncmp.
_END = re.compile(
    r"^  %\"?(?P<test>niter\.ncmp[\w.]*)\"? = icmp eq (?P<type>i\d+) .*\n"
    r"  br i1 %\"?(?P=test)\"?, label [^,\n]+, label %\"?(?P<start>[^,\"\n]+)\"?(?P<rest>(?:, ![\w.]+ !\d+)*)$",
    re.MULTILINE,
)
_LOOP = re.compile(r", !llvm\.loop !(\d+)")
_NUMBER = re.compile(r"^!(\d+) = ", re.MULTILINE)
_UNSIGNED_INDEX = re.compile(r" = zext i32 ")  # `zext nneg` is a signed one that is known not to be negative


def unroll_once(ir: str) -> str:
    """Optimized IR whose unrolled loops are marked where nvcc's stay as they are."""
    ends = [end for end in _END.finditer(ir) if _stays(ir, end)]
    if not ends:
        return ir
    free = max(map(int, _NUMBER.findall(ir)), default=-1) + 1
    marked, at = [], 0
    for number, end in enumerate(ends):
        marked += [ir[at : end.start("rest")], _LOOP.sub("", end["rest"]), f", !llvm.loop !{free + 1 + number}"]
        at = end.end()
    lines = [f'!{free} = !{{!"llvm.loop.unroll.disable"}}']
    lines += [f"!{own} = distinct !{{!{own}, !{free}}}" for own in range(free + 1, free + 1 + len(ends))]
    return "".join([*marked, ir[at:].rstrip("\n"), "\n", "\n".join(lines), "\n"])


def _stays(ir: str, end: re.Match[str]) -> bool:
    """True if ptxas leaves nvcc's code of the loop at four turns."""
    start = re.compile(rf'^"?{re.escape(end["start"])}"?:', re.MULTILINE)
    first = max((match.start() for match in start.finditer(ir, 0, end.start())), default=end.start())
    return end["type"] == "i64" or _UNSIGNED_INDEX.search(ir, first, end.start()) is not None
