"""The gpubin file: write and read give the same Program; other tools read it too (readelf, pyelftools)."""

import io
import re
import shutil
import subprocess
import sys
from dataclasses import fields, replace

import numpy as np
import pytest
from elftools.elf.elffile import ELFFile
from hypothesis import given, settings, strategies as st

from gpuprof.assemble.object.elf import write_gpubin
from gpuprof.errors import GpuprofError
from gpuprof.isa.encoding import encode, make
from gpuprof.isa.facts import (
    Facts,
    MemberStore,
    PaddedCopy,
    RegisterHazard,
    ScopeChange,
    Setting,
    VariableFacts,
)
from gpuprof.isa.gpubin.reader import read_gpubin
from gpuprof.isa.program import Function, InitialAddress, Location, Param, Program, Relocation, Variable
from gpuprof.run.compile_file import build
from tests.paths import SAMPLES
from tests.support.gpubin_programs import assert_equal, small_program


def test_round_trip():
    program = small_program()
    assert_equal(read_gpubin(write_gpubin(program), "small"), program)


def test_empty_program():
    program = Program("", np.zeros(0, small_program().code.dtype), (), (), (), "", np.zeros(0, np.uint32), ())
    assert_equal(read_gpubin(write_gpubin(program), "empty"), program)


@pytest.mark.parametrize("sample", sorted(SAMPLES.glob("*.cu")), ids=lambda path: path.stem)
def test_the_assemblers_program_is_the_one_that_its_file_holds(sample):
    program, image = build(sample, arch="sm_80")
    assert_equal(read_gpubin(image, sample.name), program)


# --- any program


names = st.text(st.characters(blacklist_characters="\0"), min_size=1, max_size=12)  # surrogates included
symbol_names = st.text(st.characters(codec="utf-8", blacklist_characters="\0"), min_size=1, max_size=12)
u31 = st.integers(0, 0x7FFFFFFF)
params = st.builds(
    Param,
    names,
    st.sampled_from(["u64", "f32", "b8"]),
    u31,
    u31,
    u31,
    st.booleans(),
    names,
    st.booleans(),
    st.booleans(),
)
locations = st.recursive(
    st.builds(Location, names, u31, u31, names),
    lambda outer: st.builds(Location, names, u31, u31, names, outer),
    max_leaves=4,
)


@st.composite
def programs(draw):
    counts = draw(st.lists(st.integers(0, 6), max_size=4))
    n = sum(counts)
    symbols = draw(st.lists(symbol_names, min_size=len(counts), max_size=len(counts), unique=True))
    firsts = np.cumsum([0, *counts]).tolist()
    functions = tuple(
        Function(symbol, draw(names), first, count, draw(st.booleans()), tuple(draw(st.lists(params, max_size=3))),
            *draw(st.tuples(*[u31] * 9)),
                 draw(st.none() | st.tuples(u31, u31, u31)), draw(u31))
        for symbol, first, count in zip(symbols, firsts, counts, strict=False)
    )  # fmt: skip
    chosen = draw(st.lists(st.none() | locations, min_size=n, max_size=n))
    kinds = st.sampled_from(["abs32", "abs64"])
    return Program(
        draw(names),
        encode([make("MOV", dst=i % 200, slot="a", imm=draw(u31)) for i in range(n)]),
        tuple(draw(st.permutations(functions))),
        _variables(draw),
        tuple(
            Relocation(i, draw(symbol_names), draw(kinds), draw(st.integers(-(1 << 63), (1 << 63) - 1)))
            for i in range(n)
            if draw(st.booleans())
        ),
        draw(st.text(max_size=50)),
        np.array(draw(st.lists(st.integers(0, 0xFFFFFFFF), min_size=n, max_size=n)), np.uint32),
        tuple(chosen),
        draw(st.dictionaries(names, st.text(max_size=20), max_size=3)),
        draw(names),
        draw(names),
    )


def _variables(draw) -> tuple[Variable, ...]:
    found, offset = [], {"global": 0, "const": 0}
    for i, space in enumerate(draw(st.lists(st.sampled_from(["global", "const"]), max_size=5))):
        image = draw(st.sampled_from([bytes(1), bytes(7), b"\0x\0", b"1234", bytes(64)]))
        found.append(Variable(f"v{i}", space, offset[space], len(image), 8, image))
        offset[space] += (len(image) + 7) & ~7
    return tuple(found)


@settings(max_examples=60)
@given(programs())
def test_any_program_round_trips(program):
    data = write_gpubin(program)
    assert_equal(read_gpubin(data, "any"), program)
    assert data == write_gpubin(program)


# --- hostile and large names, sizes


def test_names_are_data():
    name = 'a"\n.globl evil\nevil: \\n%s \x1b[31m\u202e$(rm)'
    program = small_program()
    function = replace(program.functions[0], name=name, display=name)
    location = Location(name, 1, 1, name, Location(name, 2, 2, name))
    hostile = replace(
        program,
        functions=(function, *program.functions[1:]),
        locations=(location,) * len(program.code),
        relocations=(Relocation(1, name, "abs64", 0),),
        sources={name: name},
    )
    data = write_gpubin(hostile)
    assert_equal(read_gpubin(data, "hostile"), hostile)
    symbols = ELFFile(io.BytesIO(data)).get_section_by_name(".symtab")
    assert [s.name for s in symbols.iter_symbols()] == ["", "twice", name, "table", "counter", "weights"]


@pytest.mark.parametrize(
    "name, message",
    [
        ("a\0b", r"dir/a b.cu: the symbol name 'a\x00b' holds a NUL character; rename it"),
        ("a\udc80b", r"dir/a b.cu: the symbol name 'a\udc80b' cannot be written in UTF-8; rename it"),
    ],
)
def test_a_symbol_name_that_an_elf_cannot_hold_is_refused(name, message):
    program = small_program()
    with pytest.raises(GpuprofError) as caught:
        write_gpubin(replace(program, variables=(replace(program.variables[0], name=name),)))
    assert str(caught.value) == message


def test_zero_variables_take_no_room():
    program = small_program()
    big = Variable("big", "global", 4096, 64 << 20, 4096, bytes(64 << 20))
    data = write_gpubin(replace(program, variables=(*program.variables, big)))
    assert len(data) < len(write_gpubin(program)) + 500
    assert read_gpubin(data, "big").variables[-1] == big


def test_same_bytes_with_any_hash_seed():
    script = (
        "import hashlib; from gpuprof.assemble.object.elf import write_gpubin; from tests.support.gpubin_programs "
        "import "
        "small_program;"
        "print(hashlib.sha256(write_gpubin(small_program())).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", script], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True, text=True
        ).stdout
        for seed in "01"
    }
    assert len(digests) == 1


def large_program(n: int) -> Program:
    call = [Location("k.cu", 5 + i % 7, 3, "kernel") for i in range(50)]
    inner = [Location("k.h", 100 + i % 40, i % 9, f"f{i % 5}", call[i % 50]) for i in range(400)]
    code = encode([make("FFMA", dst=i % 200, a=1, b=2, c=3) for i in range(n)])
    functions = (Function("kernel", "kernel", 0, n, True),)
    places = tuple(inner[i // 3 % 400] if i % 4 else call[i % 50] for i in range(n))
    return Program("k.cu", code, functions, (), (), "x\n" * n, np.arange(n, dtype=np.uint32), places, {})


def test_5000_instructions_are_written_and_read():
    program = large_program(5000)
    assert_equal(read_gpubin(write_gpubin(program), "large"), program)


# --- what other tools see


@pytest.fixture(scope="module")
def small_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("gpubin") / "small.gpubin"
    path.write_bytes(write_gpubin(small_program()))
    return path


@pytest.fixture(scope="module")
def elf(small_file):
    return ELFFile(io.BytesIO(small_file.read_bytes()))


def test_pyelftools_reads_the_elf(elf):
    assert (elf["e_machine"], elf.elfclass, elf.little_endian, elf["e_type"]) == ("EM_CUDA", 64, True, "ET_EXEC")
    symbols = [
        (s.name, s["st_info"]["bind"], s["st_info"]["type"], s["st_value"], s["st_size"])
        for s in elf.get_section_by_name(".symtab").iter_symbols()
    ]
    assert symbols == [
        ("", "STB_LOCAL", "STT_NOTYPE", 0, 0),
        ("twice", "STB_LOCAL", "STT_FUNC", 0x70, 0x20),
        ("_Z4scanILi256EEvPfi", "STB_GLOBAL", "STT_FUNC", 0, 0x70),
        ("table", "STB_GLOBAL", "STT_OBJECT", 0, 8),
        ("counter", "STB_GLOBAL", "STT_OBJECT", 16, 4),
        ("weights", "STB_GLOBAL", "STT_OBJECT", 0, 16),
        ("elsewhere", "STB_GLOBAL", "STT_NOTYPE", 0, 0),
    ]
    assert elf.get_section_by_name(".text._Z4scanILi256EEvPfi").data() == small_program().code[:7].tobytes()
    assert elf.get_section_by_name(".gpuprof.ptx").data().decode() == "// ünï\n.version 7.0\n"
    notes = {
        s.name: [note["n_name"] for note in s.iter_notes()] for s in elf.iter_sections() if s["sh_type"] == "SHT_NOTE"
    }
    assert notes == {
        ".note.gpuprof": ["gpuprof"],
        ".note.gpuprof._Z4scanILi256EEvPfi": ["gpuprof"],
        ".note.gpuprof.twice": ["gpuprof"],
    }


def test_pyelftools_reads_the_relocations(elf):
    names = [s.name for s in elf.get_section_by_name(".symtab").iter_symbols()]
    found = [
        (r["r_offset"], r["r_info_type"], names[r["r_info_sym"]], r["r_addend"])
        for section in (".rela.text._Z4scanILi256EEvPfi", ".rela.text.twice")
        for r in elf.get_section_by_name(section).iter_relocations()
    ]
    assert found == [(0x18, 2, "table", 4), (0x88, 1, "elsewhere", -8)]


def line_rows(dwarf):
    unit = next(dwarf.iter_CUs())
    program = dwarf.line_program_for_CU(unit)
    files = [entry.name.decode() for entry in program["file_entry"]]
    states = [entry.state for entry in program.get_entries() if entry.state]
    return [(s.address, "end" if s.end_sequence else files[s.file - 1], s.line, s.column) for s in states]


def test_the_line_table_has_every_instruction(elf):
    file, helper = "dir/a b.cu", "helper.h"
    assert line_rows(elf.get_dwarf_info()) == [
        (0x00, file, 10, 5), (0x10, helper, 3, 2), (0x20, helper, 90, 1), (0x30, helper, 90, 1), (0x40, helper, 3, 2),
        (0x50, file, 10, 5), (0x60, file, 10, 5), (0x70, "end", 10, 5),
        (0x70, file, 0, 0), (0x80, file, 0, 0), (0x90, "end", 0, 0),
    ]  # fmt: skip


def ranges_of(die, dwarf) -> list[tuple[int, int]]:
    if "DW_AT_ranges" in die.attributes:
        entries = dwarf.range_lists().get_range_list_at_offset(die.attributes["DW_AT_ranges"].value)
        return [(e.begin_offset, e.end_offset) for e in entries]
    low = die.attributes["DW_AT_low_pc"].value
    return [(low, low + die.attributes["DW_AT_high_pc"].value)]


def tree_of(die, dwarf):
    """A subprogram or inlined call as nested tuples."""
    if die.tag == "DW_TAG_subprogram":
        head = (die.attributes["DW_AT_linkage_name"].value.decode(),)
    else:
        call = tuple(die.attributes[f"DW_AT_call_{what}"].value for what in ("file", "line", "column"))
        head = (die.get_DIE_from_attribute("DW_AT_abstract_origin").attributes["DW_AT_name"].value.decode(), call)
    return (*head, ranges_of(die, dwarf), [tree_of(child, dwarf) for child in die.iter_children()])


def test_dwarf_has_functions_and_inlined_calls():
    program = small_program()
    apart = replace(program, locations=(*program.locations[:5], program.locations[2], program.locations[6], None, None))
    dwarf = ELFFile(io.BytesIO(write_gpubin(apart))).get_dwarf_info()
    unit = next(dwarf.iter_CUs()).get_top_DIE()
    functions = [die for die in unit.iter_children() if "DW_AT_low_pc" in die.attributes]
    assert [die.attributes["DW_AT_name"].value for die in functions] == [b"scan<256>", b"twice"]
    assert [tree_of(die, dwarf) for die in functions] == [
        ("_Z4scanILi256EEvPfi", [(0, 0x70)], [
            ("help", (1, 11, 7), [(0x10, 0x60)], [("deeper", (2, 3, 2), [(0x20, 0x40), (0x50, 0x60)], [])]),
        ]),
        ("twice", [(0x70, 0x90)], []),
    ]  # fmt: skip


def readelf(*arguments) -> str:
    if not shutil.which("readelf"):
        pytest.skip("readelf (binutils) is not installed")
    done = subprocess.run(["readelf", *map(str, arguments)], capture_output=True, text=True, env={"LC_ALL": "C.UTF-8"})
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_readelf_reads_everything_without_a_warning(small_file):
    text = readelf("--all", "--wide", "--debug-dump=info,abbrev,rawline,str,Ranges", small_file)
    assert "NVIDIA CUDA architecture" in text
    assert "Warning" not in text


def test_readelf_agrees_on_the_lines(small_file):
    text = readelf("--debug-dump=decodedline", "--wide", small_file)
    assert [(int(address, 16), int(line)) for line, address in re.findall(r"\s(\d+)\s+(0x[0-9a-f]+|0)\s+x$", text,
        re.MULTILINE)] == [
        (0x00, 10), (0x10, 3), (0x20, 90), (0x30, 90), (0x40, 3), (0x50, 10), (0x60, 10), (0x70, 0), (0x80, 0),
    ]  # fmt: skip


def test_the_format_version_covers_what_the_notes_hold():
    """A field added to these values changes the file: raise GPUBIN_VERSION, then change this test."""
    held = {kind.__name__: [f.name for f in fields(kind)] for kind in (Function, Param, Variable, InitialAddress)}
    held |= {kind.__name__: [f.name for f in fields(kind)] for kind in (Facts, VariableFacts)}
    rows = (PaddedCopy, MemberStore, RegisterHazard, Setting, ScopeChange)
    held |= {kind.__name__: list(kind._fields) for kind in rows}
    assert held == {
        "Function": ["name", "display", "first", "count", "is_kernel", "params", "registers", "r_count", "d_count",
            "p_count",
                     "shared_nbytes", "local_nbytes", "spill_nbytes", "barriers", "max_threads", "required_threads",
                     "min_blocks",
                     "required_cluster", "max_cluster", "explicit_cluster", "raised_registers"],
        "Param": ["name", "type", "offset", "nbytes", "align", "is_pointer", "element", "is_read", "is_written"],
        "Variable": ["name", "space", "offset", "nbytes", "align", "image", "addresses"],
        "InitialAddress": ["offset", "symbol", "is_generic"],
        "Facts": ["padded_copies", "member_stores", "register_hazards", "variables"],
        "VariableFacts": ["settings", "scopes", "table"],
        "PaddedCopy": ["file", "line", "column", "nbytes", "padding"],
        "MemberStore": ["file", "line", "column", "nbytes", "offset", "of_nbytes", "padding", "fields"],
        "RegisterHazard": ["kind", "line", "earlier", "register"],
        "Setting": ["line", "variable", "location"],
        "ScopeChange": ["line", "around"],
    }  # fmt: skip
