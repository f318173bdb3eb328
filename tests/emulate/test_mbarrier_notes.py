"""What an access record of an mbarrier operation says: the phase that a warp's lanes end first, and how many of it."""

from types import SimpleNamespace

import numpy as np

from gpuprof.emulate.collectives import mbarrier
from gpuprof.emulate.trace_log.trace_entries import ACCESS_DTYPE

N_WARPS = 60


def test_ends_are_counted_by_warp(monkeypatch):
    """Sixty warps, of which some have no lane in the instruction; each has up to 32 lanes that end a phase, of three
    objects.
    """
    rng = np.random.default_rng(3)
    masks = np.where(rng.random(N_WARPS) < 0.8, np.uint32(0xFFFFFFFF), np.uint32(0))
    runs = np.flatnonzero(masks)
    elements = np.sort(np.concatenate([rng.choice(32, rng.integers(0, 33), False) + 32 * row for row in runs]))
    keys = rng.integers(0, 3, len(elements))
    records = np.zeros(len(runs), ACCESS_DTYPE)
    monkeypatch.setattr(mbarrier, "records_of", lambda lanes: records)
    mbarriers = SimpleNamespace(key_of=lambda index: (None, index))
    lanes = SimpleNamespace(chunk=SimpleNamespace(cluster=1, mbarriers=mbarriers), masks=masks)
    mbarrier.note_ends(lanes, elements, keys)
    for record, row in zip(records, runs.tolist(), strict=True):
        of_warp = [int(key) for element, key in zip(elements, keys, strict=True) if element // 32 == row]
        wanted = (of_warp[0], of_warp.count(of_warp[0])) if of_warp else (0, 0)
        assert (int(record["tag_passes"]), int(record["uniform"])) == wanted
