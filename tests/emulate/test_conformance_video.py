"""Video instructions against the manual's pseudocode in Python integers (PTX ISA 9.7.18), and the selectors of their
PTX forms.
"""

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from gpuprof.errors import PtxError
from gpuprof.isa.opcodes import BY_NAME, TABLE
from tests.references.conformance import LANES, Variant, check, operand_rows
from tests.references.conformance_integers import COMPARISONS, signed
from tests.support.ptx_lanes import run_lanes

OPCODES = [
    op.name for op in TABLE if op.semantics.startswith("v") and op.name.startswith("V") and op.types[:1] == ("u32",)
]
PARTS = ("", "b0", "b1", "b2", "b3", "h0", "h1")
SIGNS = ("uuu", "uus", "usu", "uss", "suu", "sus", "ssu", "sss")
RNG = np.random.default_rng(4)


def extract(word: int, part: str, sign: str) -> int:
    """partSelectSignExtend."""
    nbits = {"": 32, "b": 8, "h": 16}[part[:1]]
    value = word >> nbits * int(part[1:] or 0) & (1 << nbits) - 1
    return signed(value, nbits) if sign == "s" else value


def limited(value: int, nbits: int, sign: str) -> int:
    low, high = (-(1 << nbits - 1), (1 << nbits - 1) - 1) if sign == "s" else (0, (1 << nbits) - 1)
    return max(low, min(high, value))


def average(a: int, b: int) -> int:
    return a + b + 1 >> 1 if a + b >= 0 else a + b >> 1


def shift(mods, b: int) -> int:
    return b & 31 if mods["vwrap"] == "wrap" else min(b, 32)


OPERATIONS = {
    "add": lambda m, a, b: a + b, "sub": lambda m, a, b: a - b, "absdiff": lambda m, a, b: abs(a - b), "min": lambda m,
    a, b: min(a, b),
    "max": lambda m, a, b: max(a, b), "avrg": lambda m, a, b: average(a, b), "shl": lambda m, a, b: a << shift(m, b),
    "shr": lambda m, a, b: a >> shift(m, b), "set": lambda m, a, b: int(COMPARISONS[m["vcmp"]](a, b)),
}  # fmt: skip


def scalar(name: str):
    def reference(types, mods, a, b, c):
        sign_d, sign_a, sign_b = mods.get("signs") or "uuu"
        part = mods.get("dsel", "")[1:]
        nbits = {"": 32, "b": 8, "h": 16}[part[:1]]
        value = OPERATIONS[name](
            mods, extract(a, mods.get("asel", "")[1:], sign_a), extract(b, mods.get("bsel", "")[1:], sign_b)
        )
        if mods.get("sat"):
            value = limited(value, nbits, sign_d)
        second = mods.get("op2")
        if second:
            pair = extract(value & 0xFFFFFFFF, "", sign_d), extract(c, "", sign_d)
            return {"add": sum(pair), "min": min(pair), "max": max(pair)}[second] & 0xFFFFFFFF
        if part:
            position = nbits * int(part[1:])
            return c & ~((1 << nbits) - 1 << position) & 0xFFFFFFFF | (value & (1 << nbits) - 1) << position
        return value & 0xFFFFFFFF

    return reference


def multiply_add(types, mods, a, b, c):
    sign_a, sign_b = (mods.get("signs") or "uuu")[1:]
    final = "s" if "s" in (sign_a, sign_b) or mods["negab"] or mods["negc"] else "u"
    tmp = extract(a, mods["asel"][1:], sign_a) * extract(b, mods["bsel"][1:], sign_b)
    if mods["negab"]:
        tmp = -tmp
    if mods["negc"]:
        c = ~c & 0xFFFFFFFF
    tmp += extract(c, "", final) + int(mods["po"] or mods["negc"])
    tmp >>= {"": 0, "shr7": 7, "shr15": 15}[mods["scale"]]
    return (limited(tmp, 32, final) if mods["sat"] else tmp) & 0xFFFFFFFF


def lanes_of(name: str):
    def reference(types, mods, a, b, c):
        count = int(types[1])
        nbits = 32 // count
        unit = {2: "h", 4: "b"}[count]
        sign_d, sign_a, sign_b = mods.get("signs") or "uuu"
        values = [
            OPERATIONS[name](mods, extract(a, f"{unit}{i}", sign_a), extract(b, f"{unit}{i}", sign_b))
            for i in range(count)
        ]
        values = [limited(value, nbits, sign_d) if mods.get("sat") else value for value in values]
        taken = [i for i in range(count) if mods["mask"] >> i & 1]
        if mods.get("op2"):
            return c + sum(values[i] for i in taken) & 0xFFFFFFFF
        return sum((values[i] if i in taken else c >> nbits * i) % (1 << nbits) << nbits * i for i in range(count))

    return reference


def reference_of(op):
    name = op.semantics[1:]
    if name == "mad":
        return multiply_add
    return lanes_of(name.removesuffix("_lanes")) if name.endswith("_lanes") else scalar(name)


def sampled(count: int, **choices) -> list[Variant]:
    """Some of the combinations of modifiers, each value of each modifier at least once."""
    combinations = [dict(zip(choices, values, strict=True)) for values in itertools.product(*choices.values())]
    wanted = [
        dict(zip(choices, (values[k % len(values)] for values in choices.values()), strict=True))
        for k in range(max(map(len, choices.values())))
    ]
    picked = RNG.choice(len(combinations), min(count, len(combinations)), replace=False)
    return [
        Variant({n: v for n, v in mods.items() if n != "signs" or v != "uuu"})
        for mods in [*wanted, *(combinations[k] for k in picked)]
    ]


def variants(op) -> list[Variant]:
    extra = {
        name: tuple(COMPARISONS) if name == "vcmp" else ("clamp", "wrap")
        for name in ("vcmp", "vwrap")
        if name in op.fields
    }
    if op.semantics == "vmad":
        found = sampled(
            24,
            signs=SIGNS,
            sat=(0, 1),
            asel=parts("a"),
            bsel=parts("b"),
            scale=("", "shr7", "shr15"),
            po=(0,),
            negab=(0, 1),
            negc=(0, 1),
        )
        found = [v for v in found if not (v.mods["negab"] and v.mods["negc"])]
        return found + [Variant(v.mods | {"po": 1, "negab": 0, "negc": 0}) for v in found[:8]]
    if "mask" in op.fields:
        full = (1 << int(op.types[1])) - 1
        return sampled(10, signs=SIGNS, sat=(0, 1), mask=(full, 1, full - 1), op2=("", "add"), **extra)
    signs = [s for s in SIGNS if s[2] == "u" or "vwrap" not in extra]  # a shift's amount is unsigned
    plain = sampled(
        12, signs=signs, sat=(0, 1), asel=parts("a"), bsel=parts("b"), op2=("", "add", "min", "max"), **extra
    )
    return plain + sampled(12, signs=signs, sat=(0, 1), asel=parts("a"), bsel=parts("b"), dsel=parts("d"), **extra)


def parts(slot: str) -> tuple[str, ...]:
    return tuple(slot + part if part else "" for part in PARTS)


@pytest.mark.parametrize("name", OPCODES)
def test_video(name):
    op = BY_NAME[name]
    rows = operand_rows(
        op, {"b": "count"} if op.semantics in ("vshl", "vshr") else {}, 128 if op.semantics == "vmad" else LANES
    )
    check(name, reference_of(op), variants(op), rows)


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_fuzz_video(data):
    op = BY_NAME[data.draw(st.sampled_from(OPCODES))]
    variant = data.draw(st.sampled_from(variants(op)))
    drawn = {slot: data.draw(st.lists(st.integers(0, 0xFFFFFFFF), min_size=4, max_size=16)) for slot in "abc"}
    check(
        op.name,
        reference_of(op),
        [variant],
        {slot: np.resize(np.array(values, np.uint32), 128) for slot, values in drawn.items()},
    )


SELECTED = {
    # PTX: (semantics, modifiers of the same meaning, how a and b are picked from bytes of a|b<<32 before)
    "vadd.s32.u32.s32.sat.max r0, r1.b3, r2.h1, "
        "r3": (scalar("add"), {"signs": "sus", "sat": 1, "asel": "ab3", "bsel": "bh1", "op2": "max"}, None),
    "vsub.u32.u32.u32 r0.h1, r1, r2.b0, r3": (scalar("sub"), {"bsel": "bb0", "dsel": "dh1"}, None),
    "vset.s32.u32.lt r0.b2, r1.h0, r2.b1, "
        "r3": (scalar("set"), {"signs": "usu", "asel": "ah0", "bsel": "bb1", "dsel": "db2", "vcmp": "lt"}, None),
    "vshl.s32.s32.u32.sat.clamp.min r0, r1.h1, r2.b0, r3": (
        scalar("shl"), {"signs": "ssu", "sat": 1, "asel": "ah1", "bsel": "bb0", "op2": "min", "vwrap": "clamp"}, None),
    "vmad.s32.s32.u32.sat.shr7 r0, -r1.h1, r2.b3, r3": (
        multiply_add, {"signs": "ssu", "sat": 1, "asel": "ah1", "bsel": "bb3", "scale": "shr7", "po": 0, "negab": 1,
            "negc": 0}, None),
    "vmad.u32.u32.u32.po.shr15 r0, r1, r2, r3": (
        multiply_add, {"sat": 0, "asel": "", "bsel": "", "scale": "shr15", "po": 1, "negab": 0, "negc": 0}, None),
    "vadd2.s32.s32.u32.sat r0.h1, r1.h21, r2.h03, "
        "r3": (lanes_of("add"), {"signs": "ssu", "sat": 1, "mask": 2}, ("5432", "1076")),
    "vabsdiff4.u32.u32.u32.add r0, r1, r2, r3": (lanes_of("absdiff"), {"mask": 15, "op2": "add"}, None),
    "vavrg4.s32.s32.s32 r0.b310, r1.b7010, r2.b1234, "
        "r3": (lanes_of("avrg"), {"signs": "sss", "mask": 11}, ("7010", "1234")),
    "vset4.u32.s32.ge.add r0.b20, r1.b0000, r2, "
        "r3": (lanes_of("set"), {"signs": "uus", "mask": 5, "op2": "add", "vcmp": "ge"}, ("0000", "7654")),
}  # fmt: skip


def picked(a: int, b: int, digits: str) -> int:
    data = (a | b << 32).to_bytes(8, "little")
    return int.from_bytes(bytes(data[int(digit)] for digit in reversed(digits)), "little")


@pytest.mark.parametrize("text", SELECTED)
def test_selectors(text):
    reference, mods, permutations = SELECTED[text]
    rows = [RNG.integers(0, 1 << 32, 256, np.uint32) for _ in range(3)]
    ((found,),) = run_lanes([text], dict(zip(("r1", "r2", "r3"), rows, strict=True)))
    types = ("u32", "2" if text.split(".")[0].endswith("2") else "4")
    for a, b, c, result in zip(*[row.tolist() for row in rows], found.tolist(), strict=True):
        x, y = (picked(a, b, digits) for digits in permutations) if permutations else (a, b)
        assert result == reference(types, mods, x, y, c), (hex(a), hex(b), hex(c))


@pytest.mark.parametrize(
    "text",
    ["vadd.u32.u32.u32 r0, r1.b4, r2", "vadd2.u32.u32.u32 r0, r1.h40, r2, "
        "r3", "vadd4.u32.u32.u32 r0.b4, r1, r2, r3", "vadd2.u32.u32.u32 r0, r1.b10, r2, r3",
     "vmad.u32.u32.u32.po r0, -r1, r2, r3", "vadd.u32.u32.u32.add r0.b1, r1, r2, r3"],
)  # fmt: skip
def test_wrong_selectors_are_refused(text):
    with pytest.raises(PtxError, match=r"selector|part|mask|negated|destination"):
        run_lanes([text], {"r1": np.zeros(1), "r2": np.zeros(1), "r3": np.zeros(1)})
