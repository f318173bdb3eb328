"""Undefined behaviour of C++ in device code: what clang may assume of it, what nvcc does, and what we do.

Many kernels rely on what nvcc makes of such code, knowingly or not, so an assumption that nvcc does not make is taken
from clang. One that nvcc makes, too, stays: without it, code has other instructions than nvcc's. nvcc 13.0 was asked
with `-O3`; `tests/compile/test_undefined.py` has, for each row, a kernel and what nvcc's code of it computes.

The host code of a program is compiled as a host compiler does by default, which makes all these assumptions.
"""

from typing import NamedTuple


class Assumption(NamedTuple):
    """`flags` take the assumption from clang; without any, it stays. `nvcc`: what nvcc's code does."""

    name: str
    assumed: str
    nvcc: str
    flags: tuple[str, ...] = ()


TAKEN = (
    Assumption(
        "aliasing",
        "pointers to different types lead to different objects",
        "loads again: `half` registers are read through an `unsigned *`, vectors through a `float *`",
        # Clang notes the types of accesses, which shows copies of structures; the notes do not reach LLVM
        # (passes/struct_copies.py).
        ("-fstrict-aliasing",),
    ),
    Assumption(
        "null",
        "a reference, `this`, and a pointer that was used are not null",
        "compares",
        ("-fno-delete-null-pointer-checks",),
    ),
    Assumption(
        "endless_loop",
        "a loop without side effects ends",
        "keeps it, unless it can compute the number of turns",
        ("-fno-finite-loops",),
    ),
    Assumption(
        "float_to_integer",
        "a number converts to an integer that has its value",
        "has `cvt.rzi` to 32 or 64 bits, which saturates (passes/float_conversions.py)",
        ("-fno-strict-float-cast-overflow",),
    ),
    Assumption(
        "scope",
        "nothing reads a variable after its block has ended, so variables of two blocks may share memory",
        "gives each its own memory, and keeps the stores",
        ("-Xclang", "-disable-lifetime-markers"),
    ),
    Assumption(
        "unset_argument",
        "an argument or a result has a value",
        "passes what is there: lanes that a shuffle does not read may leave it unset",
        ("-Xclang", "-no-enable-noundef-analysis"),
    ),
)

KEPT = (
    Assumption("signed_overflow", "signed sums and products do not wrap", "makes it: `x + 1 > x` is 1"),
    Assumption("signed_index", "a signed index does not wrap, so it can be widened", "makes it: `[p + 4]` for `i + 1`"),
    Assumption("shift", "a constant shift is by less than the width", "makes it: stores nothing for `x << 33`"),
    Assumption("shift_by_variable", "the same of a variable", "has `shl`, which clamps, as LLVM has"),
    Assumption("pointer_overflow", "a pointer and an offset do not wrap", "makes it: `p + n < p` is 0"),
    Assumption("missing_return", "a function with a result does not end without one", "makes it"),
    Assumption("unset_variable", "a variable that is read has been set, on one of the ways there", "makes it"),
    Assumption("enumeration", "an enumeration has one of its values", "does not; nor does clang by default"),
    Assumption("alignment", "a pointer is aligned to its type", "makes it for accesses, not for the address, as LLVM"),
    Assumption("assume", "a condition of `__builtin_assume` holds", "makes it"),
    Assumption("restrict", "`__restrict__` pointers lead to different objects", "makes it"),
    Assumption("constant", "an object defined `const` is not written", "makes it"),
    Assumption("virtual_table", "an object's virtual table stays the same", "loads it again; so does clang by default"),
    Assumption("contraction", "a product and a sum may be rounded once", "does so, by `-fmad=true`, its default"),
    Assumption("reassociation", "sums of floats may be reordered", "does not; nor does clang by default"),
    Assumption(
        "boolean",
        "a `bool` in memory is 0 or 1",
        "compares it with 0 where it chooses, LLVM tests its lowest bit; clang 22 has no flag for that",
    ),
    Assumption(
        "division",
        "a number that something was divided by is not 0",
        "compares it again; LLVM has no option for that, and the quotient is open anyway",
    ),
)

FLAGS = tuple(flag for each in TAKEN for flag in each.flags)
