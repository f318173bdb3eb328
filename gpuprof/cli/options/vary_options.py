"""--vary: its options, the plan that they make, and what is shown of it.

FILE, Given ─ plan_of ─> VaryPlan ─ show ─> variants run; a table or JSON on stdout
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpuprof.cli.options.option import CHIPS, LIST, OUTPUT, RESULTS, SWITCH, Given, Option
from gpuprof.cli.options.settings import build_options_of
from gpuprof.cli.options.value_types import NearChoice, Tolerance
from gpuprof.run.compile_file import DEFAULT_CHIP

if TYPE_CHECKING:
    from gpuprof.vary.found import Found
    from gpuprof.vary.variants import VaryPlan

VARY = Option(
    "--vary",
    "varied",
    "A parameter and its values: block=64,128 or 32x8, max_registers=32,none, min_blocks=1,2, D.NAME=V, pad.ARRAY=0,1, "
    "compiler=clang,nvcc, opt=O1,O3, use_fast_math=no,yes, std=c++17, config=autotune. Several give all combinations. "
    "Repeatable.",
    metavar="KEY=V,...",
    form=LIST,
    group=CHIPS,
)
SEARCH = Option(
    "--search",
    "search",
    "Time all variants (grid), or in rounds, each of the faster half, the first ones in part (halving).",
    type=NearChoice(("grid", "halving")),
    usual="grid for up to 16 variants",
    group=CHIPS,
)
COMPARE = Option(
    "--compare",
    "compared",
    "Compare only this array with the original's. Repeatable.",
    metavar="NAME",
    form=LIST,
    usual="all of the launches",
    group=RESULTS,
)
TOLERANCE = Option(
    "--tolerance",
    "tolerance",
    "Relative tolerance of floats.",
    metavar="X",
    type=Tolerance(),
    usual="none, all bytes must be the same",
    group=RESULTS,
)
CONFIG = Option(
    "--config",
    "configs",
    "A Config that a script's Triton kernels are launched with: a value of the parameter `config`. Repeatable.",
    metavar="NAME=V,...",
    form=LIST,
    group=CHIPS,
)
JOBS = Option(
    "--jobs", "jobs", "Worker processes.", metavar="N", type=click.IntRange(min=1), group=CHIPS, usual="one per core"
)
SEED = Option(
    "--seed", "seed", "Seed of random data.", metavar="N", type=click.IntRange(min=0), group=RESULTS, default=0
)
JSON = Option("--json", "as_json", "Print JSON, schema gpuprof-vary-1.", form=SWITCH, group=OUTPUT)
VARY_OPTIONS = (VARY, CONFIG, SEARCH, JOBS, COMPARE, TOLERANCE, SEED, JSON)


def plan_of(file: Path, arguments: tuple[str, ...], given: Given) -> "VaryPlan":
    """The plan that VARY_OPTIONS and those of a run make. `arguments`: of a script or a program. Raises UsageError."""
    from gpuprof.sweep.sweep_plan import Plan
    from gpuprof.vary.parameters import parse_varied
    from gpuprof.vary.triton_configs import configs_given
    from gpuprof.vary.variants import VaryPlan

    base = Plan(
        file,
        chips=(given.chip_name or DEFAULT_CHIP,),
        host=given.host_name,
        launches=given.launches,
        script_args=arguments,
        options=build_options_of(given),
        seed=given.seed,
        max_cycles=given.max_cycles,
        max_instructions=given.max_instructions,
        sample_blocks=given.sample_blocks,
        cache=given.cache,
        repeat=given.repeat,
    )
    configs = (configs_given(given.configs),) if given.configs else ()
    varied = (*map(parse_varied, given.varied), *configs)
    return VaryPlan(base, varied, given.search or "", given.compared, given.tolerance, given.jobs)


def show(plan: "VaryPlan", as_json: bool, width: int | None) -> None:
    """Runs the variants and prints what is found; after Ctrl-C what is there, before it is raised again."""
    from gpuprof.vary.found import found_of
    from gpuprof.vary.search import explore
    from gpuprof.vary.triton_configs import with_configs
    from gpuprof.vary.variants import variants_of

    plan = with_configs(plan)
    variants = variants_of(plan)
    tried = {}
    try:
        for each in explore(plan, variants):
            tried[each.number] = each
    except KeyboardInterrupt:
        if tried:
            _print(found_of(plan, variants, tried, is_done=False), as_json, width)
        raise
    _print(found_of(plan, variants, tried), as_json, width)


def _print(found: "Found", as_json: bool, width: int | None) -> None:
    printer: Callable = _print_json if as_json else _print_table
    printer(found, width)
    sys.stdout.flush()


def _print_json(found: "Found", _: int | None) -> None:
    from gpuprof.vary.document import document_of

    click.echo(json.dumps(document_of(found), indent=1))


def _print_table(found: "Found", width: int | None) -> None:
    from gpuprof.report.terminal.report_screen import console_for, look_for, tolerant, write
    from gpuprof.vary.vary_screen import lines

    tolerant(sys.stdout)
    console = console_for(sys.stdout)
    write(lines(found, look_for(console, width)), console)
