"""What was measured on a card, as plain values. Addresses are offsets in their function, in bytes."""

from dataclasses import dataclass, field
from typing import NamedTuple


class Place(NamedTuple):
    path: str
    line: int


class Instruction(NamedTuple):
    """`places`: innermost first; each other one is where the code is inlined. None: not known."""

    text: str
    places: tuple[Place, ...] = ()


@dataclass(frozen=True)
class Function:
    """`code`: what is known of its instructions, by offset."""

    symbol: str
    display: str  # name as people write it
    is_kernel: bool
    registers: int = 0  # of a thread
    shared_nbytes: int = 0  # of a block, static
    code: dict[int, Instruction] = field(default_factory=dict)


@dataclass(frozen=True)
class Module:
    name: str
    arch: str  # "sm_80"; "" unknown
    functions: tuple[Function, ...]


class Site(NamedTuple):
    """An instruction: numbers of its module and its function there, and its offset."""

    module: int
    function: int
    offset: int


class Samples(NamedTuple):
    """Of an instruction and a stall reason."""

    n: int
    not_issued: int | None  # of these, taken while the warp's scheduler issued nothing; None: not known


@dataclass(frozen=True)
class Launch:
    module: int
    function: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    dynamic_shared_nbytes: int
    stream: int
    cycles: int
    metrics: dict[str, int | float | str]  # by the names of gpuprof's and of the maker's
    samples: dict[tuple[Site, int], Samples]  # by stall reason (isa.stalls)
    counters: dict[Site, dict[str, int]]  # columns of the table `counters`


@dataclass(frozen=True)
class Profile:
    maker: str  # tool and version that measured it
    chip: str  # name of the card
    facts: dict[str, int | float]  # of the card, by the names of chips.fields
    period_cycles: int  # of PC sampling; 0: none
    modules: tuple[Module, ...]
    sources: dict[str, str]  # path -> text
    launches: tuple[Launch, ...]
    notes: tuple[str, ...] = ()  # what a reader of the numbers has to know
