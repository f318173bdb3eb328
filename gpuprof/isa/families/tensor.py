"""Matrix multiplication of a warp, and the loads, stores and transpositions of its fragments.

One row for each shape, width of the elements and pair of accumulator types; which elements they are (f16 or bf16,
signed or not) is in `ta` and `tb`. All fragments are laid out alike (PTX ISA, "matrix fragments for mma"): with group =
lane / 4, place = lane % 4 and E elements in a register,

    A register r, element i:  row group + 8 * (r % 2), column E * place + i + 4 * E * (r / 2)
    B register r, element i:  row E * place + i + 4 * E * r, column group
    C and D, element i:       row group + 8 * (i / 2), column 2 * place + i % 2

where an m of 8 has only the first half of the rows. The one exception is HMMA.884, see `emulate.matrices.volta`.
"""

from collections.abc import Iterator
from typing import NamedTuple

from gpuprof.isa.row import Opcode, row

# Element types by the unit that multiplies them.
TYPES_OF_UNIT = {
    "f16": ("f16", "bf16"), "tf32": ("tf32",), "f8": ("e4m3", "e5m2"), "s8": ("s8", "u8"), "s4": ("s4", "u4"),
    "b1": ("b1",), "f64": ("f64",),
}  # fmt: skip
NBITS = {"f16": 16, "tf32": 32, "f8": 8, "s8": 8, "s4": 4, "b1": 1, "f64": 64}
LETTER = {"f16": "H", "tf32": "H", "f8": "Q", "s8": "I", "s4": "I", "b1": "B", "f64": "D"}
FIELDS_OF_UNIT = {
    "f16": ("ta", "tb"), "tf32": (), "f8": ("ta", "tb"), "s8": ("ta", "tb", "satfinite"),
    "s4": ("ta", "tb", "satfinite"), "b1": ("logic",), "f64": ("rnd",),
}  # fmt: skip


class Form(NamedTuple):
    """A shape as the table has it. `wgmma` is "", "RS" (A in registers) or "SS"; then n is 8 of the instruction's
    columns.
    """

    unit: str
    m: int
    n: int
    k: int
    d: str
    c: str
    sparse: bool = False
    wgmma: str = ""

    @property
    def is_volta(self) -> bool:
        return self.unit == "f16" and self.m == 8

    @property
    def a_elements(self) -> int:
        """Elements of one row of A as it is stored."""
        return self.k // 2 if self.sparse else self.k

    @property
    def name(self) -> str:
        accumulators = {"f32": ".F32", "f16": ".F16"}.get(self.d, "") + (
            f"_{self.c.upper()}" if self.c != self.d else ""
        )
        kind = (".SP" if self.sparse else "") + (f".{self.unit.upper()}" if self.unit in ("tf32", "s4") else "")
        if self.wgmma:
            return f"{LETTER[self.unit]}GMMA{kind}.64x8x{self.k}{accumulators}.{self.wgmma}"
        return f"{LETTER[self.unit]}MMA{kind}.{self.m}{self.n}{self.k}{accumulators}"

    @property
    def sums_in_f32(self) -> bool:
        """True for those of f16 and f8 whose sums, old or new, are f32: GeForce parts take twice as long for them."""
        return self.unit in ("f16", "f8") and "f32" in (self.d, self.c)

    @property
    def products(self) -> int:
        """Multiply-adds of a warp; for a sparse matrix, only those that are done."""
        return (4 if self.is_volta else 1) * self.m * self.n * self.a_elements

    def registers(self) -> tuple[str, str, str, str]:
        """Register groups of D, A, B and C."""
        file, nbits = ("D", 64) if self.unit == "f64" else ("R", 32)
        if self.is_volta:
            a, b, c, d = 2, 2, 8 if self.c == "f32" else 4, 8 if self.d == "f32" else 4
        else:
            width = 32 * nbits  # bits of a register of all lanes
            a, b = self.m * self.a_elements * NBITS[self.unit] // width, self.k * self.n * NBITS[self.unit] // width
            c, d = (self.m * self.n * (16 if t == "f16" else nbits) // width for t in (self.c, self.d))
        if self.wgmma:
            a, b = (f"R{a}" if self.wgmma == "RS" else "D"), "D"
            return f"R{d}", a, b, f"R{c}"
        d, a, b, c = (file + (str(count) if count > 1 else "") for count in (d, a, b, c))
        return d, a, b, c


ANY = (("f32", "f32"), ("f16", "f16"), ("f32", "f16"), ("f16", "f32"))  # D and C
SAME = ANY[:2]
F32, S32, F64 = (("f32", "f32"),), (("s32", "s32"),), (("f64", "f64"),)

DENSE = (
    # unit, (m, n, k)..., (D, C)...
    ("f16", ((8, 8, 4), (16, 8, 8), (16, 8, 16)), ANY),
    ("tf32", ((16, 8, 4), (16, 8, 8)), F32),
    ("f8", ((16, 8, 16), (16, 8, 32)), SAME),
    ("s8", ((8, 8, 16), (16, 8, 16), (16, 8, 32)), S32),
    ("s4", ((8, 8, 32), (16, 8, 32), (16, 8, 64)), S32),
    ("b1", ((8, 8, 128), (16, 8, 128), (16, 8, 256)), S32),
    ("f64", ((8, 8, 4), (16, 8, 4), (16, 8, 8), (16, 8, 16)), F64),
)  # fmt: skip
SPARSE = (
    ("f16", ((16, 8, 16), (16, 8, 32)), SAME),
    ("tf32", ((16, 8, 8), (16, 8, 16)), F32),
    ("f8", ((16, 8, 64),), SAME),
    ("s8", ((16, 8, 32), (16, 8, 64)), S32),
    ("s4", ((16, 8, 64), (16, 8, 128)), S32),
)
# Warp groups: of the 64 rows each of the four warps has 16.
GROUPS = (("f16", 16, SAME), ("tf32", 8, F32), ("f8", 32, SAME), ("s8", 32, S32), ("b1", 256, S32))


def _forms() -> Iterator[Form]:
    for sparse, table in ((False, DENSE), (True, SPARSE)):
        for unit, shapes, accumulators in table:
            for m, n, k in shapes:
                for d, c in accumulators:
                    yield Form(unit, m, n, k, d, c, sparse)
    for unit, k, accumulators in GROUPS:
        for d, c in accumulators:
            for source in ("RS", "SS"):
                yield Form(unit, 16, 8, k, d, c, wgmma=source)


FORMS: dict[str, Form] = {form.name: form for form in _forms()}


def form_of(op: Opcode) -> Form:
    """The shape that a row of kind "matrix" or "matrix_async" multiplies."""
    return FORMS[op.name]


def rows() -> Iterator[Opcode]:
    for form in FORMS.values():
        yield _row(form)
    for space, letter in (("shared", "S"), ("generic", "")):
        for count in (1, 2, 4):
            group = f"R{count}" if count > 1 else "R"
            latency = "shared" if space == "shared" else "memory"
            yield row(
                f"LD{letter}M.{count}",
                "matrix_load",
                f"{group}=A",
                "lsu",
                latency,
                "load_matrix",
                str(count),
                ("trans",),
                space=space,
                nbytes=16,
            )
            yield row(
                f"ST{letter}M.{count}",
                "matrix_store",
                f"=A,{group}",
                "lsu",
                "store",
                "store_matrix",
                str(count),
                ("trans",),
                space=space,
                nbytes=16,
            )
    yield row("MOVM", "matrix_transpose", "R=R", "lsu", "shuffle", "transpose_matrix", "b16")
    # A warp group's fences and groups order what is asynchronous; here every multiplication is done when the next
    # instruction runs.
    yield row("WARPGROUP.ARRIVE", "hint", "=", "none", "branch", "nop")
    # the multiplications since the last one are a group
    yield row("WARPGROUP.COMMIT", "matrix_commit", "=", "none", "branch", "group_commit")
    # until only the imm newest groups are being multiplied
    yield row("WARPGROUP.DEPBAR", "matrix_wait", "=", "none", "branch", "group_wait")


def _row(form: Form) -> Opcode:
    d, a, b, c = form.registers()
    fields = FIELDS_OF_UNIT[form.unit]
    kind, semantics, extra = "matrix", "mma", ""
    if form.sparse:
        semantics, extra = "mma_sparse", ",R"  # the metadata; imm is the sparsity selector
    elif form.wgmma:
        # e: whether there are accumulators; imm: which 8 columns of B.
        kind, semantics, extra = "matrix_async", "mma_group", ",P"
        fields = (*fields, "trans_a", "trans_b", "minus_a", "minus_b")
    elif form.is_volta:
        fields = (*fields, "layout_a", "layout_b")
    return row(form.name, kind, f"{d}={a},{b},{c}{extra}", "tensor", _latency(form), semantics, form.d, fields)


def _latency(form: Form) -> str:
    """A class of chip's latency table: of f64; of what passes the unit once (1688), and twice (16816, 16832 of s8, 1688
    of tf32).
    """
    if form.unit == "f64":
        return "tensor64"
    stored_nbytes = form.a_elements * NBITS[form.unit] // 8
    return "tensor" if stored_nbytes <= 16 else "tensor_long"
