"""The Configs of Triton kernels as values: those of --config, and those of a kernel's own @triton.autotune."""

from collections.abc import Sequence
from dataclasses import replace

from gpuprof.base.cache_control import COLD
from gpuprof.base.stages import stage
from gpuprof.errors import GpuprofError, UsageError
from gpuprof.run.triton_config import parse_config
from gpuprof.sweep.run_sweep import CONFIGS, run_one
from gpuprof.sweep.sweep_plan import prepare
from gpuprof.vary.parameters import OWN, Varied
from gpuprof.vary.variants import VaryPlan, variants_of


def configs_given(texts: Sequence[str]) -> Varied:
    """The parameter of --config. Raises UsageError for a text that is none, or that is given twice."""
    for text in texts:
        parse_config(text)
        if texts.count(text) > 1:
            raise UsageError(f"--config {text}: is given twice")
    return Varied("config", "", tuple(texts))


def with_configs(plan: VaryPlan) -> VaryPlan:
    """The plan with the Configs of the kernel in place of OWN. Raises what `_own_configs` raises.

    Its launches begin with cold caches, unless the user says otherwise: those by which Triton tunes the original would
    leave them warm.
    """
    chosen = [each for each in plan.varied if each.kind == "config"]
    if not chosen:
        return plan
    plan = replace(plan, base=replace(plan.base, cache=plan.base.cache or COLD))
    if all(OWN not in each.texts for each in chosen):
        return plan
    own = _own_configs(plan)
    return replace(
        plan, varied=tuple(each._replace(texts=own) if each.texts == (OWN,) else each for each in plan.varied)
    )


def _own_configs(plan: VaryPlan) -> tuple[str, ...]:
    """The list of the kernel with @triton.autotune that the script launches first: it runs up to there.

    Raises UsageError where it launches none, GpuprofError where it fails before.
    """
    original = variants_of(plan)[0]
    with stage(f"reading the Configs of {plan.base.file.name}"):
        (task,) = prepare(plan.base, [original.run])
        outcome = run_one(replace(task, work=replace(task.work, arguments=original.arguments), brings=CONFIGS))
    if outcome.error:
        raise GpuprofError(f"the original fails before a kernel is tuned: {outcome.error}")
    if not outcome.configs:
        raise UsageError(
            f"--vary config={OWN}: {plan.base.file} launches no kernel with @triton.autotune; give Configs by "
            "--config, as in --config BLOCK=128,num_warps=4"
        )
    return tuple(dict.fromkeys(outcome.configs))
