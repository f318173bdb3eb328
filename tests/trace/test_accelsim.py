"""Traces for Accel-Sim, read by the rules of its own parser."""

import re
from typing import NamedTuple

import pytest

from gpuprof.errors import GeneratorError
from gpuprof.isa.encoding import make
from gpuprof.isa.opcodes import TABLE
from gpuprof.trace.generators.trace_files.accelsim import AccelSim
from gpuprof.trace.generators.trace_files.ampere_opcodes import COPIES, GENERIC, MATRIX_MOVES, NAMES
from tests.support.emulate_harness import jump, special
from tests.support.watching import watch
from tests.trace.test_events import below
from tests.trace.test_memory_bits import program

# The opcodes that it knows for Ampere (its ISA definition; those of NVIDIA's CUDA Binary Utilities).
OPCODES = """
    FADD FADD32I FCHK FFMA32I FFMA FMNMX FMUL FMUL32I FSEL FSET FSETP FSWZADD MUFU HADD2 HADD2_32I HFMA2 HFMA2_32I
    HMUL2 HMUL2_32I HSET2 HSETP2 HMNMX2 HMMA DMMA BMMA IMMA DADD DFMA DMUL DSETP BMSK BREV FLO IABS IADD IADD3 IADD32I
    IDP IDP4A IMAD IMNMX IMUL IMUL32I ISCADD ISCADD32I ISETP LEA LOP LOP3 LOP32I POPC SHF SHL SHR VABSDIFF VABSDIFF4
    F2F F2FP F2I I2F I2I I2IP I2FP F2IP FRND MOV MOV32I MOVM PRMT SEL SGXT SHFL PLOP3 PSETP P2R R2P LD LDC LDG LDL LDS
    LDSM ST STG STL STS MATCH QSPC ATOM ATOMS ATOMG RED CCTL MEMBAR LDGDEPBAR LDGSTS REDUX TEX TLD TLD4 TXD TXQ SUATOM
    SULD SUQUERY SURED SUST BMOV BPT BRA BREAK BRX BSSY BSYNC CALL EXIT JMP NANOSLEEP RET WARPSYNC YIELD BAR CS2R
    DEPBAR NOP S2R VOTE
"""
KNOWN = set(OPCODES.split())


class Line(NamedTuple):
    pc: int
    mask: int
    destinations: list[str]
    opcode: str
    sources: list[str]
    width: int
    addresses: list[int]


def parsed(line: str) -> Line:
    """An instruction, word by word as the parser takes it."""
    words = iter(line.split())
    pc, mask = int(next(words), 16), int(next(words), 16)
    n_destinations = int(next(words))
    assert n_destinations <= 1
    destinations = [next(words) for _ in range(n_destinations)]
    opcode = next(words)
    assert opcode.split(".")[0] in KNOWN
    n_sources = int(next(words))
    assert n_sources <= 4
    sources = [next(words) for _ in range(n_sources)]
    assert all(re.fullmatch(r"R\d{1,3}", register) for register in destinations + sources)
    width, addresses = int(next(words)), []
    if width:
        # It reads the width from the opcode, and knows three ways of addresses: 0 is a list.
        bits = next(token for token in opcode.split(".") if re.fullmatch(r"U?\d+", token))
        width = int(bits.removeprefix("U")) // 8
        assert next(words) == "0"
        addresses = [int(next(words), 16) for _ in range(mask.bit_count())]
    assert not list(words)
    return Line(pc, mask, destinations, opcode, sources, width, addresses)


def read(path) -> tuple[dict[str, str], dict[tuple, list[list[Line]]]]:
    """The header, and the warps of each block."""
    header, blocks, block, inside, left = {}, {}, None, False, 0
    lines = path.read_text().split("\n")
    start = next(number for number, line in enumerate(lines) if line.startswith("#"))
    for line in lines[:start]:
        if line:
            assert line[0] == "-"
            name, _, value = line[1:].partition(" = ")
            header[name] = value
    for line in lines[start + 1 :]:
        if not line:
            continue
        if line == "#BEGIN_TB":
            assert not inside
            inside = True
        elif line == "#END_TB":
            assert inside and left == 0
            inside = False
        elif found := re.fullmatch(r"thread block = (\d+),(\d+),(\d+)", line):
            block = tuple(map(int, found.groups()))
            blocks[block] = []
        elif found := re.fullmatch(r"warp = (\d+)", line):
            assert int(found[1]) == len(blocks[block]) and left == 0
            blocks[block].append([])
        elif found := re.fullmatch(r"insts = (\d+)", line):
            left = int(found[1])
        else:
            blocks[block][-1].append(parsed(line))
            left -= 1
    return header, blocks


def test_a_trace(tmp_path):
    memory, code, x, y = program()
    folder = tmp_path / "a folder"
    accelsim = AccelSim(folder=str(folder))
    watch(code, accelsim, memory=memory, grid=(2, 1, 1), block=(40, 1, 1))
    assert (folder / "kernelslist.g").read_text() == "kernel-1.traceg\n"
    header, blocks = read(folder / "kernel-1.traceg")
    assert {name: header[name] for name in ("kernel id", "grid dim", "block dim", "shmem", "binary version")} == {
        "kernel id": "1", "grid dim": "(2,1,1)", "block dim": "(40,1,1)", "shmem": "0", "binary version": "80",
    }  # fmt: skip
    assert list(blocks) == [(0, 0, 0), (1, 0, 0)]
    first, second = blocks[1, 0, 0]
    assert [line.opcode for line in first] == [
        "S2R", "S2R", "ISETP", "MOV", "MOV", "IMAD", "LDG.E.32", "LDG.E.32", "FADD", "STG.E.32", "EXIT",
    ]  # fmt: skip
    full = [(line.mask, line.addresses) for line in first if line.width]
    assert full == [
        (0xFFFFFFFF, [x + 4 * lane for lane in range(32)]),
        (0xFFFFFFFF, [y] * 32),
        (0xFF, [x + 4 * lane for lane in range(8)]),
    ]
    assert [line.mask for line in second] == [0xFF] * 11
    load = first[6]
    assert (load.destinations, load.sources, load.width) == (["R10"], ["R8"], 4)
    assert accelsim.results[0].tables["files"] == [("kernel-1.traceg", 4, 44, 0)]


def test_only_lanes_that_do_something_are_in_a_mask(tmp_path):
    code = [
        special("laneid", 0),
        below(0, 0, 8),
        jump(2, 4, guard=0),
        make("LDS.U8", dst=1, a=0),
        make("EXIT"),
    ]
    watch(code, AccelSim(folder=str(tmp_path)), dynamic_shared_nbytes=32)
    _, blocks = read(tmp_path / "kernel-1.traceg")
    [[warp]] = blocks.values()
    assert [(line.opcode, line.mask, line.width) for line in warp] == [
        ("S2R", 0xFFFFFFFF, 0),
        ("ISETP", 0xFFFFFFFF, 0),
        ("BRA", 0xFF, 0),
        ("LDS.E.U8", 0xFFFFFF00, 1),
        ("EXIT", 0xFFFFFFFF, 0),
    ]
    assert warp[3].addresses == [0x7E00_0000_0000 + lane for lane in range(8, 32)]


def test_a_load_of_a_parameter_has_no_addresses(tmp_path):
    code = [make("MOV", dst=0, imm=0, slot="a"), make("LDP.32", dst=1, a=0), make("EXIT")]
    watch(code, AccelSim(folder=str(tmp_path)), params=bytes(8), block=(1, 1, 1))
    _, blocks = read(tmp_path / "kernel-1.traceg")
    [[warp]] = blocks.values()
    assert [(line.opcode, line.width, line.addresses) for line in warp] == [
        ("MOV", 0, []),
        ("LDC", 0, []),
        ("EXIT", 0, []),
    ]


def test_every_name_is_known():
    assert {*NAMES.values(), *COPIES.values(), *GENERIC.values(), *MATRIX_MOVES.values()} <= KNOWN


def test_every_instruction_has_a_name_but_those_that_ampere_lacks():
    without = {
        op.name.split(".")[0]
        for op in TABLE
        if op.name.split(".")[0] not in NAMES
        and op.kind not in {**COPIES, **MATRIX_MOVES}
        and not op.name.startswith("CVT.")
        and op.name.split(".")[0] not in {first for first, _ in GENERIC}
    }
    assert without == {"BULK", "TMA", "HGMMA", "QGMMA", "IGMMA", "BGMMA"}


def test_a_folder_that_has_traces_is_not_written_to(tmp_path):
    (tmp_path / "kernelslist.g").write_text("kernel-1.traceg\n")
    with pytest.raises(GeneratorError, match="it has traces already"):
        watch([make("EXIT")], AccelSim(folder=str(tmp_path)))


@pytest.mark.parametrize("options, text", [({}, "give a folder"), ({"folder": "t", "most": 1}, "raise most=N")])
def test_refused(tmp_path, monkeypatch, options, text):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(GeneratorError, match=text):
        watch([make("NOP"), make("EXIT")], AccelSim(**options))
