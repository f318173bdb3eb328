"""Other makers' words for stall reasons: every reason has exactly one term in each vocabulary, so totals are the same
in all.

Terms are the makers' own; which of our reasons goes to which is theirs only where `map` says so. docs/vocabularies.md
has the table.
"""

from collections.abc import Sequence
from typing import NamedTuple

from gpuprof.isa.stalls import COLUMNS, NAMES


class Vocabulary(NamedTuple):
    """`terms`: reason -> term, in the order of the reasons. `map`: whose the assignment is, in short parts. `missing`:
    terms that no reason has, and why.
    """

    name: str
    title: str
    map: str
    terms: dict[str, str]
    missing: dict[str, str] = {}  # noqa: RUF012 (it is never written)

    @property
    def is_own(self) -> bool:
        return self.name == "ncu"

    def word(self, reason: int) -> str:
        """The term of a reason, by number."""
        return self.terms[NAMES[reason]]

    def short(self, reason: int) -> str:
        """The term for a narrow column. For Nsight Compute's vocabulary that is the column's name without its prefix:
        "long_sb".
        """
        return COLUMNS[reason].removeprefix("stall_") if self.is_own else self.word(reason)

    def label(self, reason: int) -> str:
        """The term, and the reason in brackets where it is another word."""
        return NAMES[reason] if self.is_own else f"{self.word(reason)} ({NAMES[reason]})"

    def first(self, term: str) -> int:
        """Number of the first reason that a term has: its place in a sum, and its colour."""
        return next(number for number, name in enumerate(NAMES) if self.terms[name] == term)

    def place(self, reason: int) -> int:
        """The index of a reason's numbers among merged ones."""
        return self.first(self.word(reason))

    def numbers(self) -> tuple[int, ...]:
        """`first` of every term, ascending."""
        return tuple(dict.fromkeys(self.first(self.terms[name]) for name in NAMES))

    def merged(self, per_reason: Sequence[int]) -> tuple[int, ...]:
        """Numbers per reason as numbers per term, in as many places: each term's sum is at its first reason, the
        others are zero.
        """
        if self.is_own:
            return tuple(per_reason)
        sums = [0] * len(NAMES)
        for reason, number in enumerate(per_reason):
            sums[self.place(reason)] += number
        return tuple(sums)

    def reasons_of(self, term: str) -> list[str]:
        return [name for name in NAMES if self.terms[name] == term]


NCU = Vocabulary("ncu", "Nsight Compute", "gpuprof's reasons are its own", {name: name for name in NAMES})

CUPTI = Vocabulary(
    "cupti", "CUPTI's activity API", "the map is NVIDIA's; of branch_resolving and warpgroup_arrive it is ours",
    {
        "selected": "NONE", "not_selected": "NOT_SELECTED", "wait": "EXEC_DEPENDENCY",
        "long_scoreboard": "MEMORY_DEPENDENCY", "short_scoreboard": "EXEC_DEPENDENCY", "barrier": "SYNC",
        "membar": "SYNC", "mio_throttle": "PIPE_BUSY", "lg_throttle": "MEMORY_THROTTLE", "tex_throttle": "TEXTURE",
        "math_pipe_throttle": "PIPE_BUSY", "dispatch_stall": "OTHER", "imc_miss": "CONSTANT_MEMORY_DEPENDENCY",
        "no_instructions": "INST_FETCH", "branch_resolving": "INST_FETCH", "drain": "MEMORY_THROTTLE",
        "sleeping": "SLEEPING", "warpgroup_arrive": "OTHER", "misc": "OTHER",
    },
)  # fmt: skip

# Meanings: the GPU optimization guide, "Hardware-assisted stall sampling". An engine whose thread could have issued,
# but another one did, is active.
INTEL = Vocabulary(
    "intel", "Intel's stall sampling", "the map is ours; Intel publishes none",
    {
        "selected": "ACTIVE", "not_selected": "ACTIVE", "wait": "DIST_ACC", "long_scoreboard": "SBID",
        "short_scoreboard": "SBID",
        "barrier": "SYNC", "membar": "SYNC", "mio_throttle": "SEND", "lg_throttle": "SEND", "tex_throttle": "SEND",
        "math_pipe_throttle": "PIPESTALL", "dispatch_stall": "OTHER", "imc_miss": "SBID",
        "no_instructions": "INST_FETCH",
        "branch_resolving": "CONTROL", "drain": "OTHER", "sleeping": "OTHER", "warpgroup_arrive": "SBID",
        "misc": "OTHER",
    },
)  # fmt: skip

# Meanings: ROCprofiler-SDK, "Analyzing PC sampling data on CDNA3 and CDNA4". A wave that issued has no reason there,
# but a flag, wave_issued.
AMD = Vocabulary(
    "amd", "AMD's stochastic sampling", "the map is ours; AMD publishes none",
    {
        "selected": "WAVE_ISSUED", "not_selected": "ARBITER_NOT_WIN", "wait": "ALU_DEPENDENCY",
        "long_scoreboard": "WAITCNT",
        "short_scoreboard": "WAITCNT", "barrier": "BARRIER_WAIT", "membar": "WAITCNT",
        "mio_throttle": "ARBITER_WIN_EX_STALL",
        "lg_throttle": "ARBITER_WIN_EX_STALL", "tex_throttle": "ARBITER_WIN_EX_STALL",
        "math_pipe_throttle": "ARBITER_WIN_EX_STALL",
        "dispatch_stall": "OTHER_WAIT", "imc_miss": "WAITCNT", "no_instructions": "NO_INSTRUCTION_AVAILABLE",
        "branch_resolving": "NO_INSTRUCTION_AVAILABLE", "drain": "OTHER_WAIT", "sleeping": "SLEEP_WAIT",
        "warpgroup_arrive": "ALU_DEPENDENCY", "misc": "OTHER_WAIT",
    },
    {"INTERNAL_INSTRUCTION": "the model has no such instructions"},
)  # fmt: skip

VOCABULARIES = {vocabulary.name: vocabulary for vocabulary in (NCU, CUPTI, INTEL, AMD)}
