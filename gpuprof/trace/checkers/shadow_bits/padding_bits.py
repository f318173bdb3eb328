"""Stores of padding, as part of a structure that is copied as a whole, and stores of a member of a structure with
padding. Padding has no value by design.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gpuprof.isa.facts import MemberStore, PaddedCopy, Range
from gpuprof.trace.kernel import Code, Instruction


def padding_of(code: Code) -> dict[int, np.ndarray]:
    """By the number of a store: uint8 (nbytes,), its padding bits."""
    copies: dict[tuple[str, int, int], list[PaddedCopy]] = defaultdict(list)
    for copy in code.facts.padded_copies:
        copies[copy.file, copy.line, copy.column].append(copy)
    groups: dict[tuple, list[Instruction]] = defaultdict(list)
    for each in code.instructions if copies else ():
        location = each.location
        if each.kind == "store" and location is not None and (location.file, location.line, location.column) in copies:
            groups[location, each.basic_block, each.encoded.a].append(each)
    by_store: dict[int, np.ndarray] = {}
    for (location, _, _), stores in groups.items():
        by_store |= _padding(copies[location.file, location.line, location.column], stores)
    return by_store


class Member(NamedTuple):
    """A store writes bytes from `first` on of a structure. uint8 (nbytes,): its padding bits, and those of bit
    fields.
    """

    first: int
    padding: np.ndarray
    fields: np.ndarray


def members_of(code: Code) -> dict[int, Member]:
    """By the number of a store: the member that it writes."""
    stores: dict[tuple[str, int, int], list[MemberStore]] = defaultdict(list)
    for store in code.facts.member_stores:
        stores[store.file, store.line, store.column].append(store)
    by_store: dict[int, Member] = {}
    for each in code.instructions if stores else ():
        location = each.location
        if each.kind == "store" and location is not None and (location.file, location.line, location.column) in stores:
            member = _one_of(stores[location.file, location.line, location.column], each.nbytes)
            if member is not None:
                by_store[each.number] = member
    return by_store


def _one_of(stores: Sequence[MemberStore], nbytes: int) -> Member | None:
    """The member that a store of `nbytes` writes. A template or a macro may have several at one location: impossible
    ones are skipped, and the others have to be equal.
    """
    members = [member for store in stores if (member := _member(store, nbytes)) is not None]
    is_one = all(
        each.first == members[0].first
        and np.array_equal(each.padding, members[0].padding)
        and np.array_equal(each.fields, members[0].fields)
        for each in members[1:]
    )
    return members[0] if members and is_one else None


def _member(store: MemberStore, nbytes: int) -> Member | None:
    """The member that a store of `nbytes` writes. A wider store includes other members, at an offset that is a multiple
    of its width; None if that is impossible, as bytes in between have no member.
    """
    padding, fields = (_of_bits(ranges, store.of_nbytes) for ranges in (store.padding, store.fields))
    first = _words(store).get(nbytes, store.offset // nbytes * nbytes)
    written = padding[first : first + nbytes]
    is_wider = nbytes > store.nbytes
    if len(written) < nbytes or (is_wider and (written == 0xFF).any()):
        return None
    return Member(first, padding, fields) if is_wider or nbytes in _words(store) else None


def _words(store: MemberStore) -> dict[int, int]:
    """By their bytes, the offsets of the words as which a member is stored. A member of bit fields may have any number
    of bytes: 5 are stored as 4 and 1.
    """
    offsets, offset, rest = {}, store.offset, store.nbytes
    while rest:
        nbytes = 1 << rest.bit_length() - 1
        offsets[nbytes] = offset
        offset, rest = offset + nbytes, rest - nbytes
    return offsets


def _of_bits(ranges: Sequence[Range], nbytes: int) -> np.ndarray:
    """uint8 (nbytes,): the bits of ranges."""
    bits = np.zeros(8 * nbytes, np.bool_)
    for start, end in ranges:
        bits[start:end] = True
    return np.packbits(bits, bitorder="little")


def _padding(copies: Sequence[PaddedCopy], stores: Sequence[Instruction]) -> dict[int, np.ndarray]:
    """The padding of the stores of one copy, or of consecutive ones. Empty if they do not make up complete structures.
    `copies`: those at this location; a template may have some of several types, and only common padding counts.
    """
    first = min(store.encoded.offset for store in stores)
    length = max(store.encoded.offset + store.nbytes for store in stores) - first
    fitting = [copy for copy in copies if length % copy.nbytes == 0]
    if sum(store.nbytes for store in stores) != length or not fitting:
        return {}
    is_padding = np.bitwise_and.reduce([np.tile(_of_copy(copy), length // copy.nbytes) for copy in fitting])
    offsets = {store.number: store.encoded.offset - first + np.arange(store.nbytes) for store in stores}
    return {number: is_padding[offset] for number, offset in offsets.items() if is_padding[offset].any()}


def _of_copy(copy: PaddedCopy) -> np.ndarray:
    """uint8 (nbytes,): the padding bits of a copy."""
    return _of_bits(copy.padding, copy.nbytes)
