"""Functions that Numba compiles once and caches on disk for later runs.

They are cached in $NUMBA_CACHE_DIR, else in the folder of their source, else in a folder of this user's
(`base.folders`); where there is none, for this process only. What does not fit a full disk is not cached either;
`complaint` says so, once. A cached function is used while the text of all files that decide it (`sources`) is the same.
Of several processes that miss the same function, one compiles it, and the others wait for that. Plain Numba (`PLAIN`)
caches nothing.
"""

import functools
import time
from contextlib import suppress
from pathlib import Path

import numba
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    InTreeCacheLocator,
    NullCache,
    UserProvidedCacheLocator,
)
from numba.np.ufunc.dufunc import DUFunc

from gpuprof.base.folders import REMEDY, CacheFolder, cache_folder
from gpuprof.base.lock import Lock
from gpuprof.jit import PLAIN
from gpuprof.jit.sources import digest_of

LOOK_SECONDS = 0.05  # between two looks at a lock that another process holds
PATIENCE_SECONDS = 120  # after these, the other process counts as stuck
_complaints: list[str] = []


def _complain(text: str) -> None:
    if not _complaints:
        _complaints.append(text)


def complaint() -> str:
    """Why something that was compiled since the last call is not on disk; "" when everything is."""
    return _complaints.pop() if _complaints else ""


@functools.cache
def _own_folder() -> CacheFolder | None:
    """The folder of cached machine code when the user names none and the source's folder cannot be written."""
    try:
        return cache_folder("compiled", is_executed=True)
    except OSError as error:
        _complain(f"compiled code cannot be cached, so every run compiles ({error}); {REMEDY}")
        return None


class _Stamped:
    """A cache location of Numba's, whose entries are valid for the text of all files that decide them."""

    def get_source_stamp(self):
        return digest_of(Path(self._py_file))


class _Named(_Stamped, UserProvidedCacheLocator):
    pass


class _BesideSource(_Stamped, InTreeCacheLocator):
    pass


class _Own(_Stamped, InTreeCacheLocator):
    def __init__(self, function, file):
        super().__init__(function, file)
        self._cache_path = str(_own_folder().path / self.get_suitable_cache_subpath(file))

    @classmethod
    def from_function(cls, function, file):
        return super().from_function(function, file) if _own_folder() else None


class _Impl(CompileResultCacheImpl):
    _locator_classes = (_Named, _BesideSource, _Own)


class _Cache(FunctionCache):
    """Numba's, with other places, and one process at a time. A disk that is full does not end the run: what has been
    compiled works all the same.
    """

    _impl_class = _Impl

    def __init__(self, function):
        super().__init__(function)
        self._lock = Lock(Path(self.cache_path, f"{self._impl.filename_base}.lock"))

    def load_overload(self, sig, target_context):
        """The cached function; else None, and then this process compiles: others wait until it has saved, or ended."""
        cached = super().load_overload(sig, target_context)
        end = time.monotonic() + PATIENCE_SECONDS
        while cached is None and not self._lock.take() and time.monotonic() < end:
            time.sleep(LOOK_SECONDS)  # and not in the lock: a thread that waits there cannot be stopped
        if cached is None and (cached := super().load_overload(sig, target_context)) is not None:
            self._lock.give_up()
        return cached

    def save_overload(self, sig, data):
        try:
            self._remove_what_was_left()
            super().save_overload(sig, data)
        except OSError as error:
            _complain(
                f"{self.cache_path}: compiled code cannot be cached there ({error.strerror or error}), so every run "
                "compiles; make room, or set NUMBA_CACHE_DIR to another folder"
            )
        finally:
            self._lock.give_up()

    def _remove_what_was_left(self) -> None:
        """Removes temporary files of this function that a killed process has left: only the process with the lock
        writes.
        """
        for path in Path(self.cache_path).glob(f"{self._impl.filename_base}.*.tmp.*"):
            with suppress(FileNotFoundError):
                path.unlink()


def _cache_of(function):
    try:
        return _Cache(function)
    except RuntimeError:  # "cannot cache function: no locator available"
        return NullCache()


def cached_njit(function=None, **options):
    """Decorates a function, with options of numba.njit or without."""
    if function is None:
        return functools.partial(cached_njit, **options)
    dispatcher = numba.njit(**{"nogil": True} | options)(function)
    if not (numba.config.DISABLE_JIT or PLAIN):
        dispatcher._cache = _cache_of(function)
    return dispatcher


def is_ready(dispatcher, signature: tuple) -> bool:
    """True when a call with arguments of these types starts at once, or compiles code that is not cached anyway."""
    if numba.config.DISABLE_JIT or PLAIN or dispatcher.signatures or isinstance(dispatcher._cache, NullCache):
        return True
    cache = dispatcher._cache
    return cache._index_key(signature, dispatcher.targetctx.codegen()) in cache._cache_file._load_index()


def cache_folder_of(dispatcher) -> Path:
    """The folder in which a function that is not `is_ready` will be cached."""
    return Path(dispatcher._cache.cache_path)


def why_not_lasting(dispatcher) -> str:
    """The text after "once" for the user, when a function is cached in a folder that does not last."""
    folder = _own_folder() if isinstance(dispatcher._cache._impl.locator, _Own) else None
    if not folder or folder.lasts:
        return ""
    return f" until {folder.path} is cleared ({'; '.join(folder.refusals)}: {REMEDY})"


class Ufunc:
    """A ufunc of an element's function, made when first called: Numba keeps the element's code, but compiles the loop
    around it each time.
    """

    def __init__(self, signature: str, element):
        self._signature, self._element, self._ufunc = signature, element, None

    def __call__(self, *rows, **options):
        if self._ufunc is None:
            ufunc = DUFunc(self._element)
            if not PLAIN:
                ufunc._dispatcher.cache = _cache_of(self._element)
            ufunc.add(self._signature)
            ufunc.disable_compile()
            self._ufunc = ufunc
        return self._ufunc(*rows, **options)


def cached_ufunc(signature: str):
    return functools.partial(Ufunc, signature)
