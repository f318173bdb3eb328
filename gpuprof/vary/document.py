"""The findings of a search as a JSON document."""

from typing import Any

from gpuprof.sweep.run_sweep import Measured, versions
from gpuprof.vary.found import Found, Row, occupancy_of

SCHEMA = "gpuprof-vary-1"


def document_of(found: Found) -> dict[str, Any]:
    """Keys are in a fixed order; shares are from 0 to 1, `null` is what was not measured."""
    plan = found.plan
    return {
        "schema": SCHEMA,
        **{name.replace(" ", "_"): version for name, version in versions().items()},
        "file": str(plan.base.file),
        "chip": found.chip.name,
        "search": found.search,
        "tolerance": plan.tolerance,
        "parameters": [{"name": each.title, "values": list(each.texts)} for each in plan.varied],
        "variants": [_variant(found, row) for row in found.rows],
        "best": found.best and {"variant": found.best.variant, "command": found.best.command},
    }


def _variant(found: Found, row: Row) -> dict[str, Any]:
    titles = [each.title for each in found.plan.varied]
    return {
        "variant": row.variant,
        "values": dict(zip(titles, row.values, strict=True)) if row.values else {},
        "cycles": row.cycles,
        "speedup": row.speedup,
        "registers": row.registers,
        "occupancy": _rounded(row.occupancy),
        "results": row.results,
        "text": row.text,
        "round": row.round,
        "is_timed": row.is_timed,
        "launches": [_launch(found, launch) for launch in row.launches],
        "command": row.command,
    }


def _launch(found: Found, launch: Measured) -> dict[str, Any]:
    return {
        "launch": launch.launch,
        "kernel": launch.kernel,
        "grid": launch.grid,
        "block": launch.block,
        "cycles": launch.metrics["cycles"],
        "cycles_error": _rounded(launch.cycles_error),
        "registers": launch.metrics["registers"],
        "occupancy": _rounded(occupancy_of(launch, found.chip)),
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
