"""Integer, bit, move, predicate and address instructions, each against plain Python integers, on special values and
random ones.
"""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from gpuprof.device.memory import LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW
from gpuprof.isa.opcodes import BY_NAME, TABLE
from tests.references.conformance import LANES, OLD64, Variant, check, every, execute, operand_rows, with_immediates
from tests.references.conformance_integers import COMPARISONS, PRMT, REFERENCES

VARIANTS = {
    "setp": every(cmp=COMPARISONS, bool=("", "and", "or", "xor")),
    "bmsk": every(wrap=("clamp", "wrap")),
    "szext": every(wrap=("clamp", "wrap")),
    "min_halves": every(relu=(0, 1)),
    "max_halves": every(relu=(0, 1)),
    "shf_left": every(wrap=("clamp", "wrap")),
    "shf_right": every(wrap=("clamp", "wrap")),
    "prmt": every(prmt=("", *PRMT)),
    "lop3": every(lut=range(256)),
    "shift_add": every(by=(0, 1, 4, 31)),
}
COUNT_SLOTS = {
    "shl": "b",
    "shr": "b",
    "bfe": "bc",
    "shf_left": "c",
    "shf_right": "c",
    "bmsk": "ab",
    "szext": "b",
    "fns": "b",
}
# Where constants have generic addresses depends on where the module was loaded: test_conformance_control follows such
# an address to its bytes.
OPCODES = [
    op.name for op in TABLE if op.semantics in REFERENCES and ("const" not in op.types or op.semantics == "isspacep")
]


def rows_of(op, lanes=LANES) -> dict[str, np.ndarray]:
    rows = operand_rows(op, dict.fromkeys(COUNT_SLOTS.get(op.semantics, ""), "count"), lanes)
    if op.semantics == "bfi":  # position and length are the two low bytes
        rows["c"] = (
            np.random.default_rng(3).integers(0, 80, lanes, np.uint32)
            | np.resize([0, 1, 8, 32, 33, 64, 255], lanes).astype(np.uint32) << 8
        )
    if op.semantics == "isspacep":
        rows["a"][:8] = [
            SHARED_WINDOW,
            SHARED_WINDOW - 1,
            SHARED_WINDOW + (1 << 32),
            LOCAL_WINDOW,
            LOCAL_WINDOW + 5,
            LOCAL_WINDOW - 1,
            PARAM_WINDOW,
            1,
        ]
    return rows


@pytest.mark.parametrize("name", OPCODES)
def test_integer(name):
    op = BY_NAME[name]
    lanes = 128 if op.semantics == "lop3" else LANES
    check(
        name, REFERENCES[op.semantics], with_immediates(op, VARIANTS.get(op.semantics, [Variant()])), rows_of(op, lanes)
    )


def test_wide_immediate():
    (outcome,), _ = execute("MOVI.64", [Variant()], {})
    assert (outcome.rows["dst"] == 0).all()
    (outcome,), held = execute("MOVI.64", [Variant(imm=77)], {}, guarded=True)
    assert (outcome.rows["dst"] == np.where(held, np.uint64(77), np.uint64(OLD64))).all()


HYPOTHESIS_LANES = 128


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_fuzz_integer(data):
    op = BY_NAME[data.draw(st.sampled_from(OPCODES))]
    variant = data.draw(st.sampled_from(VARIANTS.get(op.semantics, [Variant()])))
    rows = rows_of(op, HYPOTHESIS_LANES)
    for slot, row in rows.items():
        if row.dtype != np.bool_:
            limit = int(np.iinfo(row.dtype).max)
            drawn = data.draw(st.lists(st.integers(0, limit), min_size=4, max_size=16))
            rows[slot] = np.resize(np.array(drawn, row.dtype), HYPOTHESIS_LANES)
    check(op.name, REFERENCES[op.semantics], [variant], rows)
