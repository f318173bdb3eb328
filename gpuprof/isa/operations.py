"""How many arithmetic operations a thread does in one execution of an instruction, and of which precision.

The rules are those of NVIDIA's `flop_count` metrics (CUPTI): an addition or a multiplication is one operation, a fused
multiply-add two, and a packed instruction does that for each of its elements. A division, a root or a transcendental
function is one `special` operation, whatever the real assembler makes of it. A multiplication of matrices is two
operations for each product, a warp's 32 lanes together; of a sparse matrix only the products that are done count, half
of the dense ones. Moves, conversions, compares, minima, signs, logic and shifts are no operations; neither are atomics,
which memory does, video instructions, which the real assembler writes as sequences, and what a texture unit filters.
"""

from typing import NamedTuple

from gpuprof.isa.families.tensor import form_of
from gpuprof.isa.kinds import kinds_of
from gpuprof.isa.row import Opcode

WARP_LANES = 32

# The precisions, in the order of pages: what units multiply and add, then what has no rate of its own. `int` counts
# addresses and loop counters as well.
VECTOR = ("f64", "f32", "f16", "bf16")
TENSOR = ("tensor_f64", "tensor_tf32", "tensor_f16", "tensor_f8", "tensor_s8", "tensor_s4", "tensor_b1")
PRECISIONS = (*VECTOR, *TENSOR, "int", "special")


class Operations(NamedTuple):
    """`count` for a thread; precision "" and 0 where an instruction has none."""

    precision: str
    count: int


NONE = Operations("", 0)
MULTIPLICATIONS = kinds_of("matrix", "matrix_async")

# Operations on one element, by what an instruction computes.
FLOATS = {"fadd": 1, "fmul": 1, "ffma": 2}
INTEGERS = {
    "add": 1, "add_carry": 1, "sub": 1, "sub_carry": 1, "mul": 1, "mul_high": 1, "mul_wide": 1, "mad": 2, "mad_high": 2,
    "mad_wide": 2, "add3": 2, "shift_add": 2, "sad": 2, "add_halves": 2, "dp2a_lo": 4, "dp2a_hi": 4, "dp4a": 8,
}  # fmt: skip
SPECIAL = frozenset((
    "div", "rem", "fdiv", "frcp", "fsqrt", "fdiv_full", "fdiv_approx", "approx_rcp", "approx_sqrt", "approx_rsqrt",
    "approx_sin", "approx_cos", "approx_ex2", "approx_lg2", "approx_tanh", "approx_rsqrt64",
))  # fmt: skip
# Of the kind "compute", and no operation.
NOT_COUNTED = frozenset((
    # moves and selects
    "mov", "mov_imm64", "pack", "low", "high", "special", "select", "prmt",
    # predicates and compares
    "pmov", "pand", "por", "pxor", "setp", "fsetp", "test", "testp",
    # signs, minima and maxima
    "neg", "abs", "fneg", "fabs", "copysign", "min", "max", "fmin", "fmax", "fmin3", "fmax3", "min_halves",
    "max_halves",
    # logic, shifts and bits
    "and", "or", "xor", "not", "cnot", "lop3", "shl", "shr", "shf_left", "shf_right", "bfe", "bfi", "bfind",
    "bfind_shift", "brev", "popc", "clz", "fns", "bmsk", "szext",
    # conversions and addresses
    "cvt", "cvt_pack", "cvt_small", "cvt_widen", "cvt_scale", "cvt_stochastic", "cvt_stochastic4", "cvt_pack_integers",
    "round_integral", "to_generic", "from_generic", "isspacep", "mapa", "ctarank",
    # video instructions
    "vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vset", "vmad", "vadd_lanes", "vsub_lanes",
    "vavrg_lanes", "vabsdiff_lanes", "vmin_lanes", "vmax_lanes", "vset_lanes",
))  # fmt: skip


MOST_OPERATIONS = 2048  # of a thread in one instruction: a test looks for more


def operations_of(op: Opcode) -> Operations:
    """The operations of a row of the instruction table. Raises KeyError for a computation that is not in this file."""
    if op.kind in MULTIPLICATIONS:
        form = form_of(op)
        return Operations(f"tensor_{form.unit}", 2 * form.products // WARP_LANES)
    if op.kind != "compute" or op.semantics in NOT_COUNTED:
        return NONE
    element, n_elements = _elements(op.types[0])
    if op.semantics in SPECIAL:
        return Operations("special", n_elements)
    if op.semantics in FLOATS:
        return Operations(element, n_elements * FLOATS[op.semantics])
    return Operations("int", INTEGERS[op.semantics])


def multiplies_and_adds(op: Opcode) -> bool:
    """True if it is a fused multiply-add of floats."""
    return op.semantics == "ffma"


def _elements(type_name: str) -> tuple[str, int]:
    """ "f16x2" as ("f16", 2)."""
    return (type_name.removesuffix("x2"), 2) if type_name.endswith("x2") else (type_name, 1)
