"""Functions whose machine code is stored in files (`store`): a call takes the code from there, or has Numba compile it
and stores that.

Of several processes that miss the same function, one compiles it, and the others wait for that. What does not fit a
full disk is not stored; `complaint` says so, once. Plain Numba (`PLAIN`) stores nothing.
"""

import functools
import inspect
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import RLock

import numpy as np

from gpuprof.base.caching.lock import Lock
from gpuprof.base.folders import REMEDY, CacheFolder
from gpuprof.errors import GpuprofError
from gpuprof.jit import DISABLED, PLAIN, loading, store
from gpuprof.jit.arguments import Kind, kinds_from, kinds_of, plain, text_of
from gpuprof.jit.compile_stage import compiling
from gpuprof.jit.internal import internal_njit
from gpuprof.jit.processor import processor
from gpuprof.jit.sources import PACKAGE

LOOK_SECONDS = 0.05  # between two looks at a lock that another process holds
PATIENCE_SECONDS = 120  # after these, the other process counts as stuck
_complaints: list[str] = []
_compiling = RLock()


def _complain(text: str) -> None:
    if not _complaints:
        _complaints.append(text)


def complaint() -> str:
    """Why something that was compiled since the last call is not on disk; "" when everything is."""
    return _complaints.pop() if _complaints else ""


class Stored:
    """A function whose machine code is stored. options: of numba.njit, and `is_scalar`."""

    def __init__(self, function: Callable, options: dict):
        functools.update_wrapper(self, function)
        self.py_func = function
        self._is_scalar = options.pop("is_scalar", False)
        self._options = {"nogil": True} | options

    @functools.cached_property
    def _file(self) -> Path:
        return Path(inspect.getfile(self.py_func))

    @property
    def name(self) -> str:
        function = self.py_func
        return f"{function.__module__}.{function.__qualname__}".removeprefix(f"{PACKAGE.name}.").replace(
            "<locals>.", ""
        )

    @functools.cached_property
    def _part(self):
        """Within other compiled functions it is a part of them."""
        return internal_njit(self.py_func, **self._options)

    @property
    def _numba_type_(self):
        return self._part._numba_type_

    def _function(self, kinds: Sequence[Kind]) -> store.Function:
        return store.Function(self.name, self._file, text_of(kinds))

    def found(self, kinds: Sequence[Kind]) -> store.Found:
        """The code that is stored for arguments of these kinds."""
        return store.find(self._function(kinds))

    def object_files(self, kinds: Sequence[Kind], processors: Sequence[str]) -> dict[str, bytes]:
        """The contents of a file for each processor. Has Numba compile."""
        from gpuprof.jit import compiler, entry

        function = self._function(kinds)
        add = entry.add_loop if isinstance(self, Ufunc) else entry.add_call
        made = compiler.object_files(
            self.py_func,
            self._options,
            compiler.Entry(function.entry, add, tuple(kinds), self._is_scalar),
            processors,
        )
        return {cpu: store.contents(function, cpu, *each) for cpu, each in made.items()}

    def address(self, kinds: Sequence[Kind]) -> int:
        """The address of its entry, in memory."""
        function = self._function(kinds)
        found = self.found(kinds)
        if not found.code:
            with _compiling:
                found = self._once(function, kinds)
        return loading.address_of(found.code, function.entry, found.names)

    def _once(self, function: store.Function, kinds: Sequence[Kind]) -> store.Found:
        """The code, compiled here or meanwhile by another process: others wait until this one has saved it or ended."""
        folder = store.folder_for(function.file)
        lock = Lock(folder / f"{function.file_name(processor())}.lock") if folder else None
        end = time.monotonic() + PATIENCE_SECONDS
        if lock:
            while not lock.take() and time.monotonic() < end:
                time.sleep(LOOK_SECONDS)  # and not in the lock: a thread that waits there cannot be stopped
        try:
            found = self.found(kinds)
            return found if found.code else self._compiled(function, kinds, folder)
        finally:
            if lock:
                lock.give_up()

    def _compiled(self, function: store.Function, kinds: Sequence[Kind], folder: Path | None) -> store.Found:
        cpu = processor()
        with compiling(self.py_func):
            data = self.object_files(kinds, [cpu])[cpu]
        if folder is None:
            _complain(str(store.own_folder()))
        else:
            self._save(function, folder, cpu, data)
        return store.taken_apart(data)

    def _save(self, function: store.Function, folder: Path, cpu: str, data: bytes) -> None:
        try:
            store.save(folder, function, cpu, data)
        except (OSError, GpuprofError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            _complain(
                f"{folder}: compiled code cannot be cached there ({reason or error}), so every run compiles; make "
                "room, or set NUMBA_CACHE_DIR to another folder"
            )


class Compiled(Stored):
    """A function that Python calls, with one builtin function for each kind of arguments that it was called with."""

    def __init__(self, function: Callable, options: dict):
        super().__init__(function, options)
        self._calls: dict[str, Callable] = {}
        self._entries: tuple[Callable, ...] = ()

    def __call__(self, *args):
        for entry in self._entries:
            result = entry(*args)
            if result is not NotImplemented:
                return result
        return self._other(args)

    @property
    def kinds(self) -> list[str]:
        """The kinds of arguments that it has code for in this process."""
        return list(self._calls)

    def _other(self, args: tuple):
        """A call with arguments that no entry takes as they are."""
        args = tuple(map(plain, args))
        kinds = kinds_of(args)
        text = text_of(kinds)
        if text not in self._calls:
            self.bind(kinds)
        return self._calls[text](*args)

    def bind(self, kinds: Sequence[Kind]) -> None:
        """Makes an entry for arguments of these kinds."""
        with _compiling:
            text = text_of(kinds)
            if text in self._calls:
                return
            self._calls[text] = loading.function_at(self.address(kinds), self.name)
            self._entries = tuple(self._calls.values())


def cached_njit(function=None, **options):
    """Decorates a function, with options of numba.njit or without."""
    if function is None:
        return functools.partial(cached_njit, **options)
    if DISABLED:
        return function
    if PLAIN or not loading.can_load():
        import numba

        options.pop("is_scalar", None)
        return numba.njit(**{"nogil": True} | options)(function)
    return Compiled(function, dict(options))


def is_ready(function, kinds: str) -> bool:
    """True when a call with arguments of these kinds starts at once, or compiles code that is not stored anyway."""
    if not isinstance(function, Compiled) or kinds in function.kinds:
        return True
    return bool(function.found(kinds_from(kinds)).code) or store.folder_for(function._file) is None


def why_not_shipped(function: Compiled, kinds: str) -> str:
    """Why the code that came with gpuprof is not used; "" where none came."""
    return function.found(kinds_from(kinds)).why_not


def cache_folder_of(function: Compiled) -> Path:
    """The folder in which a function that is not `is_ready` will be stored."""
    return store.folder_for(function._file)


def why_not_lasting(function: Compiled) -> str:
    """The text after "once" for the user, when a function is stored in a folder that does not last."""
    folder = store.own_folder() if store.is_in_own_folder(function._file) else None
    if not isinstance(folder, CacheFolder) or folder.lasts:
        return ""
    return f" until {folder.path} is cleared ({'; '.join(folder.refusals)}: {REMEDY})"


class Ufunc(Stored):
    """A ufunc of an element's function, made when first called. signature: "float64(float32)"."""

    def __init__(self, signature: str, element: Callable):
        super().__init__(element, {})
        result, _, operands = signature.rstrip(")").partition("(")
        self._signature = signature
        self._dtypes = [np.dtype(each.strip()) for each in (*operands.split(","), result)]
        self._ufunc: Callable | None = None

    @property
    def name(self) -> str:
        """The name of the ufunc: its element may be there under a name of its own."""
        module, _, function = super().name.rpartition(".")
        return f"{module}.{function.removeprefix('_')}"

    @property
    def operand_kinds(self) -> tuple[Kind, ...]:
        return kinds_from(",".join(f"{dtype.kind}{dtype.itemsize}" for dtype in self._dtypes[:-1]))

    def __call__(self, *rows, **options):
        if self._ufunc is None:
            with _compiling:
                self._ufunc = self._made()
        return self._ufunc(*rows, **options)

    def _made(self) -> Callable:
        if DISABLED:
            return np.vectorize(self.py_func, otypes=[self._dtypes[-1]])
        if PLAIN or not loading.can_load():
            from numba.np.ufunc.dufunc import DUFunc

            ufunc = DUFunc(self.py_func)
            ufunc.add(self._signature)
            ufunc.disable_compile()
            return ufunc
        return loading.ufunc_at(self.address(self.operand_kinds), self.name, self._dtypes)


def cached_ufunc(signature: str):
    return functools.partial(Ufunc, signature)
