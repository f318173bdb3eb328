"""Compiled code on a disk that is full."""

import errno
import os

import numpy as np
import pytest
from numba.core.caching import IndexDataCacheFile

from gpuprof.jit.cached import cached_njit, cached_ufunc, complaint
from tests.paths import SAMPLES
from tests.support.running import Results, run_file


@pytest.fixture
def full_disk(monkeypatch):
    def save(self, key, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(IndexDataCacheFile, "save", save)
    monkeypatch.setattr(IndexDataCacheFile, "load", lambda self, key: None)
    complaint()


def test_a_function_runs_all_the_same_and_one_complaint_says_where_and_what_to_do(full_disk):
    @cached_njit
    def twice(x):
        return 2 * x

    @cached_njit
    def thrice(x):
        return 3 * x

    assert (twice(21), thrice(14), twice(2.5)) == (42, 42, 5.0)
    folder, _, text = complaint().partition(": ")
    assert folder == twice._cache.cache_path
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
