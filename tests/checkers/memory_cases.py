"""memcheck's planted errors, by kind, space, operation, width and distance, and their clean twins: each a kernel, how
its arrays lie, and how many accesses go wrong.
"""

from typing import NamedTuple

from gpuprof.trace.tables import Finding
from tests.support.planted import Planted

TYPES = {1: "unsigned char", 2: "unsigned short", 4: "unsigned", 8: "unsigned long long", 16: "uint4"}
N = 96  # threads
OWN = 8  # elements of a thread's local array
FAR = 100_000  # elements: beyond all local memory
WIDTHS = {"load": (1, 2, 4, 8, 16), "store": (1, 2, 4, 8, 16), "atomic": (4, 8), "reduction": (4, 8)}
ACTS = {
    "load": "y[t] = {place};",
    "store": "{place} = {value};",
    "atomic": "y[t] = atomicAdd(&({place}), ({of})7);",
    "reduction": "atomicAdd(&({place}), ({of})7);",
}
# Of each space, a kernel's body around its access to `place`, where `at` is element t + ahead.
BODIES = {
    "global": ("x[at]", "{act}"),
    "shared": ("s[at]", "__shared__ {of} s[96]; s[t] = x[t]; __syncthreads(); {act} __syncthreads(); x[t] = s[t];"),
    "local": (
        "own[at]",
        "{of} own[8]; for (int k = 0; k < 8; k++) own[k] = x[(t + k) % 96]; at = t % 8 + at - t; {act} "
        "for (int k = 0; k < 8; k++) x[t] = own[(t + k) % 8];",
    ),
}


class Case(NamedTuple):
    """Threads access element t + `ahead` of an array of N, or of OWN, and `shift` bytes behind it. `pointer`: what the
    first argument is.
    """

    kind: str  # "" of a clean twin
    space: str
    operation: str
    nbytes: int
    ahead: int = 0
    shift: int = 0
    pointer: str = "array"  # "null", "freed", "constant"

    @property
    def name(self) -> str:
        ahead = f"m{-self.ahead}" if self.ahead < 0 else f"p{self.ahead}"
        return f"{self.pointer}_{self.space}_{self.operation}_{self.nbytes}_{ahead}_{self.shift}"

    @property
    def wrong(self) -> int:
        """Accesses that are told."""
        if self.kind != "out_of_bounds" or self.space == "local":
            return N if self.kind else 0
        return min(abs(self.ahead), N)

    @property
    def first_wrong(self) -> int:
        """The thread that is told."""
        return N - self.ahead if self.kind == "out_of_bounds" and 0 < self.ahead < N else 0

    @property
    def source(self) -> str:
        of = TYPES[self.nbytes]
        place, body = BODIES[self.space]
        # By way of a variable: clang knows how an element of an array is aligned, and makes several narrow accesses.
        before = f"{of} *p = ({of} *)((char *)&{place} + shift); " if self.shift else ""
        value = "make_uint4(1, 2, 3, 4)" if self.nbytes == 16 else "7"
        act = before + ACTS[self.operation].format(place="*p" if self.shift else place, value=value, of=of)
        # Distances are parameters: what is known to be wrong may be made anything.
        return (
            f'extern "C" __global__ void {self.name}({of} *x, {of} *y, int ahead, int shift) '
            f"{{ int t = threadIdx.x, at = t + ahead; {body.format(of=of, act=act)} }}\n"
        )


def _matrix(kind: str, space: str, **more) -> list[Case]:
    return [Case(kind, space, operation, nbytes, **more) for operation, widths in WIDTHS.items() for nbytes in widths]


def _misaligned(space: str) -> list[Case]:
    return [
        each._replace(shift=shift)
        for each in _matrix("misaligned", space)
        for shift in sorted({1, each.nbytes // 2})
        if each.nbytes > 1
    ]


CASES = [
    *(case for space in ("global", "shared") for case in _matrix("", space)),
    *(case for space in ("global", "shared") for ahead in (1, -1, 40, 2000)
      for case in _matrix("out_of_bounds", space, ahead=ahead)),
    *(each for each in _matrix("", "local") if each.operation in ("load", "store")),
    *(each for ahead in (FAR, -FAR) for each in _matrix("out_of_bounds", "local", ahead=ahead)
      if each.operation in ("load", "store")),
    *_misaligned("global"),
    *_misaligned("shared"),
    *(case for ahead in (0, 300) for case in _matrix("null_pointer", "global", ahead=ahead, pointer="null")),
    *_matrix("use_after_free", "global", pointer="freed"),
    *(each for each in _matrix("constant_write", "global", pointer="constant") if each.operation != "load"),
    *(each for each in _matrix("", "global", pointer="constant") if each.operation == "load"),
]  # fmt: skip


def source_of(cases: list[Case]) -> str:
    return f"__constant__ uint4 table[{N}];\n" + "".join(case.source for case in cases)


def run(planted: Planted, case: Case) -> list[Finding]:
    """What memcheck finds in a case. `planted`: has `source_of` it."""
    x, y = planted.array(N * case.nbytes), planted.array(N * case.nbytes)
    first = {"array": x, "freed": x, "null": 0, "constant": planted.module.symbol("table")}[case.pointer]
    if case.pointer == "freed":
        x.free()
    return planted.run(case.name, 1, N, first, y, case.ahead, case.shift)
