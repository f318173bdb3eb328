"""The 64 bits of a texture, surface or sampler handle.

     63      62       61..44  43    42         41     40..38 37..35 34..32  31..0
    +-------+--------+-------+-----+----------+------+------+------+------+---------+
    | valid | static | 0     | mip | unnormal | linear | address 2, 1, 0  | image   |
    +-------+--------+-------+-----+----------+------+------+------+------+---------+

`image` numbers an image the host has made, from 1; a sampler's own handle has 0 there. So does an unbound `.texref`,
which lies in global memory as such a word: a value without `valid` is the address of one. `static`: the sampler was
given in the PTX text and stays when a texture is bound.
"""

from typing import NamedTuple

ADDRESS_MODES = ("wrap", "mirror", "clamp_ogl", "clamp_to_edge", "clamp_to_border")  # in the order PTX numbers them
FILTERS = ("nearest", "linear")
VALID, STATIC = 1 << 63, 1 << 62
_ADDRESS_SHIFT, _FILTER_SHIFT, _UNNORMALIZED_SHIFT, _MIP_SHIFT = (32, 35, 38), 41, 42, 43
IMAGE_MASK = (1 << 32) - 1
SAMPLER_MASK = STATIC | (1 << 44) - (1 << 32)
HANDLE_NBYTES = 8


class Sampler(NamedTuple):
    """How a texture is read between and outside of its elements. The defaults are what zero bits mean."""

    address: tuple[str, ...] = ("wrap", "wrap", "wrap")  # one for each axis
    filter: str = "nearest"
    normalized: bool = True
    mip_filter: str = "nearest"


NO_SAMPLER = Sampler()


def pack_handle(image: int, sampler: Sampler = NO_SAMPLER, is_static: bool = False) -> int:
    word = VALID | image | (STATIC if is_static else 0)
    for shift, mode in zip(_ADDRESS_SHIFT, sampler.address, strict=True):
        word |= ADDRESS_MODES.index(mode) << shift
    word |= FILTERS.index(sampler.filter) << _FILTER_SHIFT
    word |= (not sampler.normalized) << _UNNORMALIZED_SHIFT
    return word | FILTERS.index(sampler.mip_filter) << _MIP_SHIFT


def sampler_of(word: int) -> Sampler:
    """Raises ValueError for bits that mean nothing."""
    address = []
    for shift in _ADDRESS_SHIFT:
        number = word >> shift & 7
        if number >= len(ADDRESS_MODES):
            raise ValueError(f"unknown address mode {number}")
        address.append(ADDRESS_MODES[number])
    filters = [FILTERS[word >> shift & 1] for shift in (_FILTER_SHIFT, _MIP_SHIFT)]
    return Sampler(tuple(address), filters[0], not word >> _UNNORMALIZED_SHIFT & 1, filters[1])


def bind_word(old: int, handle: int) -> int:
    """The word of an opaque variable that `handle` is bound to. It keeps its own sampler when the PTX text gave one."""
    return handle & ~SAMPLER_MASK | old & SAMPLER_MASK if old & STATIC else handle


# The names in an opaque variable's initial value (PTX ISA, "Opaque types"), and their fields in a Sampler.
_STATIC_ADDRESS = ("addr_mode_0", "addr_mode_1", "addr_mode_2")


def static_word(fields: dict[str, str | int]) -> int:
    """The word of an opaque variable from the fields of its initial value. Raises ValueError for a field or value there
    is not.
    """
    address, other = ["wrap"] * 3, {}
    for name, value in fields.items():
        if name in _STATIC_ADDRESS:
            address[_STATIC_ADDRESS.index(name)] = _known(name, value, ADDRESS_MODES)
        elif name == "filter_mode":
            other["filter"] = _known(name, value, FILTERS)
        elif name in ("normalized_coords", "force_unnormalized_coords"):
            other["normalized"] = bool(_known(name, value, (0, 1))) == (name == "normalized_coords")
        else:
            raise ValueError(
                f"unknown field {name}; known: filter_mode, {', '.join(_STATIC_ADDRESS)}, normalized_coords, "
                "force_unnormalized_coords"
            )
    return pack_handle(0, Sampler(tuple(address), **other), is_static=True)


def _known(name: str, value: str | int, known: tuple):
    if value not in known:
        raise ValueError(f"{name} is one of {', '.join(map(str, known))}, not {value}")
    return value
