"""The search: how exactly which variants are timed, and in which order.

A grid times every variant whole, in one round. Successive halving (Jamieson and Talwalkar, "Non-stochastic best arm
identification", AISTATS 2016) goes up a ladder of rungs, each costlier than the one below, and takes along the better
half of those that compute the same. The rungs: where all launches are of one kernel, the first launch, the first two,
four and so on; then all launches. On all rungs but the last one only as many blocks are timed as show a launch's rate
(`--sample-blocks`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from gpuprof.base.stages import stage
from gpuprof.device.launching.argument_values import NOTHING_REQUESTED
from gpuprof.sweep.run_sweep import DIGESTS, VALUES, Kernels, Outcome, Task
from gpuprof.sweep.sweep_plan import prepare
from gpuprof.sweep.workers import on_this_machine
from gpuprof.vary.judged import SAME, Tried, judged
from gpuprof.vary.variants import HALVING, ORIGINAL, Variant, VaryPlan, search_of


class Rung(NamedTuple):
    """`n_launches`: the first ones that run, None for all."""

    n_launches: int | None
    sample_blocks: bool


def explore(plan: VaryPlan, variants: Sequence[Variant]) -> Iterator[Tried]:
    """The results of the variants, round by round; of several of one variant the newest counts.

    Raises GpuprofError when the original fails, and what the compiler raises when it does not compile.
    """
    ready = _ready(plan, variants)
    ladder = rungs(ready, search_of(plan, len(variants) - 1), plan.base.sample_blocks)
    alive = [each.number for each in ready]
    for number, rung in enumerate(ladder, 1):
        found: dict[int, Tried] = {}
        tasks = [_on(rung, each) for each in ready if each.number in alive]
        for tried in judged(plan, _outcomes(tasks, plan.jobs), number, rung.n_launches is None):
            found[tried.number] = tried
            yield tried
        alive = better_half(found)
        if all(found[each].is_whole for each in alive):
            return


def better_half(found: Mapping[int, Tried]) -> list[int]:
    """The original, and of the variants that compute the same the faster half, rounded up."""
    same = [each for each in found.values() if each.results == SAME and each.number != ORIGINAL]
    ranked = sorted(same, key=lambda each: (each.cycles, each.number))
    return sorted([ORIGINAL, *(each.number for each in ranked[: -(-len(ranked) // 2)])])


def rungs(ready: Sequence[Task | Outcome], search: str, sample_blocks: bool) -> list[Rung]:
    """`sample_blocks`: on the last rung, too, because the user says so."""
    last = Rung(None, sample_blocks)
    if search != HALVING:
        return [last]
    works = [each.work for each in ready if isinstance(each, Task)]
    kernels = [request.kernel for work in works[:1] if isinstance(work, Kernels) for request in work.requests]
    lower = []
    if len(set(kernels)) == 1:
        count = 1
        while count < len(kernels):
            lower.append(Rung(count, True))
            count *= 2
    return [*lower, Rung(None, True), *([last] if not sample_blocks else [])]


def _ready(plan: VaryPlan, variants: Sequence[Variant]) -> list[Task | Outcome]:
    """The task of each variant; its outcome where it does not compile."""
    brings = DIGESTS if plan.tolerance is None else VALUES
    return [
        each if isinstance(each, Outcome) else replace(each, work=_work(each, variant), brings=brings)
        for each, variant in zip(prepare(plan.base, [each.run for each in variants]), variants, strict=True)
    ]


def _work(task: Task, variant: Variant):
    return task.work if isinstance(task.work, Kernels) else replace(task.work, arguments=variant.arguments)


def _on(rung: Rung, task: Task | Outcome) -> Task | Outcome:
    if isinstance(task, Outcome):
        return task
    work = task.work
    if rung.n_launches is not None:
        work = replace(work, requests=work.requests[: rung.n_launches], wanted=NOTHING_REQUESTED)
    return replace(task, work=work, sample_blocks=rung.sample_blocks)


def _outcomes(ready: Sequence[Task | Outcome], jobs: int | None) -> Iterator[Outcome]:
    """The outcomes, as they come. Variants that come out as the same code and launches run once."""
    alike: list[tuple[Task, list[int]]] = []
    for task in ready:
        if isinstance(task, Task):
            numbers = next((numbers for other, numbers in alike if _is_alike(other, task)), None)
            if numbers is None:
                alike.append((task, [task.number]))
            else:
                numbers.append(task.number)
    numbers_of = {task.number: numbers for task, numbers in alike}
    with stage("", "variants", len(ready), each="variant") as under_way:
        for outcome in (each for each in ready if isinstance(each, Outcome)):
            under_way.done += 1
            under_way.failed += 1
            yield outcome
        for outcome in on_this_machine([task for task, _ in alike], jobs):
            for number in numbers_of[outcome.number]:
                under_way.done += 1
                under_way.failed += bool(outcome.error)
                yield replace(outcome, number=number)


def _is_alike(one: Task, other: Task) -> bool:
    """True where two variants are the same once they are compiled; what a script or a program does with its
    options is not known.
    """
    return isinstance(one.work, Kernels) and one.work == other.work
