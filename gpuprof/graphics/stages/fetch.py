"""Index fetch: which vertices each triangle has."""

import numpy as np

from gpuprof.errors import UsageError


def triangles(indices: np.ndarray, topology: str) -> np.ndarray:
    """int64 (n, 3): the triangles that a list of vertex numbers, int64 (m,), stands for. Vertices that are left over
    at the end stand for none.
    """
    return _BY_TOPOLOGY[topology](indices)


def check_indices(indices: np.ndarray, n_vertices: int, name: str) -> None:
    """Raises UsageError for an index that no vertex has."""
    wrong = np.flatnonzero((indices < 0) | (indices >= n_vertices))
    if len(wrong):
        first = int(wrong[0])
        raise UsageError(
            f"{name}: index {first} of the index buffer is {int(indices[first])}, and there are {n_vertices} vertices"
        )


def _list(indices: np.ndarray) -> np.ndarray:
    return indices[: len(indices) // 3 * 3].reshape(-1, 3)


def _strip(indices: np.ndarray) -> np.ndarray:
    """Every second triangle is turned, so that all of a strip are seen from the same side; its first vertex stays
    (OpenGL 4.6, table 10.1).
    """
    n = max(len(indices) - 2, 0)
    k = np.arange(n)
    odd = k & 1
    return np.stack([indices[k + odd], indices[k + 1 - odd], indices[k + 2]], 1) if n else _list(indices[:0])


def _fan(indices: np.ndarray) -> np.ndarray:
    n = max(len(indices) - 2, 0)
    k = np.arange(n)
    return np.stack([np.full(n, indices[0]), indices[k + 1], indices[k + 2]], 1) if n else _list(indices[:0])


_BY_TOPOLOGY = {"triangles": _list, "triangle_strip": _strip, "triangle_fan": _fan}
