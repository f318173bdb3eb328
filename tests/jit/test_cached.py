"""Functions whose machine code is stored: their arguments and results, and the files of their code."""

import errno
import os
from typing import NamedTuple

import numpy as np
import pytest

from gpuprof.jit import DISABLED, PLAIN, store
from gpuprof.jit.arguments import kinds_of
from gpuprof.jit.cached import Compiled, cached_njit, cached_ufunc, complaint
from gpuprof.jit.processor import processor
from tests.paths import SAMPLES
from tests.support.running import Results, run_file

pytestmark = pytest.mark.skipif(DISABLED or PLAIN, reason="nothing of ours is compiled")


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache with a blank in its name."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "a cache"))
    complaint()
    return tmp_path / "a cache"


def codes(cache) -> list:
    return sorted(cache.rglob("*.code"))


# --- a call


class Pair(NamedTuple):
    rows: np.ndarray
    scale: int


def the_same(x):
    return x


def add_row(pair, out):
    for k in range(len(out)):
        out[k] += pair.rows[1, k] * pair.scale


def total(rows):
    sum = 0
    for row in rows:
        for number in row:
            sum += number
    return sum


def numbers(x, y):
    return x, y > 0, (x / 2, None is None)


def fail(x):
    if x > 2:
        raise ValueError("too many")
    return x


def scratch(n):
    row = np.zeros(n, np.int64)
    row[n // 2] = 7
    return row.sum()


@pytest.mark.parametrize(
    ("value", "kinds", "result"),
    [
        (3, "i8", 3),
        (-(1 << 63), "i8", -(1 << 63)),
        (np.int64(3), "i8", 3),
        (np.uint16(65535), "i8", 65535),
        ((1 << 64) - 1, "u8", (1 << 64) - 1),
        (np.uint64(5), "u8", 5),
        (True, "b1", True),
        (np.False_, "b1", False),
        (2.5, "f8", 2.5),
        (np.float64(2.5), "f8", 2.5),
        (np.float32(0.1), "f4", float(np.float32(0.1))),
    ],
)
def test_numbers(value, kinds, result):
    function = cached_njit(the_same)
    found = function(value)
    assert (found, type(found), function.kinds) == (result, type(result), [kinds])


ROWS = np.arange(12).reshape(3, 4)


@pytest.mark.parametrize(
    ("rows", "kinds"),
    [
        (ROWS.copy(), "i8[2C]"),
        (np.asfortranarray(ROWS), "i8[2F]"),
        (ROWS[:, ::2], "i8[2A]"),
        (ROWS.astype(np.uint8), "u1[2C]"),
        (ROWS.astype(np.longlong), "i8[2C]"),  # numpy's other type of that size
        (np.broadcast_to(ROWS, ROWS.shape), "i8[2C]"),
        (ROWS.copy().view(np.matrix), "i8[2C]"),
    ],
)
def test_arrays(rows, kinds):
    function = cached_njit(total)
    assert (function(rows), function.kinds) == (int(rows.sum()), [kinds])


def test_a_named_tuple_and_an_array_that_is_written():
    function = cached_njit(add_row)
    out = np.ones(4, np.int64)
    assert function(Pair(ROWS.copy(), 10), out) is None
    assert out.tolist() == [41, 51, 61, 71]
    assert function.kinds == [f"{__name__}:Pair(i8[2C],i8),i8[1C]"]


def test_one_function_for_several_kinds():
    function = cached_njit(the_same)
    assert [function(3), function(2.5), function(4), function(True), function(1.5)] == [3, 2.5, 4, True, 1.5]
    assert function.kinds == ["i8", "f8", "b1"]


def test_results():
    assert cached_njit(numbers)(3, -1.0) == (3, False, (1.5, True))


def test_memory_of_its_own():
    function = cached_njit(scratch)
    assert [function(n) for n in (1, 100, 1_000_000)] == [7, 7, 7]


def test_what_is_raised_in_compiled_code_is_an_error():
    function = cached_njit(fail)
    assert function(2) == 2
    with pytest.raises(RuntimeError, match="fail failed, in compiled code"):
        function(3)


@pytest.mark.parametrize("value", ["text", 1 + 2j, np.array(["text"]), ROWS.astype(">i8"), None, 1 << 64])
def test_what_no_compiled_function_takes(value):
    with pytest.raises((TypeError, OverflowError)):
        cached_njit(the_same)(value)


def test_too_few_arguments_are_refused():
    function = cached_njit(add_row)
    function(Pair(ROWS.copy(), 10), np.ones(4, np.int64))
    with pytest.raises(TypeError):
        function(Pair(ROWS.copy(), 10))


def test_a_ufunc_takes_rows_of_any_form():
    @cached_ufunc("float64(float32, float32)")
    def product(x, y):
        return np.float64(x) * y

    rows = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert product(rows, np.float32(2)).tolist() == (rows * 2.0).tolist()
    assert product(rows[:, ::2], rows[:, ::2].T[:, :1].T).dtype == np.float64
    assert product(np.float32(3), np.float32(5)) == 15.0


# --- where its code comes from


def test_a_second_process_would_find_it(cache):
    assert cached_njit(the_same)(3) == 3
    (path,) = codes(cache)
    before = path.stat().st_mtime_ns
    again = cached_njit(the_same)
    assert again(4) == 4
    assert path.stat().st_mtime_ns == before and codes(cache) == [path]


def found_in(cache) -> store.Found:
    """The code of `the_same`, compiled before."""
    function = cached_njit(the_same)
    return store.read(store.folder_for(function._file), function._function(kinds_of((3,))), processor())


def compiled_again(cache, change) -> bool:
    """Changes the file of a function; True when its code is not used any more."""
    cached_njit(the_same)(3)
    (path,) = codes(cache)
    change(path)
    changed = path.read_bytes()
    assert cached_njit(the_same)(4) == 4
    return path.read_bytes() != changed


def cut(path, share: float = 0.5):
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])


@pytest.mark.parametrize(
    "change",
    [
        lambda path: cut(path),
        lambda path: cut(path, 0),
        lambda path: path.write_bytes(path.read_bytes()[:-1] + b"?"),
        lambda path: path.write_bytes(b"\x7fELF" + bytes(5000)),
        lambda path: path.write_bytes(path.read_bytes().replace(b"code 1\n", b"code 0\n")),
    ],
    ids=["a half", "nothing", "another byte", "another file", "another version"],
)
def test_a_damaged_file_is_made_again(cache, change):
    assert compiled_again(cache, change)


@pytest.mark.skipif(os.name != "posix", reason="modes")
@pytest.mark.parametrize("of_folder", [False, True])
def test_what_everybody_can_write_to_is_not_run(cache, of_folder):
    cached_njit(the_same)(3)
    (path,) = codes(cache)
    (path.parent if of_folder else path).chmod(0o777)
    found = found_in(cache)
    assert not found.code and found.why_not == f"others can write to {path}"


@pytest.mark.parametrize(
    ("change", "why_not"),
    [
        ({"versions": lambda: {"numba": "9.9", "llvmlite": "0.1"}}, "it was made with numba"),
        ({"settings": lambda: {"NUMBA_BOUNDSCHECK": "1"}}, "NUMBA_BOUNDSCHECK would change it"),
        ({"is_unchanged": lambda digests: False}, "it is of other sources"),
    ],
    ids=["versions", "settings", "sources"],
)
def test_why_it_does_not_fit(cache, monkeypatch, change, why_not):
    cached_njit(the_same)(3)
    assert found_in(cache).code and not found_in(cache).why_not
    for name, value in change.items():
        monkeypatch.setattr(store, name, value)
    assert not found_in(cache).code and found_in(cache).why_not.startswith(why_not)


@pytest.fixture
def full_disk(monkeypatch):
    def save(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(store, "save", save)


def test_a_function_runs_all_the_same_and_one_complaint_says_where_and_what_to_do(full_disk, cache):
    twice, thrice = cached_njit(the_same), cached_njit(total)
    assert (twice(21), thrice(ROWS.copy()), twice(2.5)) == (21, 66, 2.5)
    folder, _, text = complaint().partition(": ")
    assert folder == str(store.folder_for(twice._file))
    assert text == (
        "compiled code cannot be cached there (No space left on device), so every run compiles; make room, or set "
        "NUMBA_CACHE_DIR to another folder"
    )
    assert complaint() == ""


def test_a_ufunc_too(full_disk):
    @cached_ufunc("float64(float64)")
    def half(x):
        return x / 2

    assert half(np.array([1.0, 3.0])).tolist() == [0.5, 1.5]
    assert "No space left on device" in complaint()


def test_the_user_is_told_after_the_launch(monkeypatch):
    told = []
    monkeypatch.setattr(Results, "notice", lambda self, text: told.append(text))
    monkeypatch.setattr("gpuprof.jit.cached._complaints", ["folder: compiled code cannot be cached there"])
    run_file(SAMPLES / "saxpy.cu")
    assert told[-1:] == ["folder: compiled code cannot be cached there"]


def test_compiled_functions_are_of_one_class():
    assert isinstance(cached_njit(the_same), Compiled)
