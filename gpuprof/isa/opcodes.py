"""The instruction table: one row per opcode.

A row says what the assembler, the disassembler, the emulator and the timing model need to know:

* operands by register file: R (32-bit), D (64-bit), P (predicate); a digit is a count of consecutive registers ("R4");
  "A" is an address, D when the `addr64` modifier is set and R otherwise, to which the signed `imm` is added.
  A ">" marks a slot that is written. The slots are dst, a, b, c, e (see `encoding`).
* `pipe`: the unit that executes it. `slots`: how many issue slots it takes in the common path, which is what the real
  assembler expands the operation to (measured with ptxas 13.0 for sm_80 for what kernels use most, estimated for the rest). `latency`: a key of a chip file's
  `[latency]` table; it is the distance from the last slot to the first use of the result.
* `semantics` and `types`: what it computes, by name; `emulate` has one function per name.

Numbers are assigned in table order. Changing the table changes them: raise `ISA_VERSION` then (a test pins both).
"""

from typing import NamedTuple

ISA_VERSION = 1

PIPES = ("alu", "fma", "fp64", "half", "xu", "lsu", "tex", "tensor", "uniform", "cbu", "none")


class Opcode(NamedTuple):
    number: int
    name: str
    dst: str
    a: str
    b: str
    c: str
    e: str
    fields: tuple[str, ...]
    pipe: str
    slots: int
    latency: str
    semantics: str
    types: tuple[str, ...]
    space: str = ""  # memory instructions: the state space
    nbytes: int = 0  # memory instructions: bytes per lane


TABLE: list[Opcode] = []
BY_NAME: dict[str, Opcode] = {}

FLOAT = ("rnd", "ftz", "sat")


def _row(name, form, pipe, latency, semantics, types="", fields=(), slots=1, space="", nbytes=0):
    """Adds a row. `form` is "dst=a,b,c,e"; missing slots are empty."""
    dst, _, sources = form.partition("=")
    a, b, c, e = ([*sources.split(","), "", "", "", ""])[:4]
    row = Opcode(len(TABLE), name, dst, a, b, c, e, tuple(fields), pipe, slots, latency, semantics, tuple(types.split()), space, nbytes)
    assert name not in BY_NAME, name
    TABLE.append(row)
    BY_NAME[name] = row


def _control():
    _row("NOP", "", "none", "alu", "nop")
    _row("EXIT", "", "cbu", "branch", "exit")
    _row("BRA", "", "cbu", "branch", "branch")  # imm: bytes from the next instruction
    _row("BRX", "=D", "cbu", "branch", "branch_indirect")  # a: code address
    _row("CALL", "", "cbu", "branch", "call")  # imm: bytes from the next instruction
    _row("CALL.IND", "=D", "cbu", "branch", "call_indirect")
    _row("RET", "", "cbu", "branch", "return")
    _row("SYSCALL", "R=D,D", "cbu", "branch", "syscall", slots=8)  # imm: the service (see emulate); a, b: its arguments
    _row("SYSCALL.64", "D=D,D", "cbu", "branch", "syscall", "b64", slots=8)  # for services with a 64-bit result
    _row("TRAP", "", "cbu", "branch", "trap")
    _row("BRKPT", "", "cbu", "branch", "breakpoint")
    _row("NANOSLEEP", "=,R", "none", "alu", "nanosleep")
    # Barriers. Register 255 in a or b takes the low (barrier) or high (thread count, 0 = all) half of imm instead.
    _row("BAR.SYNC", "=R,R", "lsu", "barrier", "bar_sync", space="barrier")
    _row("BAR.ARRIVE", "=R,R", "lsu", "barrier", "bar_arrive", space="barrier")
    _row("BAR.RED.POPC", "R=R,R,P", "lsu", "barrier", "bar_red", "popc", slots=2, space="barrier")
    _row("BAR.RED.AND", "P=R,R,P", "lsu", "barrier", "bar_red", "and", slots=2, space="barrier")
    _row("BAR.RED.OR", "P=R,R,P", "lsu", "barrier", "bar_red", "or", slots=2, space="barrier")
    _row("WARPSYNC", "=,R", "cbu", "branch", "warpsync")  # mask: imm, or R when b is not 255
    _row("MEMBAR", "", "lsu", "membar", "membar", fields=("scope",), slots=1)


def _moves():
    _row("MOV", "R=R", "alu", "alu", "mov", "b32")
    _row("MOV.64", "D=D", "alu", "alu", "mov", "b64", slots=2)
    _row("MOVI.64", "D=", "alu", "alu", "mov_imm64", "b64", slots=2)  # imm is the low word, mods the high word
    _row("PACK.64", "D=R,R", "alu", "alu", "pack", "b64", slots=0)
    _row("LO.64", "R=D", "alu", "alu", "low", "b64", slots=0)
    _row("HI.64", "R=D", "alu", "alu", "high", "b64", slots=0)
    _row("S2R", "R=", "xu", "s2r", "special", "b32")  # imm: index into SPECIAL
    _row("S2R.64", "D=", "xu", "s2r", "special", "b64")
    # imm: `localbase`, where a function's frame begins. Hardware keeps it in a register (R1), so it costs what a move costs.
    _row("FRAME", "R=", "alu", "alu", "special", "b32")
    _row("FRAME.64", "D=", "alu", "alu", "special", "b64")
    _row("SEL", "R=R,R,,P", "alu", "alu", "select", "b32")
    _row("SEL.64", "D=D,D,,P", "alu", "alu", "select", "b64", slots=2)
    _row("PMOV", "P=P", "alu", "alu", "pmov", "pred")
    _row("PAND", "P=P,P", "alu", "alu", "pand", "pred")
    _row("POR", "P=P,P", "alu", "alu", "por", "pred")
    _row("PXOR", "P=P,P", "alu", "alu", "pxor", "pred")


def _integer(bits):
    r = "R" if bits == 32 else "D"
    sfx = "" if bits == 32 else ".64"
    two = 1 if bits == 32 else 2
    b, s, u = f"b{bits}", f"s{bits}", f"u{bits}"
    for name in ("ADD", "SUB"):
        _row(f"I{name}{sfx}", f"{r}={r},{r}", "alu", "alu", name.lower(), u, slots=two)
        # With carry: e is the carry in (PT negated = 0), c the carry out (127 = none).
        _row(f"I{name}C{sfx}", f"{r}={r},{r},>P,P", "alu", "alu", name.lower() + "_carry", u, slots=two)
    _row(f"INEG{sfx}", f"{r}={r}", "alu", "alu", "neg", s, slots=two)
    _row(f"IABS{sfx}", f"{r}={r}", "alu", "alu", "abs", s, slots=1 if bits == 32 else 4)
    _row(f"IMUL{sfx}", f"{r}={r},{r}", "fma", "imad", "mul", u, slots=1 if bits == 32 else 4)
    _row(f"IMAD{sfx}", f"{r}={r},{r},{r}", "fma", "imad", "mad", u, slots=1 if bits == 32 else 4)
    for t in (s, u):
        sign = t[0].upper()
        _row(f"IMULHI.{sign}{bits}", f"{r}={r},{r}", "fma", "imad_hi", "mul_high", t, slots=1 if bits == 32 else 7)
        _row(f"IMADHI.{sign}{bits}", f"{r}={r},{r},{r}", "fma", "imad_hi", "mad_high", t, slots=1 if bits == 32 else 9)
        for name in ("MIN", "MAX"):
            _row(f"I{name}.{sign}{bits}", f"{r}={r},{r}", "alu", "alu", name.lower(), t, slots=1 if bits == 32 else 4)
        division = {("s", 32): (27, 26), ("u", 32): (18, 17), ("s", 64): (89, 84), ("u", 64): (72, 69)}[t[0], bits]
        _row(f"IDIV.{sign}{bits}", f"{r}={r},{r}", "alu", "division", "div", t, slots=division[0])
        _row(f"IREM.{sign}{bits}", f"{r}={r},{r}", "alu", "division", "rem", t, slots=division[1])
        _row(f"SHR.{sign}{bits}", f"{r}={r},R", "alu", "alu", "shr", t, slots=two)
        _row(f"ISETP.{sign}{bits}", f"P={r},{r},>P,P", "alu", "alu", "setp", t, ("cmp", "bool"), slots=two)
        _row(f"BFE.{sign}{bits}", f"{r}={r},R,R", "alu", "alu", "bfe", t, slots=5 if bits == 32 else 8)
        _row(f"FLO.{sign}{bits}", f"R={r}", "xu", "xu", "bfind", t, slots=two)
        _row(f"FLO.SH.{sign}{bits}", f"R={r}", "xu", "xu", "bfind_shift", t, slots=two)
    _row(f"SHL{sfx}", f"{r}={r},R", "alu", "alu", "shl", b, slots=two)
    for name in ("AND", "OR", "XOR"):
        _row(f"{name}{sfx}", f"{r}={r},{r}", "alu", "alu", name.lower(), b, slots=two)
    _row(f"NOT{sfx}", f"{r}={r}", "alu", "alu", "not", b, slots=two)
    _row(f"CNOT{sfx}", f"{r}={r}", "alu", "alu", "cnot", b, slots=2 * two)
    # BFI: a inserted into b; imm (or R c) is position | length << 8.
    _row(f"BFI{sfx}", f"{r}={r},{r},R", "alu", "alu", "bfi", b, slots=5 if bits == 32 else 10)
    _row(f"BREV{sfx}", f"{r}={r}", "xu", "xu", "brev", b, slots=two)
    _row(f"POPC{sfx}", f"R={r}", "xu", "xu", "popc", b, slots=1 if bits == 32 else 3)
    _row(f"CLZ{sfx}", f"R={r}", "xu", "xu", "clz", b, slots=2 if bits == 32 else 4)


def _integer_32_only():
    for t in ("s32", "u32"):
        sign = t[0].upper()
        _row(f"IMUL.WIDE.{sign}32", "D=R,R", "fma", "imad", "mul_wide", t)
        _row(f"IMAD.WIDE.{sign}32", "D=R,R,D", "fma", "imad", "mad_wide", t)
        _row(f"SAD.{sign}32", "R=R,R,R", "alu", "alu", "sad", t, slots=2)
        _row(f"BMSK.{sign}32", "R=R,R", "alu", "alu", "bmsk", t, ("wrap",))
    _row("LOP3", "R=R,R,R", "alu", "alu", "lop3", "b32", ("lut",))
    _row("PRMT", "R=R,R,R", "alu", "alu", "prmt", "b32", ("prmt",))
    _row("SHF.L", "R=R,R,R", "alu", "alu", "shf_left", "b32", ("wrap",))
    _row("SHF.R", "R=R,R,R", "alu", "alu", "shf_right", "b32", ("wrap",))
    for ta in ("s", "u"):
        for tb in ("s", "u"):
            _row(f"DP4A.{ta}.{tb}".upper(), "R=R,R,R", "fma", "imad", "dp4a", f"{ta}8 {tb}8")
            _row(f"DP2A.LO.{ta}.{tb}".upper(), "R=R,R,R", "fma", "imad", "dp2a_lo", f"{ta}16 {tb}8")
            _row(f"DP2A.HI.{ta}.{tb}".upper(), "R=R,R,R", "fma", "imad", "dp2a_hi", f"{ta}16 {tb}8")


def _float():
    for letter, r, t, pipe, latency in (("F", "R", "f32", "fma", "fma"), ("D", "D", "f64", "fp64", "fp64")):
        cheap_pipe, cheap_latency = ("alu", "alu")
        for name in ("ADD", "MUL"):
            _row(f"{letter}{name}", f"{r}={r},{r}", pipe, latency, "f" + name.lower(), t, FLOAT)
        _row(f"{letter}FMA", f"{r}={r},{r},{r}", pipe, latency, "ffma", t, FLOAT)
        for name in ("MIN", "MAX"):
            _row(
                f"{letter}{name}",
                f"{r}={r},{r}",
                cheap_pipe,
                cheap_latency,
                "f" + name.lower(),
                t,
                ("ftz", "nan"),
                slots=1 if r == "R" else 7,
            )
        for name in ("NEG", "ABS"):
            _row(f"{letter}{name}", f"{r}={r}", cheap_pipe, cheap_latency, "f" + name.lower(), t, ("ftz",), slots=1)
        _row(
            f"{letter}SETP",
            f"P={r},{r},>P,P",
            "alu" if r == "R" else "fp64",
            "alu" if r == "R" else "fp64",
            "fsetp",
            t,
            ("cmp", "bool", "ftz"),
        )
        _row(f"{letter}COPYSIGN", f"{r}={r},{r}", "alu", "alu", "copysign", t)  # the sign of a on the magnitude of b
        _row(f"{letter}TESTP", f"P={r}", "alu", "alu", "testp", t, ("lut",), slots=2)  # lut: index into TESTP
        for name, slots32, slots64 in (("DIV", 16, 26), ("RCP", 15, 19), ("SQRT", 14, 31)):
            form = f"{r}={r},{r}" if name == "DIV" else f"{r}={r}"
            _row(
                f"{letter}{name}",
                form,
                pipe,
                "iterative" if r == "R" else "iterative64",
                "f" + name.lower(),
                t,
                ("rnd", "ftz"),
                slots=slots32 if r == "R" else slots64,
            )
    _row("FDIV.FULL", "R=R,R", "fma", "xu", "fdiv_full", "f32", ("ftz",), slots=8)
    _row("FDIV.APPROX", "R=R,R", "xu", "xu", "fdiv_approx", "f32", ("ftz",), slots=2)
    for name in ("RCP", "SQRT", "RSQRT", "SIN", "COS", "EX2", "LG2", "TANH"):
        slots = {"SIN": 2, "COS": 2}.get(name, 1)
        _row(f"MUFU.{name}", "R=R", "xu", "xu", "approx_" + name.lower(), "f32", ("ftz",), slots=slots)
    for name in ("RCP", "RSQRT"):
        _row(f"MUFU.{name}64H", "D=D", "xu", "xu", "approx_" + name.lower(), "f64", ("ftz",))


def _half():
    for letter, scalar, packed in (("H", "f16", "f16x2"), ("B", "bf16", "bf16x2")):
        for suffix, t in (("", scalar), ("2", packed)):
            for name in ("ADD", "MUL"):
                _row(f"{letter}{name}{suffix}", "R=R,R", "half", "half", "f" + name.lower(), t, FLOAT)
            _row(f"{letter}FMA{suffix}", "R=R,R,R", "half", "half", "ffma", t, (*FLOAT, "nan"))  # nan: relu
            for name in ("MIN", "MAX"):
                _row(f"{letter}{name}{suffix}", "R=R,R", "half", "half", "f" + name.lower(), t, ("ftz", "nan"))
            for name in ("NEG", "ABS"):
                _row(f"{letter}{name}{suffix}", "R=R", "half", "half", "f" + name.lower(), t, ("ftz",))
            for name in ("EX2", "TANH"):
                _row(f"MUFU.{name}.{t.upper()}", "R=R", "xu", "xu", "approx_" + name.lower(), t, ("ftz",), slots=2 if suffix else 1)
        _row(f"{letter}SETP", "P=R,R,>P,P", "half", "half", "fsetp", scalar, ("cmp", "bool", "ftz"))
        _row(f"{letter}SETP2", "P=R,R,>P,P", "half", "half", "fsetp", packed, ("cmp", "bool", "ftz"))


INTEGER_TYPES = ("s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64")
FLOAT_TYPES = ("f16", "bf16", "f32", "f64")


def type_nbits(t: str) -> int:
    """Bits of a scalar type name: type_nbits("u16") == 16."""
    return int(t.lstrip("bfsu"))


def type_file(t: str) -> str:
    """The register file that holds a value of a scalar type."""
    return "P" if t == "pred" else "D" if type_nbits(t) == 64 else "R"


def _conversions():
    """cvt, as CVT.<to>.<from>. 16-bit and 8-bit results are zero-extended in R; sources use their low bits only."""
    for to in INTEGER_TYPES + FLOAT_TYPES:
        for source in INTEGER_TYPES + FLOAT_TYPES:
            both_integer = to in INTEGER_TYPES and source in INTEGER_TYPES
            half_float = {to, source} in ({"f16", "f32"}, {"bf16", "f32"})
            pipe, latency = ("alu", "alu") if both_integer or half_float else ("xu", "conversion")
            fields = ("sat",) if both_integer else ("rnd", "ftz", "sat")
            _row(f"CVT.{to}.{source}".upper(), f"{type_file(to)}={type_file(source)}", pipe, latency, "cvt", f"{to} {source}", fields)
    for to in ("f16x2", "bf16x2"):
        # Two f32 rounded and packed: a to the upper half, b to the lower (PTX order).
        _row(f"CVT.{to}.F32".upper(), "R=R,R", "alu", "alu", "cvt_pack", f"{to} f32", ("rnd", "ftz", "sat", "nan"))
    # cvt to an integral value of the same float type (rni, rzi, rmi, rpi).
    for t in FLOAT_TYPES:
        _row(f"FRND.{t}".upper(), f"{type_file(t)}={type_file(t)}", "xu", "conversion", "round_integral", t, ("rnd", "ftz", "sat"))
    _row("CVT.TF32.F32", "R=R", "alu", "alu", "cvt", "tf32 f32", ("rnd", "sat"))


SPACES = ("global", "shared", "local", "const", "param", "generic")
LETTER_OF_SPACE = {"global": "G", "shared": "S", "local": "L", "const": "C", "param": "P", "generic": ""}
ACCESSES = (
    # access, register operand, bytes per lane
    ("U8", "R", 1), ("S8", "R", 1), ("U16", "R", 2), ("S16", "R", 2), ("32", "R", 4), ("64", "D", 8),
    ("V2.32", "R2", 8), ("V4.32", "R4", 16), ("V2.64", "D2", 16),
)  # fmt: skip


def _memory():
    latency = {"global": "memory", "generic": "memory", "local": "memory", "shared": "shared", "const": "constant", "param": "constant"}
    for space in SPACES:
        for access, register, nbytes in ACCESSES:
            _row(f"LD{LETTER_OF_SPACE[space]}.{access}", f"{register}=A", "lsu", latency[space], "load", access.lower(),
                 ("cache", "sem", "scope"), space=space, nbytes=nbytes)  # fmt: skip
    for space in ("global", "shared", "local", "generic"):
        for access, register, nbytes in ACCESSES:
            if access not in ("S8", "S16"):
                _row(f"ST{LETTER_OF_SPACE[space]}.{access}", f"=A,{register}", "lsu", "store", "store", access.lower(),
                     ("cache", "sem", "scope"), space=space, nbytes=nbytes)  # fmt: skip


ATOMIC_TYPES = {
    "ADD": ("u32", "u64", "f32", "f64", "f16x2", "bf16x2", "f16", "bf16"), "AND": ("b32", "b64"), "OR": ("b32", "b64"),
    "XOR": ("b32", "b64"), "MIN": ("s32", "u32", "s64", "u64"), "MAX": ("s32", "u32", "s64", "u64"),
    "INC": ("u32",), "DEC": ("u32",), "EXCH": ("b32", "b64"), "CAS": ("b32", "b64", "b16"),
}  # fmt: skip

# Shared-memory atomics the hardware does in one instruction; the others are compare-and-swap loops (ptxas: 6 to 10 slots).
NATIVE_SHARED_ATOMICS = frozenset(
    [(op, t) for op in ("ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR", "EXCH", "CAS") for t in ("u32", "s32", "b32")]
    + [("EXCH", "b64"), ("CAS", "b64")]
)


def type_atom_file(t: str) -> str:
    return "D" if t.endswith("64") else "R"


def _atomics():
    for space in ("global", "shared", "generic"):
        letter = LETTER_OF_SPACE[space]
        for op, types in ATOMIC_TYPES.items():
            for t in types:
                r = type_atom_file(t)
                nbytes = 8 if r == "D" else 2 if t in ("f16", "bf16", "b16") else 4
                form = f"A,{r},{r}" if op == "CAS" else f"A,{r}"
                slots = 7 if space == "shared" and (op, t) not in NATIVE_SHARED_ATOMICS else 1
                latency = "atomic_shared" if space == "shared" else "atomic"
                common = {"fields": ("sem", "scope"), "slots": slots, "space": space, "nbytes": nbytes}
                _row(f"ATOM{letter}.{op}.{t}".upper(), f"{r}={form}", "lsu", latency, "atom_" + op.lower(), t, **common)
                if op not in ("EXCH", "CAS"):
                    _row(f"RED{letter}.{op}.{t}".upper(), f"={form}", "lsu", "store", "red_" + op.lower(), t, **common)


def _warp():
    # SHFL: a value; lane and clamp are register b and c, or immediates in mods; e is the member mask's register, 255 = imm.
    shuffle = ("shfl", "has_lane", "lane", "has_clamp", "clamp")
    _row("SHFL", "R=R,R,R,R", "lsu", "shuffle", "shuffle", "b32", shuffle)
    _row("SHFL.P", "P=R,R,R,R", "lsu", "shuffle", "shuffle_valid", "b32", shuffle)
    # Votes: the member mask is imm, or R b when that is not 255.
    _row("VOTE.ALL", "P=P,R", "alu", "vote", "vote_all", "pred")
    _row("VOTE.ANY", "P=P,R", "alu", "vote", "vote_any", "pred")
    _row("VOTE.UNI", "P=P,R", "alu", "vote", "vote_uni", "pred")
    _row("VOTE.BALLOT", "R=P,R", "alu", "vote", "vote_ballot", "pred")
    _row("ACTIVEMASK", "R=", "alu", "vote", "activemask", "b32")
    _row("ELECT", "R=,R,>P", "alu", "vote", "elect", "b32")
    for bits, r in ((32, "R"), (64, "D")):
        _row(f"MATCH.ANY.B{bits}", f"R={r},R", "xu", "shuffle", "match_any", f"b{bits}")
        _row(f"MATCH.ALL.B{bits}", f"R={r},R,>P", "xu", "shuffle", "match_all", f"b{bits}")
    for op, types in (
        ("ADD", ("s32",)),
        ("MIN", ("s32", "u32")),
        ("MAX", ("s32", "u32")),
        ("AND", ("b32",)),
        ("OR", ("b32",)),
        ("XOR", ("b32",)),
    ):
        for t in types:
            _row(f"REDUX.{op}.{t}".upper(), "R=R,R", "alu", "shuffle", "redux_" + op.lower(), t, slots=2)


def _addresses():
    """Generic addresses: windows for shared and local memory inside the 64-bit space (see `device.memory`)."""
    for space in ("shared", "local", "const", "global", "param"):
        _row(f"CVTA.{space}".upper(), "D=D", "alu", "alu", "to_generic", space, slots=1)
        _row(f"CVTA.TO.{space}".upper(), "D=D", "alu", "alu", "from_generic", space, slots=1)
        _row(f"ISSPACEP.{space}".upper(), "P=D", "alu", "alu", "isspacep", space, slots=3)


_control()
_moves()
_integer(32)
_integer(64)
_integer_32_only()
_float()
_half()
_conversions()
_memory()
_atomics()
_warp()
_addresses()

TESTP = ("finite", "infinite", "number", "notanumber", "normal", "subnormal")

# Special registers, by the number in `imm`.
SPECIAL = (
    "tid.x", "tid.y", "tid.z", "ntid.x", "ntid.y", "ntid.z", "ctaid.x", "ctaid.y", "ctaid.z", "nctaid.x", "nctaid.y", "nctaid.z",
    "laneid", "warpid", "nwarpid", "smid", "nsmid", "gridid", "clock", "clock_hi", "clock64", "globaltimer", "globaltimer_lo",
    "globaltimer_hi", "lanemask_eq", "lanemask_lt", "lanemask_le", "lanemask_gt", "lanemask_ge", "dynamic_smem_size",
    "total_smem_size", "localbase", "envreg0", "envreg1", "envreg2",
)  # fmt: skip
SPECIAL_INDEX = {name: index for index, name in enumerate(SPECIAL)}
