"""The ratios that show if a draw's front end and back end overlap, from plain values. All are those of the reference
chip: its trace of waves, its block times.
"""

from typing import NamedTuple

from gpuprof.predict.draws.shader_waves import Trace


class Ratios(NamedTuple):
    """Cycles, and the ratios between them."""

    bottleneck_fe: float
    bottleneck_be: float
    vs_latency: float
    vs_1st_wave_latency: float
    front_end_shader_time: float
    total_draw_ttrace_latency: float
    per_draw_logged_cycles: float
    front_end_waves_per_engine: float
    vs_vs1_ratio: float
    fe_draw_ratio: float
    out_perf_ratio: float
    febe_ratio: float


def bottleneck(block_cycles: dict[str, float]) -> float:
    """Cycles of the slowest block of one end: Bottleneck_FE or Bottleneck_BE; 0 for no blocks."""
    return max(block_cycles.values(), default=0.0)


def vs_vs1_ratio(vs_latency: float, vs_1st_wave_latency: float) -> float:
    """The time of the last stage before the assembly over that of its first wave."""
    return vs_latency / vs_1st_wave_latency


def front_end_shader_time(first_wave_latencies: dict[str, float], vs_latency: float) -> float:
    """The first waves of ls, hs, es and gs, where there are such, and all of vs."""
    return sum(first_wave_latencies.values()) + vs_latency


def fe_draw_ratio(front_end_shader_cycles: float, total_draw_ttrace_latency: float) -> float:
    return front_end_shader_cycles / total_draw_ttrace_latency


def out_perf_ratio(bottleneck_fe: float, bottleneck_be: float, total_draw_ttrace_latency: float) -> float:
    return (bottleneck_fe + bottleneck_be) / total_draw_ttrace_latency


def febe_ratio(bottleneck_fe: float, bottleneck_be: float, per_draw_logged_cycles: float) -> float:
    return (bottleneck_fe + bottleneck_be) / per_draw_logged_cycles


def ratios_of(
    front_end: dict[str, float],
    back_end: dict[str, float],
    trace: Trace,
    per_draw_logged_cycles: float,
    shader_engines: int,
) -> Ratios:
    """`front_end`, `back_end`: cycles of each block on the reference chip, by name."""
    fe, be = bottleneck(front_end), bottleneck(back_end)
    shaders = front_end_shader_time(trace.first_waves, trace.last_stage_cycles)
    return Ratios(
        fe,
        be,
        trace.last_stage_cycles,
        trace.last_stage_first_wave,
        shaders,
        trace.total_cycles,
        per_draw_logged_cycles,
        trace.front_end_waves / shader_engines,
        vs_vs1_ratio(trace.last_stage_cycles, trace.last_stage_first_wave),
        fe_draw_ratio(shaders, trace.total_cycles),
        out_perf_ratio(fe, be, trace.total_cycles),
        febe_ratio(fe, be, per_draw_logged_cycles),
    )
