"""The flags that say which samples are wanted."""

from collections.abc import Callable
from functools import wraps

import click

_FLAGS = (
    click.option(
        "--filter",
        "words",
        multiple=True,
        metavar="KEY=VALUE",
        help="Keep only samples that match all filters: sm=0-3,7, block=0-63, warp=0, launch=2, kernel=RE, stream=1, "
        "task=RE, draw=3,5-9, stage=vertex, cycles=1000-2000, launch-cycles=0-4095; off keeps none. Repeatable. Exact "
        "numbers always cover the whole run.",
    ),
    click.option("--draw", metavar="N,A-B", help="Sample only shaders of these draws; the first is 0."),
    click.option("--stage", metavar="NAMES", help="Sample only shaders of these stages, as in vertex,pixel."),
    click.option(
        "--kernel-name",
        metavar="NAME",
        help="Sample only kernels of this name, or regex:RE, as in ncu. Of a program, "
        "launches that this and the next two leave out are only emulated.",
    ),
    click.option(
        "--launch-skip",
        type=click.IntRange(min=0),
        metavar="N",
        help="Skip the first N launches that pass the other filters.",
    ),
    click.option(
        "--launch-count",
        type=click.IntRange(min=1),
        metavar="N",
        help="Sample at most N launches that pass the other filters.",
    ),
)


def filter_options(command: Callable) -> Callable:
    """Gives a command these flags, and the filter they make, written as one, as its argument `filter`; None when none
    was given.
    """

    @wraps(command)
    def with_filter(*, words, draw, stage, kernel_name, launch_skip, launch_count, **others):
        from gpuprof.timing.sampling.filter import filter_of_words, kernel_pattern

        named = [f"kernel={kernel_pattern(kernel_name)}"] if kernel_name else []
        counted = [f"{key}={number}" for key, number in (("skip", launch_skip), ("count", launch_count)) if number]
        drawn = [f"{key}={value}" for key, value in (("draw", draw), ("stage", stage)) if value is not None]
        words = [*words, *drawn, *named, *counted]
        return command(filter=str(filter_of_words(words)) if words else None, **others)

    for flag in reversed(_FLAGS):
        with_filter = flag(with_filter)
    return with_filter


def filter_flags(wanted) -> list[str]:
    """The filter as words of a command line."""
    import shlex

    return [part for word in shlex.split(str(wanted)) for part in ("--filter", word)]
