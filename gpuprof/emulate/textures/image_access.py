"""The common part of textures and surfaces: from handles to images, and the trace of accessed bytes."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from gpuprof.device.images import Image
from gpuprof.device.memory import GLOBAL_BASE
from gpuprof.emulate.core.faults import fault_of_element
from gpuprof.emulate.core.lanes import WARP, Lanes
from gpuprof.emulate.core.late_accesses import AccessedRanges, WrongRange, refuse
from gpuprof.emulate.core.operands import Ref
from gpuprof.emulate.trace_log.coalesce import TAG_BANKS, tag_bank
from gpuprof.emulate.trace_log.trace_entries import access_word
from gpuprof.isa.handles import HANDLE_NBYTES, IMAGE_MASK, VALID

MOST_SECTORS = 255  # an access record has 8 bits for them; a filtered fetch of a whole warp may touch more
SECTOR_SHIFT, LINE_SHIFT = 5, 2
WARP_SHIFT = 44  # of a key that holds a warp and a sector


class ImageFetch(NamedTuple):
    """Lanes that fetch from one image: `at` indexes the active lanes."""

    image: Image
    word: int
    at: np.ndarray


def active_elements(lanes: Lanes, guard) -> np.ndarray:
    """The elements of the rows whose lanes take part, ascending."""
    active = lanes.active if guard is None else guard(lanes)
    return np.arange(lanes.n) if active is None else np.flatnonzero(active)


def handle_word(lanes: Lanes, at: int, element: int, handle: int) -> int:
    """The word of a handle: itself, or the content of an opaque variable. 0 for an address outside of memory."""
    if handle & VALID:
        return handle
    space = lanes.chunk.spaces["global"]
    if not space.holds(handle, handle + HANDLE_NBYTES) or handle % HANDLE_NBYTES:
        return 0
    word = int(space.views[8][handle - GLOBAL_BASE >> 3])
    return word if word == 0 or word & VALID else 0


def find_images(
    lanes: Lanes, at: int, elements: np.ndarray, handles: np.ndarray, is_surface: bool, results: Sequence[Ref] = ()
) -> Iterator[ImageFetch]:
    """The images of the active lanes' handles, uint64 like `elements`. Raises KernelFault for a handle of no image, or
    of one that is not in memory any more; where that is refused, `results` are 0.
    """
    for handle in np.unique(handles):
        where = np.flatnonzero(handles == handle)
        word = handle_word(lanes, at, int(elements[where[0]]), int(handle))
        image = lanes.chunk.spaces["global"].memory.images.get(word & IMAGE_MASK)
        wrong = wrong_image(image, word, int(handle), is_surface)
        if wrong:
            refuse_image(lanes, at, elements[where], wrong)
        elif is_in_memory(lanes, at, elements[where], int(handle), image):
            yield ImageFetch(image, word, where)
            continue
        clear(lanes, results, elements[where])


def clear(lanes: Lanes, results: Sequence[Ref], elements: np.ndarray) -> None:
    """Sets the registers that lanes have loaded to 0."""
    for ref in results:
        lanes.v[ref.kind][ref.index][elements] = 0


def wrong_image(image: Image | None, word: int, handle: int, is_surface: bool) -> str:
    """A text on what is wrong with the image of a handle's word; "" when it is valid."""
    what = "surface" if is_surface else "texture"
    if image is None:
        why = f"unbound {what}" if word else f"no {what}"
        return f"{why} at handle 0x{handle:x}; give the kernel one that the host has made"
    return "" if image.is_surface == is_surface else f"handle 0x{handle:x} is {image.name}, and no {what}"


def refuse_image(lanes: Lanes, at: int, elements: np.ndarray, text: str) -> None:
    """Raises KernelFault, or lets the lanes continue without an image: see `refuse`."""
    refuse(lanes, at, WrongRange("invalid_image", "global", elements, -1, text))


def is_in_memory(lanes: Lanes, at: int, elements: np.ndarray, handle: int, image: Image) -> bool:
    space = lanes.chunk.spaces["global"]
    for number, level in enumerate(image.levels):
        if not space.holds(level.address, level.address + image.level_nbytes(number)):
            text = f"the memory of {image.name} (handle 0x{handle:x}) is gone; {space.describe(level.address)}"
            refuse(lanes, at, WrongRange("outside", "global", elements, level.address, text))
            return False
    return True


def sampler_word(lanes: Lanes, at: int, elements: np.ndarray, samplers: np.ndarray) -> int:
    """The word of the sampler the lanes name, uint64 like `elements`; one for all of them. Raises KernelFault for what
    is none; where that is refused, it is 0.
    """
    element, first = int(elements[0]), int(samplers[0])
    if (samplers != samplers[0]).any():
        raise fault_of_element(lanes, at, element, "the lanes of one fetch name different samplers")
    word = handle_word(lanes, at, element, first)
    if not word & VALID:
        refuse_image(lanes, at, elements, f"no sampler at handle 0x{first:x}")
        return 0
    return word


def trace(
    group: Lanes,
    at: int,
    elements: np.ndarray,
    address: np.ndarray,
    nbytes: int,
    wavefronts: np.ndarray,
    texel_nbytes: np.ndarray,
    operation: str = "load",
) -> None:
    """Records one access of each warp of `group`. address: int64 (lanes that take part, texels of each), -1 where there
    is none.

    nbytes of each lane's access, for the fewest sectors there could be; 0 for fetches, which read what their neighbours
    read anyway.
    wavefronts: int64 (warps of `group`,). texel_nbytes: int64 (lanes that take part,), of one texel or element.
    """
    chunk = group.chunk
    chunk.touches(at, lambda: texels(operation, elements, address, texel_nbytes))
    if not chunk.log.is_wanted and not chunk.tally.is_wanted:
        return
    warp = elements // WARP
    touched = address >= 0
    keys = np.unique((warp[:, None] << WARP_SHIFT | address >> SECTOR_SHIFT)[touched])
    n_warps = len(group.masks)
    lines_of = np.unique(keys >> LINE_SHIFT)
    warp_of_line = lines_of >> WARP_SHIFT - LINE_SHIFT
    lines = np.bincount(warp_of_line, minlength=n_warps)
    owner = keys >> WARP_SHIFT
    count = np.bincount(owner, minlength=n_warps)
    rank = np.arange(len(keys)) - (np.cumsum(count) - count)[owner]
    keys, count = keys[rank < MOST_SECTORS], np.minimum(count, MOST_SECTORS)
    lanes = np.bincount(warp, minlength=n_warps)
    records = access_word(
        count,
        np.minimum(lines, 255),
        np.minimum(wavefronts, 255),
        np.minimum(most_in_a_bank(warp_of_line, lines_of, n_warps), 255),
        lanes,
        most_on_one(warp[touched[:, 0]], address[touched[:, 0], 0], n_warps) if operation == "reduction" else 0,
    )
    chunk.log.accesses(group.step_warps, records[group.masks != 0], keys & (1 << WARP_SHIFT) - 1)
    ideal = np.minimum(count, -(-lanes * nbytes // 32)) if nbytes else count
    n_lines = int(np.minimum(lines, 255)[group.masks != 0].sum())
    chunk.tally.sectors(at, n_lines, int(count.sum()), int(ideal.sum()))


def texels(
    operation: str, elements: np.ndarray, address: np.ndarray, texel_nbytes: np.ndarray
) -> Iterator[AccessedRanges]:
    """The accesses that `trace` records, for listeners."""
    rows, _ = np.nonzero(address >= 0)
    yield AccessedRanges("global", operation, elements[rows], address[address >= 0], texel_nbytes[rows])


def most_in_a_bank(warp: np.ndarray, line: np.ndarray, n_warps: int) -> np.ndarray:
    """Most lines of each warp in one tag bank of the L1: int64 (n_warps,). warp and line: one of each distinct line
    (the bits above a line's are the same in all of a warp's)."""
    bank = tag_bank(line & (1 << WARP_SHIFT - LINE_SHIFT) - 1)
    counts = np.bincount(warp * TAG_BANKS + bank, minlength=n_warps * TAG_BANKS)
    return counts.reshape(-1, TAG_BANKS).max(axis=1)


def most_on_one(warp: np.ndarray, address: np.ndarray, n_warps: int) -> np.ndarray:
    """Most lanes of each warp on one address: uint8 (n_warps,). warp and address: one of each lane."""
    groups, counts = np.unique(np.stack([warp, address]), axis=1, return_counts=True)
    most = np.zeros(n_warps, np.uint8)
    np.maximum.at(most, groups[0], counts.astype(np.uint8))
    return most
