"""All rules, by topic."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from gpuprof.advise import global_rules, issue_rules, latency_rules, shape_rules, shared_rules
from gpuprof.advise.case import Case
from gpuprof.advise.draft import Draft


class Rule(NamedTuple):
    """topics: of the drafts that it makes."""

    look: Callable[[Case], Iterator[Draft]]
    topics: str


RULES = (
    Rule(global_rules.coalesce, "coalesce"),
    Rule(global_rules.vectorize, "vectorize"),
    Rule(global_rules.shared_tiling, "shared_tiling"),
    Rule(global_rules.locality, "locality"),
    Rule(global_rules.redundant_threads, "redundant_threads"),
    Rule(global_rules.repeated_sums, "redundant_threads"),
    Rule(global_rules.constant_serial, "constant_serial"),
    Rule(global_rules.fences, "fences"),
    Rule(shared_rules.bank_conflicts, "bank_conflicts"),
    Rule(shared_rules.atomics, "atomics"),
    Rule(shared_rules.warp_shuffle, "warp_shuffle"),
    Rule(shared_rules.barriers, "barriers"),
    Rule(shared_rules.register_blocking, "register_blocking"),
    Rule(shared_rules.tensor_cores, "tensor_cores"),
    Rule(issue_rules.divergence, "divergence"),
    Rule(issue_rules.f64, "f64"),
    Rule(issue_rules.costly_instructions, "costly_instructions"),
    Rule(issue_rules.costly_functions, "costly_instructions"),
    Rule(issue_rules.local_memory, "spills local_arrays"),
    Rule(latency_rules.independent_work, "independent_work async_copy"),
    Rule(shape_rules.occupancy_limit, "occupancy"),
    Rule(shape_rules.large_blocks, "occupancy"),
    Rule(shape_rules.more_blocks, "more_blocks"),
    Rule(shape_rules.tail, "tail"),
    Rule(shape_rules.load_balance, "load_balance"),
    Rule(shape_rules.launches, "launches"),
)


def drafts(case: Case) -> list[Draft]:
    """Gives all findings of the rules, the largest share of the launch's cycles first."""
    found = [draft for rule in RULES for draft in rule.look(case)]
    return sorted(found, key=lambda draft: (-draft.share, draft.topic, draft.place))
