"""Predictions as CSV and JSON.

JSON: {"version": 3, "reference", "validated", "warnings", "calibration", "rows"}; NaN is null. Version history: 1 the
first; 2 rows have the launch's number; 3 rows have the draw's number, and `validated` has an entry for each kind of
part in the recording: launches, draws.
"""

import json
import math

from gpuprof.predict.calibrate import Calibrated
from gpuprof.predict.output.prediction_screen import Row, kinds_of, warnings_of
from gpuprof.predict.prediction import Prediction
from gpuprof.predict.validated import validated
from gpuprof.report.formats import cell, csv_of

VERSION = 3
COLUMNS = (
    "launch",
    "draw",
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


def csv_text(prediction: Prediction, rows: list[Row], fitted: Calibrated | None) -> str:
    return csv_of([COLUMNS, *([cell(value) for value in _values(row)] for row in rows)])


def json_text(prediction: Prediction, rows: list[Row], fitted: Calibrated | None) -> str:
    document = {
        "version": VERSION,
        "reference": prediction.recorded.reference.name,
        "validated": {
            kind: {
                "predictions": validated(kind).predictions,
                "mean_percent": validated(kind).mean_percent,
                "p90_percent": validated(kind).p90_percent,
            }
            for kind in kinds_of(prediction)
        },
        "warnings": warnings_of(prediction),
        "calibration": [
            {"level": level, "mapping": mapping, "pairs": pairs, "mean_error": error}
            for level, mapping, pairs, error in (fitted.table() if fitted else [])
        ],
        "rows": [dict(zip(COLUMNS, _values(row), strict=True)) for row in rows],
    }
    return json.dumps(document, indent=1) + "\n"


def _values(row: Row) -> tuple:
    numbers = (row.microseconds, row.within_microseconds, row.score, row.naive)
    rounded = (None if row.refused or math.isnan(value) else round(value, 6) for value in numbers)
    cost = None if math.isnan(row.cost) else row.cost
    return (row.launch, row.draw, row.name, row.chip, *rounded, "" if row.refused else row.unit, cost, row.refused)
