"""Atomics and reductions in memory."""

from collections.abc import Iterator

from gpuprof.isa.families.memory import LETTER_OF_SPACE
from gpuprof.isa.row import Opcode, row

ATOMIC_TYPES = {
    "ADD": ("u32", "u64", "f32", "f64", "f16x2", "bf16x2", "f16", "bf16"), "AND": ("b32", "b64"), "OR": ("b32", "b64"),
    "XOR": ("b32", "b64"), "MIN": ("s32", "u32", "s64", "u64"), "MAX": ("s32", "u32", "s64", "u64"),
    "INC": ("u32",), "DEC": ("u32",), "EXCH": ("b32", "b64", "b128"), "CAS": ("b32", "b64", "b16", "b128"),
}  # fmt: skip
# Global memory has vectors too, each element atomic by itself: of words, so that four f16 are V2.F16X2.
PAIRS = ("f16x2", "bf16x2")
VECTOR_TYPES = {"ADD": ("f32", *PAIRS), "MIN": PAIRS, "MAX": PAIRS}

# Shared-memory atomics the hardware does in one instruction; the others are compare-and-swap loops.
NATIVE_SHARED_ATOMICS = frozenset(
    [
        (op, t)
        for op in ("ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR", "EXCH", "CAS")
        for t in ("u32", "s32", "b32")
    ]
    + [("EXCH", "b64"), ("CAS", "b64")]
)
# One turn of such a loop (ptxas 13.0 for sm_80); 7 for those that were not measured.
SLOTS_OF_LOOP = {("ADD", "u64"): 9, ("ADD", "f64"): 8, **{(op, t): 10 for op in ("MIN", "MAX") for t in ("s64", "u64")}}


def type_atom_file(type_name: str) -> str:
    return {"64": "D", "28": "D2"}.get(type_name[-2:], "R")


def _nbytes(type_name: str) -> int:
    return {"f16": 2, "bf16": 2, "b16": 2, "b128": 16}.get(type_name) or (8 if type_atom_file(type_name) == "D" else 4)


def rows() -> Iterator[Opcode]:
    for space in ("global", "shared", "generic"):
        letter = LETTER_OF_SPACE[space]
        for op, types in ATOMIC_TYPES.items():
            for t in types:
                r = type_atom_file(t)
                form = f"A,{r},{r}" if op == "CAS" else f"A,{r}"
                slots = (
                    SLOTS_OF_LOOP.get((op, t), 7) if space == "shared" and (op, t) not in NATIVE_SHARED_ATOMICS else 1
                )
                latency = "atomic_shared" if space == "shared" else "atomic"
                common = {"fields": ("sem", "scope"), "slots": slots, "space": space, "nbytes": _nbytes(t)}
                yield row(
                    f"ATOM{letter}.{op}.{t}".upper(),
                    "atomic",
                    f"{r}={form}",
                    "lsu",
                    latency,
                    "atom_" + op.lower(),
                    t,
                    **common,
                )
                if op not in ("EXCH", "CAS"):
                    yield row(
                        f"RED{letter}.{op}.{t}".upper(),
                        "reduction",
                        f"={form}",
                        "lsu",
                        "store",
                        "red_" + op.lower(),
                        t,
                        **common,
                    )
        if space != "shared":
            yield from _vectors(space, letter)
        else:
            # A sum of ones, by a count of the lanes on each word (ATOMS.POPC.INC from sm_80 on).
            yield row("REDS.POPC.INC.U32", "reduction", "=A", "lsu", "store", "red_count", "u32",
                      fields=("sem", "scope"), space=space, nbytes=4)  # fmt: skip


def _vectors(space: str, letter: str) -> Iterator[Opcode]:
    for op, types in VECTOR_TYPES.items():
        for t in types:
            for words in (1, 2, 4) if op != "ADD" else (2, 4):
                name = f"{op}.{t}".upper() if words == 1 else f"{op}.V{words}.{t}".upper()
                r = "R" if words == 1 else f"R{words}"
                common = {"fields": ("sem", "scope"), "space": space, "nbytes": 4 * words}
                yield row(
                    f"ATOM{letter}.{name}", "atomic", f"{r}=A,{r}", "lsu", "atomic", "atom_" + op.lower(), t, **common
                )
                yield row(
                    f"RED{letter}.{name}", "reduction", f"=A,{r}", "lsu", "store", "red_" + op.lower(), t, **common
                )
