"""Loops that LLVM has unrolled are unrolled no further.

LLVM does a loop of an unknown number of turns four turns at a time, and what is left over in a loop of its own. nvcc's
does, too, and counts in a way that ptxas does not see through, so ptxas leaves such a loop as it is. It sees through
this LLVM's, and would make sixteen turns of the four (ptxas 13.0). So the loop says that it is not to be unrolled:
LLVM writes `.pragma "nounroll"` in front of it.
"""

import re

# The branch at the end of such a loop: LLVM calls the turns so far niter, and their comparison niter.ncmp.
_END = re.compile(
    r"^  br i1 %\"?niter\.ncmp[\w.]*\"?, label [^,\n]+, label [^,\n]+(?P<rest>(?:, ![\w.]+ !\d+)*)$", re.MULTILINE
)
_LOOP = re.compile(r", !llvm\.loop !(\d+)")
_NUMBER = re.compile(r"^!(\d+) = ", re.MULTILINE)


def unroll_once(ir: str) -> str:
    """Optimized IR whose unrolled loops are marked."""
    ends = list(_END.finditer(ir))
    if not ends:
        return ir
    free = max(map(int, _NUMBER.findall(ir)), default=-1) + 1
    marked, place = [], 0
    for number, end in enumerate(ends):
        marked += [ir[place : end.start("rest")], _LOOP.sub("", end["rest"]), f", !llvm.loop !{free + 1 + number}"]
        place = end.end()
    lines = [f'!{free} = !{{!"llvm.loop.unroll.disable"}}']
    lines += [f"!{own} = distinct !{{!{own}, !{free}}}" for own in range(free + 1, free + 1 + len(ends))]
    return "".join([*marked, ir[place:].rstrip("\n"), "\n", "\n".join(lines), "\n"])
