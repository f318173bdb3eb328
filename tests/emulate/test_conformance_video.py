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
from tests.references.conformance_integers import COMPARISONS
from tests.references.conformance_video import lanes_of, multiply_add, reference_of, scalar
from tests.support.matrices import long_but_every
from tests.support.ptx_lanes import run_lanes

OPCODES = [
    op.name for op in TABLE if op.semantics.startswith("v") and op.name.startswith("V") and op.types[:1] == ("u32",)
]
PARTS = ("", "b0", "b1", "b2", "b3", "h0", "h1")
SIGNS = ("uuu", "uus", "usu", "uss", "suu", "sus", "ssu", "sss")
RNG = np.random.default_rng(4)


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


@pytest.mark.parametrize("name", long_but_every(2, OPCODES))
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
