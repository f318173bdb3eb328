"""Functions that Numba compiles once and keeps on disk for later runs.

Numba keeps them in $NUMBA_CACHE_DIR, else beside their source, else in the user's cache folder, and refuses to define
them where none of these can be written: a read-only installation, run by a user without a home. Then they are kept for
this process alone, and so is what does not fit a disk that is full; `complaint` says so, once. Plain Numba (`plain`)
keeps nothing.
"""

import atexit
import functools
import shutil
import tempfile

import numba
from numba.core.caching import FunctionCache

from gpuprof.compiled.plain import PLAIN


def _ensure_folder() -> None:
    try:
        numba.njit(cache=True)(_ensure_folder)  # only finds the folder: nothing is compiled before a call
    except RuntimeError:  # "cannot cache function: no locator available"
        numba.config.CACHE_DIR = tempfile.mkdtemp(prefix="gpuprof-")
        atexit.register(shutil.rmtree, numba.config.CACHE_DIR, ignore_errors=True)


_ensure_folder()
_complaints: list[str] = []


def _complain(folder: str, error: OSError) -> None:
    if not _complaints:
        _complaints.append(
            f"{folder}: compiled code cannot be kept there ({error.strerror or error}), so every run compiles; "
            "make room, or set NUMBA_CACHE_DIR to another folder"
        )


def complaint() -> str:
    """Why something that was compiled since the last call is not on disk; "" when everything is."""
    return _complaints.pop() if _complaints else ""


class _Cache(FunctionCache):
    """Numba's, but a disk that is full does not end the run: what has been compiled works all the same."""

    def save_overload(self, sig, data):
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _complain(self.cache_path, error)


def kept(function=None, **options):
    """Decorates a function, with options of numba.njit or without."""
    if function is None:
        return functools.partial(kept, **options)
    dispatcher = numba.njit(**{"nogil": True} | options)(function)
    if not (numba.config.DISABLE_JIT or PLAIN):
        dispatcher._cache = _Cache(function)
    return dispatcher


def is_ready(dispatcher, signature: tuple) -> bool:
    """Whether a call with arguments of these types starts at once, or compiles what would not be kept anyway."""
    if numba.config.DISABLE_JIT or PLAIN or dispatcher.signatures:
        return True
    cache = dispatcher._cache
    return cache._index_key(signature, dispatcher.targetctx.codegen()) in cache._cache_file._load_index()


class Ufunc:
    """A ufunc of an element's function, made when first called: Numba keeps the element's code, but compiles the loop
    around it each time.
    """

    def __init__(self, signature: str, element):
        self._signature, self._element, self._ufunc = signature, element, None

    def __call__(self, *rows, **options):
        if self._ufunc is None:
            try:
                self._ufunc = numba.vectorize([self._signature], cache=not PLAIN)(self._element)
            except OSError as error:
                _complain(FunctionCache(self._element).cache_path, error)
                self._ufunc = numba.vectorize([self._signature])(self._element)
        return self._ufunc(*rows, **options)


def kept_ufunc(signature: str):
    return functools.partial(Ufunc, signature)
