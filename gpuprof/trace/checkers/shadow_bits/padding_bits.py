"""Which bytes of stores are padding of a structure that is copied whole, and which stores write a member of a
structure with padding: nobody has given that a value, and nobody should.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gpuprof.isa.facts import MemberStore, PaddedCopy, Range
from gpuprof.trace.kernel import Code, Instruction


def padding_of(code: Code) -> dict[int, np.ndarray]:
    """By the number of a store: uint8 (nbytes,), its bits that are padding."""
    copies: dict[tuple[str, int, int], list[PaddedCopy]] = defaultdict(list)
    for copy in code.facts.padded_copies:
        copies[copy.file, copy.line, copy.column].append(copy)
    groups: dict[tuple, list[Instruction]] = defaultdict(list)
    for each in code.instructions if copies else ():
        place = each.location
        if each.kind == "store" and place is not None and (place.file, place.line, place.column) in copies:
            groups[place, each.basic_block, each.encoded.a].append(each)
    found: dict[int, np.ndarray] = {}
    for (place, _, _), stores in groups.items():
        found |= _padding(copies[place.file, place.line, place.column], stores)
    return found


class Member(NamedTuple):
    """A store writes bytes from `first` on of a structure. uint8 (nbytes,): its bits that are padding, and those of bit
    fields.
    """

    first: int
    padding: np.ndarray
    fields: np.ndarray


def members_of(code: Code) -> dict[int, Member]:
    """By the number of a store."""
    stores: dict[tuple[str, int, int], list[MemberStore]] = defaultdict(list)
    for store in code.facts.member_stores:
        stores[store.file, store.line, store.column].append(store)
    found: dict[int, Member] = {}
    for each in code.instructions if stores else ():
        place = each.location
        if each.kind == "store" and place is not None and (place.file, place.line, place.column) in stores:
            member = _one_of(stores[place.file, place.line, place.column], each.nbytes)
            if member is not None:
                found[each.number] = member
    return found


def _one_of(stores: Sequence[MemberStore], nbytes: int) -> Member | None:
    """What a store of `nbytes` writes. Of a template or a macro there may be several at one place: those that cannot be
    are passed over, and which of the others it is nobody says, unless they say the same.
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
    """What a store of `nbytes` writes. One that is wider than the member takes others along, in a place that is a
    multiple of its width; None where that cannot be, as bytes between have no member.
    """
    padding, fields = (_of_bits(ranges, store.of_nbytes) for ranges in (store.padding, store.fields))
    first = _words(store).get(nbytes, store.offset // nbytes * nbytes)
    written = padding[first : first + nbytes]
    is_wider = nbytes > store.nbytes
    if len(written) < nbytes or (is_wider and (written == 0xFF).any()):
        return None
    return Member(first, padding, fields) if is_wider or nbytes in _words(store) else None


def _words(store: MemberStore) -> dict[int, int]:
    """By their bytes, the places of the words that a member is stored as. That of bit fields may have any number of
    bytes: 5 are stored as 4 and 1.
    """
    found, offset, rest = {}, store.offset, store.nbytes
    while rest:
        nbytes = 1 << rest.bit_length() - 1
        found[nbytes] = offset
        offset, rest = offset + nbytes, rest - nbytes
    return found


def _of_bits(ranges: Sequence[Range], nbytes: int) -> np.ndarray:
    """uint8 (nbytes,)."""
    bits = np.zeros(8 * nbytes, np.bool_)
    for start, end in ranges:
        bits[start:end] = True
    return np.packbits(bits, bitorder="little")


def _padding(copies: Sequence[PaddedCopy], stores: Sequence[Instruction]) -> dict[int, np.ndarray]:
    """Of the stores of one copy, or several in a row. None where they do not make up whole structures. `copies`: of
    this place; of a template there may be some of several types, and then padding is what is padding of all.
    """
    first = min(store.encoded.offset for store in stores)
    length = max(store.encoded.offset + store.nbytes for store in stores) - first
    fitting = [copy for copy in copies if length % copy.nbytes == 0]
    if sum(store.nbytes for store in stores) != length or not fitting:
        return {}
    is_padding = np.bitwise_and.reduce([np.tile(_of_copy(copy), length // copy.nbytes) for copy in fitting])
    places = {store.number: store.encoded.offset - first + np.arange(store.nbytes) for store in stores}
    return {number: is_padding[place] for number, place in places.items() if is_padding[place].any()}


def _of_copy(copy: PaddedCopy) -> np.ndarray:
    """uint8 (nbytes,)."""
    return _of_bits(copy.padding, copy.nbytes)
