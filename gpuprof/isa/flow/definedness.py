"""How undefined bits of what an instruction reads become undefined bits of what it writes, by the instruction's row.

A rule is a name: `trace.checkers.shadow_bits.instruction_rules` has the formula of each. Rules that say which bits
depend on which are exact where that takes no more than the operands' bits; `any_bit` makes a whole element undefined.
"""

from gpuprof.isa.row import Opcode

# Rules of the kind "compute", by what a row computes.
RULES = {
    **dict.fromkeys(("mov_imm64", "special"), "defined"),
    **dict.fromkeys(("mov", "not", "pmov", "fneg"), "same_bits"),
    **dict.fromkeys(("xor", "pxor"), "exclusive_or"),
    **dict.fromkeys(("and", "pand"), "and"),
    **dict.fromkeys(("or", "por"), "or"),
    # A carry only goes to higher bits.
    **dict.fromkeys(("add", "sub", "neg", "add3", "to_generic", "from_generic"), "carry"),
    **dict.fromkeys(("add_carry", "sub_carry"), "carry_in_and_out"),
    **dict.fromkeys(("mul", "mul_wide"), "product"),
    **dict.fromkeys(("mad", "mad_wide"), "product_and_sum"),
    **dict.fromkeys(("setp",), "compare"),
    **dict.fromkeys(("fsetp",), "compare_floats"),
    **dict.fromkeys(("testp", "isspacep"), "any_bit_of_all"),
    **{name: name for name in (
        "pack", "low", "high", "fabs", "copysign", "lop3", "shift_add", "test", "select", "shl", "shr", "shf_left",
        "shf_right", "prmt", "bfe", "bfi", "brev", "cvt", "clz",
    )},
    **dict.fromkeys(("cvt_pack", "cvt_small", "cvt_widen"), "convert_elements"),
    # Each element of a result depends on the elements at its place.
    **dict.fromkeys((
        "fadd", "fmul", "ffma", "fmin", "fmax", "fmin3", "fmax3", "fdiv", "frcp", "fsqrt", "fdiv_full", "fdiv_approx",
        "approx_rcp", "approx_sqrt", "approx_rsqrt", "approx_sin", "approx_cos", "approx_ex2", "approx_lg2",
        "approx_tanh", "approx_rsqrt64", "round_integral", "add_halves", "min_halves", "max_halves",
    ), "any_bit"),
    # All of the result depends on all that is read.
    **dict.fromkeys((
        "div", "rem", "mul_high", "mad_high", "min", "max", "abs", "cnot", "sad", "dp2a_lo", "dp2a_hi", "dp4a", "fns",
        "bfind", "bfind_shift", "popc", "bmsk", "szext", "cvt_scale", "cvt_stochastic", "cvt_stochastic4",
        "cvt_pack_integers", "mapa", "ctarank", "vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vset",
        "vmad", "vadd_lanes", "vsub_lanes", "vavrg_lanes", "vabsdiff_lanes", "vmin_lanes", "vmax_lanes", "vset_lanes",
    ), "any_bit_of_all"),
}  # fmt: skip
# What is left in memory, by the operation on it.
ATOMIC_RULES = {
    "and": "and", "or": "or", "xor": "exclusive_or", "exch": "replace", "cas": "compare_and_swap", "add": "carry",
    "min": "any_bit", "max": "any_bit", "inc": "any_bit", "dec": "any_bit", "count": "any_bit",
}  # fmt: skip
VOTES = {"vote_all": "all", "vote_any": "any", "vote_uni": "uniform", "vote_ballot": "ballot", "activemask": "defined"}
ELEMENT_BITS = {"f16x2": 16, "bf16x2": 16, "u16x2": 16, "s16x2": 16, "f32x2": 32, "f16": 16, "bf16": 16}


def rule_of(op: Opcode) -> str:
    """The rule of a row of the kind "compute". Raises KeyError for a computation that this file does not know."""
    return RULES[op.semantics]


def atomic_rule_of(op: Opcode) -> str:
    """The rule of an atomic or a reduction in memory: a sum of floats has no carries."""
    rule = ATOMIC_RULES[op.semantics.split("_")[-1]]
    return "any_bit" if rule == "carry" and op.types[0][0] not in "us" else rule


def vote_of(op: Opcode) -> str:
    return VOTES[op.semantics]


def is_validity(op: Opcode) -> bool:
    """True if a shuffle gives only whether there is a lane."""
    return op.semantics == "shuffle_valid"


def element_bits(type_name: str, bits: int) -> int:
    """Bits of an element of a register with `bits` bits."""
    return ELEMENT_BITS.get(type_name, bits)


def is_packed(type_name: str) -> bool:
    return type_name.endswith("x2")
