"""Predictions from a file."""

from collections.abc import Sequence
from pathlib import Path

from gpuprof.chips import Chip
from gpuprof.correlate.database import reading
from gpuprof.predict.chip_numbers import numbers_of
from gpuprof.predict.prediction import Prediction, predicted
from gpuprof.predict.recorded import read_recorded


def predict(database: Path, chips: Sequence[Chip]) -> Prediction:
    """The predictions of a recording or its database."""
    with reading(database) as db:
        recorded = read_recorded(db)
    return predicted(recorded, numbers_of(chips))
