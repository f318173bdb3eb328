"""Functions that Numba compiles once and keeps on disk for later runs.

Numba keeps them in $NUMBA_CACHE_DIR, else beside their source, else in the user's cache folder, and refuses to define them where
none of these can be written: a read-only installation, run by a user without a home. Then they are kept for this process alone.
"""

import atexit
import functools
import shutil
import tempfile

import numba


def _ensure_folder() -> None:
    try:
        numba.njit(cache=True)(_ensure_folder)  # only finds the folder: nothing is compiled before a call
    except RuntimeError:  # "cannot cache function: no locator available"
        numba.config.CACHE_DIR = tempfile.mkdtemp(prefix="gpuprof-")
        atexit.register(shutil.rmtree, numba.config.CACHE_DIR, ignore_errors=True)


_ensure_folder()
kept = functools.partial(numba.njit, cache=True, nogil=True)


class Ufunc:
    """A ufunc of an element's function, made when first called: Numba keeps the element's code, but compiles the loop around it each time."""

    def __init__(self, signature: str, element):
        self._signature, self._element, self._ufunc = signature, element, None

    def __call__(self, *rows, **options):
        if self._ufunc is None:
            self._ufunc = numba.vectorize([self._signature], cache=True)(self._element)
        return self._ufunc(*rows, **options)


def kept_ufunc(signature: str):
    return functools.partial(Ufunc, signature)
