"""Loading a module: addresses of variables and functions, and the relocated words of the code."""

from dataclasses import replace

import numpy as np
import pytest

from gpuprof.device.load_map import LoadMap
from gpuprof.device.memory import AddressSpace, Allocation
from gpuprof.device.module import Placed, load
from gpuprof.errors import CompileError, DeviceMemoryError, FileFormatError
from gpuprof.isa.encoding import encode, make
from gpuprof.isa.program import Function, InitialAddress, Program, Relocation, Variable

VARIABLES = (
    Variable("table", "global", 0, 8, 4, b"\1\2\3\4\5\6\7\x08"),
    Variable("scratch", "global", 256, 1024, 16, bytes(1024)),
    Variable("weights", "const", 0, 8, 4, b"WEIGHTS!"),
    Variable("bias", "const", 16, 4, 4, b"BIAS"),
)
FUNCTIONS = (Function("kernel", "kernel", 0, 3, True), Function("helper", "helper", 3, 1, False))


def program(*relocations: Relocation) -> Program:
    code = encode([make("MOVI.64", dst=0), make("MOV", dst=0, slot="a"), make("EXIT"), make("RET")])
    return Program("m.cu", code, FUNCTIONS, VARIABLES, relocations, "", np.zeros(4, np.uint32), (None,) * 4)


def test_variables_get_memory():
    memory = AddressSpace()
    module = load(program(), memory)
    assert module.const_segment == b"WEIGHTS!" + bytes(8) + b"BIAS"
    assert [(allocation.name, allocation.nbytes) for allocation in memory.allocations] == [
        ("constants of m.cu", 20),
        ("table", 8),
        ("scratch", 1024),
    ]
    assert module.const_base == 0x7_0000_0000
    assert module.global_symbols == {
        "table": 0x7_0000_0200,
        "scratch": 0x7_0000_0400,
        "weights": 0x7_0000_0000,
        "bias": 0x7_0000_0010,
    }
    assert memory.read(module.global_symbols["table"], 8) == b"\1\2\3\4\5\6\7\x08"
    assert memory.read(module.global_symbols["bias"], 4) == b"BIAS"


def test_a_variable_is_placed_in_memory_that_is_there():
    """As `__managed__` variables are: the host has their addresses. One that the module lacks is no matter."""
    memory = AddressSpace()
    region = memory.allocate(600, "__managed__ variables")
    placed = (Placed("table", region.address + 256), Placed("gone", region.address))
    module = load(program(), memory, placed=placed)
    assert module.global_symbols["table"] == 0x7_0000_0100
    assert memory.read(0x7_0000_0100, 8) == b"\1\2\3\4\5\6\7\x08"
    assert memory.allocations[:3] == (
        Allocation(0x7_0000_0000, 256, "__managed__ variables"),
        Allocation(0x7_0000_0100, 8, "table"),
        Allocation(0x7_0000_0108, 336, "__managed__ variables"),
    )
    assert memory.parts(0x7_0000_00F0, 0x7_0000_0104) == [
        Allocation(0x7_0000_00F0, 16, "__managed__ variables"),
        Allocation(0x7_0000_0100, 4, "table"),
    ]


def test_a_place_that_is_none():
    memory = AddressSpace()
    with pytest.raises(DeviceMemoryError, match="cannot write 8 bytes at 0x500"):
        load(program(), memory, placed=(Placed("table", 0x500),))
    assert memory.allocations == ()


@pytest.mark.parametrize(
    ("symbol", "addend", "value"),
    [
        ("scratch", 12, 0x7_0000_040C),
        ("scratch", -4, 0x7_0000_03FC),
        ("bias", 2, 18),  # a constant's own address is its offset in the segment
        ("helper", 0, 0x10_0000 + 16 * 3),
    ],
)
def test_relocations(symbol, addend, value):
    original = program(Relocation(0, symbol, "abs64", addend))
    module = load(original, AddressSpace(), 0x10_0000)
    assert int(module.code["imm"][0]) | int(module.code["mods"][0]) << 32 == value
    assert original.code["imm"][0] == 0, "the program itself is untouched"
    assert (module.code[1:] == original.code[1:]).all()


def test_relocation_of_32_bits_changes_imm_alone():
    module = load(program(Relocation(1, "bias", "abs32", 1)), AddressSpace())
    assert module.code["imm"][1] == 17
    assert module.code["mods"][1] == program().code["mods"][1]


@pytest.mark.parametrize(
    ("relocation", "error", "text"),
    [
        (
            Relocation(0, "nowhere", "abs64", 0),
            CompileError,
            "m.cu: symbol nowhere is used but not defined; define it in the same module",
        ),
        (
            Relocation(0, "table", "abs16", 0),
            FileFormatError,
            "m.cu: relocation kind abs16 of table is unknown; abs32 and abs64 are known",
        ),
        (
            Relocation(1, "table", "abs32", 0),
            FileFormatError,
            "m.cu: the address 0x700000200 of table does not fit into 32 bits (instruction 1)",
        ),
    ],
)
def test_bad_relocations(relocation, error, text):
    with pytest.raises(error) as caught:
        load(program(relocation), AddressSpace())
    assert str(caught.value) == text


def with_pointer(space: str, symbol: str, is_generic: bool, offset: int = 8) -> Program:
    """A variable of 16 bytes whose image holds the number 4 at byte 8, and there an address is to be added."""
    pointer = Variable(
        "pointer", space, 2048, 16, 8, bytes(8) + b"\4" + bytes(7), (InitialAddress(offset, symbol, is_generic),)
    )
    return replace(program(), variables=(*VARIABLES, pointer))


@pytest.mark.parametrize("space", ["global", "const"])
@pytest.mark.parametrize(
    ("symbol", "is_generic", "value"),
    [
        ("table", False, lambda module: module.global_symbols["table"] + 4),
        ("table", True, lambda module: module.global_symbols["table"] + 4),
        ("bias", False, lambda module: 16 + 4),
        ("bias", True, lambda module: module.const_base + 16 + 4),
        ("helper", False, lambda module: 0x10_0000 + 16 * 3 + 4),
    ],
)
def test_variables_that_start_as_addresses(space, symbol, is_generic, value):
    memory = AddressSpace()
    module = load(with_pointer(space, symbol, is_generic), memory)
    stored = memory.read(module.global_symbols["pointer"], 16)
    assert stored == bytes(8) + value(module).to_bytes(8, "little")
    assert space == "global" or module.const_segment[2048:] == stored


def test_bad_initial_addresses():
    with pytest.raises(CompileError, match="symbol nowhere is used but not defined"):
        load(with_pointer("global", "nowhere", False), AddressSpace())
    with pytest.raises(FileFormatError, match="the address of table does not fit into pointer"):
        load(with_pointer("global", "table", False, offset=9), AddressSpace())


def test_modules_do_not_overlap():
    memory, load_map, loaded = AddressSpace(), LoadMap(), []
    for _ in range(3):
        loaded.append(load(program(), memory, load_map.place(program().code.nbytes)))
    assert [module.load_base for module in loaded] == [0x10_0000, 0x10_2000, 0x10_4000]
    assert loaded[1].end == 0x10_2040
    assert loaded[1].address_of(FUNCTIONS[1]) == 0x10_2030


def test_code_must_lie_below_4_gib():
    with pytest.raises(FileFormatError, match="ends above 4 GiB"):
        load(program(), AddressSpace(), (1 << 32) - 0x1000 + 0x1000)


def test_constants_written_by_the_host():
    memory = AddressSpace()
    module = load(program(), memory)
    memory.write(module.global_symbols["bias"], b"edit")
    module.refresh_constants(memory)
    assert module.const_segment == b"WEIGHTS!" + bytes(8) + b"edit"
