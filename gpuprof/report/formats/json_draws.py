"""Draws as JSON: beside the kernels, as a draw has several and a kernel is the shader of many.

{"draws": [draw + work], "passes": [group + work], "command_buffers": [group + work], "unfinished_draws": 0}
"""

from collections.abc import Iterable

from gpuprof.chips.draw_units import SHADER_STAGES
from gpuprof.report.model import Kernel, Report
from gpuprof.report.number_text import rounded
from gpuprof.report.tasks.draw_tasks import Draw, Group, Work


def draws_object(report: Report, draws: Iterable[Draw]) -> dict:
    """`draws`: those of the report, in the order that was asked for."""
    found = report.draws
    kernels = {launch.launch: kernel for kernel in report.kernels for launch in kernel.launches}
    return {
        "draws": [draw_object(draw, kernels) for draw in draws],
        "passes": [{"pass": group.draws[0].number_of_pass} | group_object(group) for group in found.passes],
        "command_buffers": [buffer_object(group) for group in found.command_buffers],
        "unfinished_draws": found.unfinished,
    }


def draw_object(draw: Draw, kernels: dict[int, Kernel]) -> dict:
    return {
        "draw": draw.draw,
        "name": draw.name,
        "pass": draw.number_of_pass,
        "command_buffer": draw.command_buffer or None,
        "task": draw.task,
        "target": dict(zip(("width", "height", "samples"), draw.extent, strict=True)),
        "state_changes": draw.state_changes,
        "drains": draw.drains,
        "shaders": [
            {"stage": stage, "kernel": kernels[launch].name, "symbol": kernels[launch].symbol, "launch": launch}
            for launch, stage in sorted(draw.launches.items())
            if launch in kernels
        ],
    } | work_object(draw.work)


def buffer_object(group: Group) -> dict:
    first = group.draws[0]
    return {"command_buffer": first.command_buffer, "task": first.buffer_task} | group_object(group)


def group_object(group: Group) -> dict:
    """`draws`: the numbers of those that it has."""
    return {"draws": [draw.draw for draw in group.draws]} | work_object(group.work)


def work_object(work: Work) -> dict:
    """Shares are of the time, 0 to 1; null is what is not known. A block that did nothing is left out."""
    return {
        "start_cycle": work.start_cycle,
        "end_cycle": work.end_cycle,
        "cycles": work.cycles,
        "bottleneck": work.bottleneck or None,
        "fragments": work.fragments,
        "overdraw": rounded(work.overdraw),
        "quad_efficiency": rounded(work.quad_efficiency),
        "counts": work.counts,
        "units": {
            unit: {"busy_share": rounded(share), "blocked_share": rounded(work.blocked_shares[unit])}
            for unit, share in work.shares.items()
            if unit in work.busy
        },
        "stages": {
            stage: {"waves": waves.number, "most_in_flight": waves.most, "full_share": rounded(work.shares.get(stage))}
            for stage, waves in ((stage, work.waves[stage]) for stage in SHADER_STAGES if stage in work.waves)
        },
        "memory": {
            memory.lower(): {"nbytes": nbytes, "share": rounded(work.memory_shares.get(memory))}
            for memory, nbytes in work.nbytes.items()
        },
    }
