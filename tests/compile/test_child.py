"""What ended a compiler, as far as its words tell."""

import pytest

from gpuprof.compile.child import MEMORY, _limit_of

MIB = 1 << 20


@pytest.mark.parametrize(
    "told, limit",
    [
        ("terminate called after throwing an instance of 'std::bad_alloc'", MEMORY),
        ("libc++abi: terminating due to uncaught exception of type std::bad_alloc: std::bad_alloc", MEMORY),
        ("  what():  std::bad_alloc", MEMORY),
        ("LLVM ERROR: out of memory", MEMORY),
        ("ld.lld: error: undefined symbol: std::bad_alloc::~bad_alloc()", None),
        ("a.cu:3:1: error: expected ';'", None),
    ],
)
def test_a_symbol_of_the_library_is_no_lack_of_memory(told, limit):
    assert _limit_of(1, b"", told.encode(), MIB) == limit
