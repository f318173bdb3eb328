"""The measurements of a card, as plain values. Addresses are offsets in their function, in bytes."""

from dataclasses import dataclass, field
from typing import NamedTuple


class SourceLine(NamedTuple):
    path: str
    line: int


class Instruction(NamedTuple):
    """`lines`: innermost first; each further one is where the code is inlined. Empty: not known."""

    text: str
    lines: tuple[SourceLine, ...] = ()


@dataclass(frozen=True)
class Function:
    """`code`: the known instructions, by offset."""

    symbol: str
    display: str  # name in the source
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
    """Samples of an instruction and a stall reason."""

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
    metrics: dict[str, int | float | str]  # by gpuprof's and by the maker's names
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
    notes: tuple[str, ...] = ()  # remarks that a reader of the numbers needs
