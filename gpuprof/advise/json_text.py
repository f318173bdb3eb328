"""Advice as JSON. Its keys are stable within a schema; a new key is another version."""

import json
from collections.abc import Sequence

from gpuprof.advise.advise import Advised
from gpuprof.advise.brief import measured_with, verify_command
from gpuprof.advise.draft import Advice

SCHEMA = "gpuprof-advice-1"


def as_json(found: Sequence[Advised], file: str, chip: str) -> str:
    kernels = [
        {
            "kernel": each.chosen.kernel,
            "launch": each.launch,
            "cycles": each.chosen.cycles,
            "fidelity": each.fidelity,
            "advice": [_piece(piece, file, each.chosen.kernel) for piece in each.advice],
        }
        for each in found
    ]
    return json.dumps({"schema": SCHEMA, "file": file, "chip": chip, "kernels": kernels}, indent=1)


def _piece(each: Advice, file: str, kernel: str) -> dict:
    draft = each.draft
    return {
        "topic": draft.topic,
        "place": draft.place,
        "path": draft.path,
        "line": draft.line,
        "evidence": draft.evidence,
        "change": draft.change,
        "sketch": draft.sketch,
        "cycles_before": each.cycles_before,
        "cycles_after": each.cycles_after,
        "speedup": round(each.speedup, 4),
        "refuted_by": draft.refuted_by,
        "intervention": measured_with(each),
        "verify": verify_command(file, kernel),
    }
