"""--vary as text."""

import pytest

from gpuprof.errors import UsageError
from gpuprof.vary.parameters import KINDS, Varied, check_titles, extent, parse_varied


@pytest.mark.parametrize(
    "text, kind, name, texts",
    [
        ("block=64, 32x8", "block", "", ("64", "32x8")),
        ("block.scan<256>=64", "block", "scan<256>", ("64",)),
        ("max_registers=32,none", "max_registers", "", ("32", "none")),
        ("D.TILE=8,(4+4)", "D", "TILE", ("8", "(4+4)")),
        ("pad.tile=0,1", "pad", "tile", ("0", "1")),
        ("std=c++17,gnu++20", "std", "", ("c++17", "gnu++20")),
    ],
)
def test_parameters(text, kind, name, texts):
    assert parse_varied(text) == Varied(kind, name, texts)


def test_each_kind_takes_its_own_example():
    assert [parse_varied(kind.example).kind for kind in KINDS.values()] == list(KINDS)


def test_blocks():
    assert [extent(text) for text in ("64", "32x8", "4x4x4")] == [(64, 1, 1), (32, 8, 1), (4, 4, 4)]


@pytest.mark.parametrize(
    "text, message",
    [
        ("blok=3", "--vary blok=3: there is no 'blok'; did you mean block?; there are: block, max_registers, "),
        ("block", "--vary block: expected VALUE,VALUE,... as in block=64,128,256"),
        ("block=64,,128", "expected VALUE,VALUE,..."),
        ("block=0", "'0' is no value; expected numbers of threads, such as 128 or 32x8, as in block=64,128,256"),
        ("block=1x2x3x4", "'1x2x3x4' is no value"),
        ("block=64,64", "the value 64 is given twice"),
        ("max_registers=8", "'8' is no value; expected numbers from 16 on, or none"),
        ("max_registers.k=32", "no name may follow, as in max_registers=32,64,none"),
        ("D=1", "the name of the macro is missing, as in D.TILE=8,16,32"),
        ("D.3=1", "'3' cannot name the macro"),
        ("opt=O9", "'O9' is no value; expected levels from O0 to O3"),
        ("std=python", "'python' is no value; expected C++ standards"),
        ("pad.tile=-1", "'-1' is no value; expected numbers of elements from 0 to 4096"),
    ],
)
def test_what_is_no_parameter(text, message):
    with pytest.raises(UsageError) as caught:
        parse_varied(text)
    assert message in str(caught.value)


def test_a_parameter_is_given_once():
    check_titles((parse_varied("D.A=1"), parse_varied("D.B=1")))
    with pytest.raises(UsageError, match="--vary block: is given twice; give all values at once: block=A,B"):
        check_titles((parse_varied("block=64"), parse_varied("block=128")))
