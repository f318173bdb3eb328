"""Fixed latencies, pair by pair: the cycles the model puts between a maker and its reader are those that ptxas does."""

import tempfile
from pathlib import Path

import pytest

from gpuprof.chips import load_chip
from gpuprof.isa.modifiers import pack
from gpuprof.timing.state.latency_tables import KEYS, KINDS
from tests.ptxas.distances import ARCHITECTURES, measure, read_table
from tests.ptxas.expansion import installed
from tests.support.timing_support import access, make, run, warp

CHIPS = {
    "sm_75": ("t4", "v100"),
    "sm_80": ("a100",),
    "sm_86": ("rtx3090",),
    "sm_89": ("rtx4090", "l4"),
    "sm_90": ("h200", "h100"),
    "sm_100": ("b200",),
    "sm_120": ("rtx5090", "rtxpro6000"),
}
# A chip has one latency of its ALU for numbers and for what selects; on sm_120 that is one cycle longer.
NOT_HELD = {("rtx5090", "ISETP SEL"), ("rtxpro6000", "ISETP SEL")}
LINE = access(range(4))
P0 = 0  # as a guard
MAKERS = {
    "FFMA": make("FFMA", dst=8, a=20, b=21, c=22),
    "LOP3": make("LOP3", dst=8, a=20, b=21, c=22),
    "IMAD": make("IMAD", dst=8, a=20, b=21, c=22),
    "IMAD.HI": make("IMULHI.U32", dst=8, a=20, b=21),
    "HADD2": make("HADD2", dst=8, a=20, b=21),
    "I2F": make("CVT.F32.S32", dst=8, a=20),
    "DFMA": make("DFMA", dst=4, a=10, b=11, c=12),
    "ISETP": make("ISETP.S32", dst=0, a=20, b=21),
    "VOTE": make("VOTE.BALLOT", dst=8, a=1),
    "HMMA.1688": make("HMMA.1688.F32", dst=8, a=20, b=24, c=28),
    "HMMA.16816": make("HMMA.16816.F32", dst=8, a=20, b=24, c=28),
}
READERS = {
    "FFMA": make("FFMA", dst=9, a=8, b=21, c=22),
    "LOP3": make("LOP3", dst=9, a=8, b=21, c=22),
    "IMAD": make("IMAD", dst=9, a=8, b=21, c=22),
    "IMAD.HI": make("IMULHI.U32", dst=9, a=8, b=21),
    "HADD2": make("HADD2", dst=9, a=8, b=21),
    "POPC": make("POPC", dst=9, a=8),
    "MUFU": make("MUFU.EX2", dst=9, a=8, mods=pack(ftz=1)),
    "STG": make("STG.32", a=10, b=8, mods=pack(addr64=1)),
    "LDS": make("LDS.32", dst=9, a=8),
    "FADD": make("FADD", dst=9, a=8, b=21),
    "DFMA": make("DFMA", dst=5, a=4, b=11, c=12),
    "SEL": make("SEL", dst=9, a=20, b=21, e=0),
    "VOTE": make("VOTE.BALLOT", dst=9, a=0),
    "@STG": make("STG.32", guard=P0, a=10, b=20, mods=pack(addr64=1)),
    "@MUFU": make("MUFU.EX2", guard=P0, dst=9, a=20, mods=pack(ftz=1)),
    "@FADD": make("FADD", guard=P0, dst=9, a=20, b=21),
    "@EXIT": make("EXIT", guard=P0),
    "HMMA.1688": make("HMMA.1688.F32", dst=12, a=20, b=24, c=8),
    "HMMA.16816": make("HMMA.16816.F32", dst=12, a=20, b=24, c=8),
}
OTHER_READERS = {
    "DFMA STG": make("STG.64", a=10, b=4, mods=pack(addr64=1)),
    "LOP3 HMMA.1688": make("HMMA.1688.F32", dst=12, a=20, b=8, c=28),  # as B, not as accumulator
}
MEASURED = read_table()
CASES = [
    (pair, chip, cycles[arch])
    for pair, cycles in MEASURED.items() for arch, names in CHIPS.items() for chip in names
    if cycles.get(arch) and (chip, pair) not in NOT_HELD
]  # fmt: skip


@pytest.mark.parametrize("chip_name", [chip for chips in CHIPS.values() for chip in chips])
def test_every_pair_of_a_chip(tmp_path, chip_name):
    path = tmp_path / "one.toml"
    # Latencies alone: at half the rate for sums in f32 a tensor pipe takes longer for a product than its result does.
    path.write_text(f'inherits = "{chip_name}"\nsms = 2\nf32_sum_share = 1.0\n')
    chip = load_chip(path)
    wrong = []
    cases = [(pair, cycles) for pair, name, cycles in CASES if name == chip_name]
    for pair, cycles in cases:
        maker, reader = pair.split(" ")
        between = [make("LO.64", dst=8, a=4)] if pair == "DFMA LOP3" else []  # takes no slot
        code = [MAKERS[maker], *between, OTHER_READERS.get(pair, READERS[reader]), make("EXIT")]
        uses_memory = reader.endswith(("STG", "LDS"))
        timing, _ = run(chip, code, [warp([0], [LINE] if uses_memory else [])])
        # all cycles behind the maker's, with that in which the reader issues
        found = int(timing.ledger[len(code) - 2].sum())
        if reader == "@EXIT":
            found -= chip.exit_cycles - 1  # which the warp stays for behind it
        if found != cycles:
            wrong.append((pair, found, cycles))
    assert wrong == [] and len(cases) > 20


def test_every_kind_of_reader_and_maker_has_a_key():
    assert {name for pair in KEYS for name in pair} <= {*KINDS, "*"}


@pytest.mark.long
@pytest.mark.skipif(not installed(), reason="ptxas and nvdisasm are not both installed: nothing to measure with")
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_the_table_is_what_ptxas_says(arch):
    with tempfile.TemporaryDirectory() as folder:
        assert measure(arch, Path(folder)) == {
            pair: cycles[arch] for pair, cycles in MEASURED.items() if arch in cycles
        }
