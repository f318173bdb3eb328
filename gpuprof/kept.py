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
kept_ufunc = functools.partial(numba.vectorize, cache=True)
