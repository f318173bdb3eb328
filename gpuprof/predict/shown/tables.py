"""Predictions as CSV and JSON.

JSON: {"version": 2, "reference", "validated", "warnings", "calibration", "rows"}; NaN is null. Version history: 1 the
first; 2 rows have the launch's number.
"""

import json
import math

from gpuprof.predict.calibrate import Calibrated
from gpuprof.predict.prediction import Prediction
from gpuprof.predict.shown.screen import Row, warnings_of, within
from gpuprof.predict.validated import validated
from gpuprof.report.formats.csv import cell, text_of

VERSION = 2
COLUMNS = (
    "launch",
    "name",
    "chip",
    "microseconds",
    "within_microseconds",
    "score",
    "naive_score",
    "limited_by",
    "cost",
    "refused",
)


def csv_text(found: Prediction, rows: list[Row], fitted: Calibrated | None) -> str:
    return text_of([COLUMNS, *([cell(value) for value in _values(row)] for row in rows)])


def json_text(found: Prediction, rows: list[Row], fitted: Calibrated | None) -> str:
    known = validated()
    document = {
        "version": VERSION,
        "reference": found.recorded.reference.name,
        "validated": {
            "predictions": known.predictions,
            "mean_percent": known.mean_percent,
            "p90_percent": known.p90_percent,
        },
        "warnings": warnings_of(found),
        "calibration": [
            {"level": level, "mapping": mapping, "pairs": pairs, "mean_error": error}
            for level, mapping, pairs, error in (fitted.table() if fitted else [])
        ],
        "rows": [dict(zip(COLUMNS, _values(row), strict=True)) for row in rows],
    }
    return json.dumps(document, indent=1) + "\n"


def _values(row: Row) -> tuple:
    numbers = (row.microseconds, within(row.microseconds), row.score, row.naive)
    found = (None if row.refused or math.isnan(value) else round(value, 6) for value in numbers)
    cost = None if math.isnan(row.cost) else row.cost
    return (row.launch, row.name, row.chip, *found, "" if row.refused else row.unit, cost, row.refused)
