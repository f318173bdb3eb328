"""A watched chunk that rests, as a copy that can run on in its place: for a debugger that goes back to its midst.

What a chunk changes while it runs is copied; what all chunks of its launch share (code, global memory, constants, the
log) is not. An array that is a part of another is the same part of the other's copy.
"""

from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

from gpuprof.emulate.collectives.barriers import Barriers
from gpuprof.emulate.collectives.cluster import ClusterBarrier
from gpuprof.emulate.collectives.mbarrier import Mbarriers
from gpuprof.emulate.core.call_stack import CallStack
from gpuprof.emulate.core.contended_loops import Crowd
from gpuprof.emulate.core.lanes import Lanes, RegisterFile
from gpuprof.emulate.core.pacing import Pacing
from gpuprof.emulate.core.spaces import BlockSpace, LaneSpace
from gpuprof.emulate.trace_log.trace import Column, TraceLog

PLAIN = frozenset((int, float, str, bytes, bool, type(None), frozenset, range, FunctionType, BuiltinFunctionType, type))
COPIED = frozenset((CallStack, Crowd, Lanes, RegisterFile, BlockSpace, LaneSpace, Column, TraceLog, Barriers,
                    ClusterBarrier, Mbarriers, Pacing))  # fmt: skip


class _Copier:
    """`memo`: what an object's copy is, by its id, with the object so that the id stays its own."""

    def __init__(self, shared: list, copied: frozenset[type]):
        self.memo: dict[int, tuple[Any, Any]] = {id(value): (value, value) for value in shared}
        self.copied, self.nbytes = copied, 0

    def copy(self, value: Any) -> Any:
        kind = type(value)
        if kind in PLAIN or isinstance(value, np.generic):
            return value
        known = self.memo.get(id(value))
        if known is None:
            made = self._array(value) if kind is np.ndarray else self._made(value, kind)
            known = self.memo.setdefault(id(value), (value, made))
        return known[1]

    def _made(self, value: Any, kind: type) -> Any:
        if kind is list or kind is set:
            return kind(map(self.copy, value))
        if kind is dict:
            return {self.copy(key): self.copy(element) for key, element in value.items()}
        if kind is tuple:
            return tuple(map(self.copy, value))
        if isinstance(value, tuple):  # a NamedTuple
            return kind(*map(self.copy, value))
        if kind in self.copied:
            return self._object(value, kind)
        if callable(value) and not isinstance(value, MethodType):  # compiled code
            return value
        raise AssertionError(f"a chunk holds a {kind.__name__}, of which it is not known whether it changes")

    def _object(self, value: Any, kind: type) -> Any:
        made = kind.__new__(kind)
        self.memo[id(value)] = value, made
        for name in getattr(kind, "__slots__", None) or vars(value):
            setattr(made, name, self.copy(getattr(value, name)))
        return made

    def _array(self, array: np.ndarray) -> np.ndarray:
        root = array
        while isinstance(root.base, np.ndarray):
            root = root.base
        if not array.size:
            return np.empty(array.shape, array.dtype)
        if id(root) not in self.memo or root is array:
            data = root.ravel(order="K").copy().view(np.uint8)
            self.nbytes += data.nbytes
            self.memo[id(root)] = root, np.ndarray(root.shape, root.dtype, data, 0, root.strides)
            if root is array:
                return self.memo[id(root)][1]
        data = self.memo[id(root)][1].base
        offset = array.__array_interface__["data"][0] - root.__array_interface__["data"][0]
        return np.ndarray(array.shape, array.dtype, data, offset, array.strides)


def duplicate(chunk) -> tuple[Any, int]:
    """A copy of a WatchedChunk that rests, and the bytes of its arrays. The copy has no listener before it is moved to
    a run (`WatchedChunk.move_to`).
    """
    shared = [
        chunk.launch,
        chunk.module,
        chunk.chip,
        chunk.tally,
        chunk.pulse,
        chunk.log,
        chunk.listener,
        chunk.watched,
    ]
    shared += [chunk.spaces[name] for name in ("global", "const", "param")]
    shared += [chunk.pacing.clocks] if chunk.pacing else []
    shared += [chunk.block_of_rank, chunk.file.constants, chunk.file.template, chunk.meetings.operations]
    shared += [constant for row in chunk.file.constants for constant in row]
    shared += [blocks[index] for blocks in (chunk.module.blocks, chunk.watched) for index in chunk.module.blocks]
    copier = _Copier(shared, COPIED | {type(chunk), type(chunk.meetings)})
    chunk.executing, chunk.places_of_warps = None, (None, None, None)
    made = copier.copy(chunk)
    made.listener = None  # it knows the chunk whose events it gets
    return made, copier.nbytes
