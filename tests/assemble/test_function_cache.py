"""Functions that were assembled before are not assembled again, and a program has the same bytes then."""

from dataclasses import replace

import pytest

from gpuprof.assemble import assemble as assembler, function_cache
from gpuprof.assemble.function_cache import FunctionCache
from gpuprof.assemble.object.elf import write_gpubin
from gpuprof.base.caching import entries as files
from gpuprof.compile.module import PtxModule

HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n"
VARIABLES = ".const .align 8 .b64 first;\n.const .align 8 .b64 second;\n.global .align 4 .b32 total;\n"
TWICE = """
.func (.param .b32 result) twice (.param .b32 x)
{
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [x];
    add.s32 %r2, %r1, %r1;
    st.param.b32 [result], %r2;
    ret;
}
"""
CALLS = """
.visible .entry calls(.param .u64 p)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    .loc 1 10 3
    ld.param.u64 %rd1, [p];
    ld.u32 %r1, [%rd1];
    .loc 1 11 3
    {
    .param .b32 a;
    .param .b32 b;
    st.param.b32 [a], %r1;
    call (b), twice, (a);
    ld.param.b32 %r2, [b];
    }
    st.u32 [%rd1], %r2;
    ret;
}
"""
# Literals that are no immediates, a variable in constant memory and one that the loader places.
NUMBERS = """
.visible .entry numbers(.param .u64 p)
{
    .reg .f64 %fd<4>;
    .reg .b64 %rd<4>;
    .loc 1 20 3
    ld.param.u64 %rd1, [p];
    ld.f64 %fd1, [%rd1];
    .loc 1 21 5
    mul.f64 %fd2, %fd1, 0d3FB999999999999A;
    ld.const.f64 %fd3, [second];
    add.f64 %fd2, %fd2, %fd3;
    st.f64 [%rd1], %fd2;
    mov.u64 %rd2, total;
    st.u64 [%rd1+8], %rd2;
    ret;
}
"""
OTHER = """
.visible .entry other(.param .u64 p)
{
    .reg .f64 %fd<3>;
    .reg .b64 %rd<2>;
    .loc 1 30 3
    ld.param.u64 %rd1, [p];
    ld.f64 %fd1, [%rd1];
    mul.f64 %fd2, %fd1, 0d3FC999999999999A;
    st.f64 [%rd1], %fd2;
    ret;
}
"""
TEXT = HEADER + VARIABLES + TWICE + CALLS + OTHER + NUMBERS + '.file 1 "k.cu"\n'
ALL = ["twice", "calls", "other", "numbers"]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("GPUPROF_CACHE", str(tmp_path / "cache"))


def module_of(text: str) -> PtxModule:
    return PtxModule("k.cu", text, {}, {}, "test", "sm_80")


@pytest.fixture
def assemble(monkeypatch):
    """(text, max_registers) -> the functions that were assembled; the bytes are those without a cache."""
    lowered = []
    lower = assembler.lower_function
    monkeypatch.setattr(
        assembler, "lower_function", lambda function, *rest: lowered.append(function.name) or lower(function, *rest)
    )

    def run(text: str, max_registers: int | None = None) -> list[str]:
        module = module_of(text)
        plain = write_gpubin(assembler.assemble_program(module, max_registers=max_registers))
        lowered.clear()
        cache = FunctionCache(module, max_registers)
        program = assembler.assemble_program(module, max_registers=max_registers, cache=cache)
        cache.save()
        assert write_gpubin(program) == plain
        return list(lowered)

    return run


def test_what_has_not_changed_is_not_assembled(assemble):
    assert assemble(TEXT) == ALL
    assert assemble(TEXT) == []
    assert assemble(TEXT.replace("0d3FC999999999999A", "0d3FD999999999999A")) == ["other"]


# Text that only moves functions, in the PTX or in their source.
MOVES = {
    "lines before": lambda text: text.replace(".address_size 64\n", ".address_size 64\n\n// moved\n\n"),
    "source lines": lambda text: text.replace(".loc 1 2", ".loc 1 12").replace(".loc 1 1", ".loc 1 21"),
    "a function before": lambda text: text.replace(OTHER, "") + OTHER,
    "a literal less": lambda text: text.replace(OTHER, ""),
}


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES)
def test_what_has_only_moved_is_not_assembled(assemble, move):
    assemble(TEXT)
    assert assemble(move(TEXT)) == []


# What changes, and which functions that changes.
CHANGES = {
    "a variable before": (lambda text: text.replace("first;", "first[2];"), ["twice", "calls", "other", "numbers"]),
    "the target": (lambda text: text.replace("sm_80", "sm_86"), ALL),
    "a debugger's": (lambda text: text.replace("sm_80", "sm_80, debug"), ALL),
    "a directive": (lambda text: text.replace("other(.param .u64 p)", "other(.param .u64 p)\n.maxntid 64"), ["other"]),
    "positions that were one": (
        lambda text: text.replace("ld.u32 %r1, [%rd1];", ".loc 1 99 1\nld.u32 %r1, [%rd1];"), ["calls"],
    ),
    "an instruction after a position": (lambda text: text.replace(".loc 1 30 3", ".loc 1 30 3 bar.sync 0;"), ["other"]),
    "the registers of a callee": (
        lambda text: text.replace("add.s32 %r2, %r1, %r1;", "div.s64 %d1, %d1, %d2; mov.b64 {%r2, _}, %d1;").replace(
            ".reg .b32 %r<3>;", ".reg .b32 %r<3>; .reg .b64 %d<3>;", 1
        ),
        ["twice", "calls"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("change", "expected"), CHANGES.values(), ids=CHANGES)
def test_what_depends_on_a_change_is_assembled(assemble, change, expected):
    assemble(TEXT)
    assert assemble(change(TEXT)) == expected


def test_options_are_part_of_it(assemble):
    assemble(TEXT)
    assert assemble(TEXT, max_registers=24) == ALL


def test_positions_are_those_of_the_text():
    cache = FunctionCache(module_of(TEXT), None)
    assembler.assemble_program(module_of(TEXT), cache=cache)
    cache.save()
    moved = module_of(TEXT.replace(".loc 1 30", ".loc 1 77"))
    program = assembler.assemble_program(moved, cache=FunctionCache(moved, None))
    function = program.kernel("other")
    places = {program.locations[index] for index in range(function.first, function.first + function.count)}
    assert [str(place) for place in places] == ["k.cu:77"]


def test_a_damaged_entry_is_none(assemble):
    assemble(TEXT)
    (entry,) = files.folder(files.FUNCTIONS).iterdir()
    entry.write_bytes(entry.read_bytes()[:-1] + b"?")
    assert assemble(TEXT) == ALL


def test_a_small_module_is_not_looked_for():
    assert function_cache.function_cache(module_of(TEXT), None) is None


def test_what_the_folder_holds_has_a_bound(monkeypatch):
    module = module_of(TEXT)
    monkeypatch.setattr(files, "MOST_NBYTES", 10_000)
    sizes = []
    for number in range(5):
        other = replace(module, name=f"{number}.cu")
        cache = FunctionCache(other, None)
        assembler.assemble_program(other, cache=cache)
        cache.save()
        sizes.append(sum(path.stat().st_size for path in files.folder(files.FUNCTIONS).iterdir()))
    assert sizes[0] < sizes[1] and max(sizes) <= 10_000
