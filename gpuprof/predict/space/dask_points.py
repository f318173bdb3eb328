"""Points of a space on the workers of a running Dask cluster."""

import traceback
from collections.abc import Callable
from typing import NamedTuple

from gpuprof.errors import GpuprofError
from gpuprof.predict.chip_numbers import Numbers
from gpuprof.predict.mapping import Mappings
from gpuprof.predict.prediction import Prediction, joined_predictions, predicted
from gpuprof.predict.recorded import Recorded

AT_A_TIME = 4096  # points per task: a second or so, compared with which the transfer is short


class Part(NamedTuple):
    """The input of a worker."""

    recorded: Recorded
    chips: Numbers
    mappings: Mappings
    with_units: bool


def predicted_on_cluster(all_points: Part, address: str, done: Callable[[int], None]) -> Prediction:
    """The same numbers as those of `predicted`. Raises GpuprofError like sweeps on a cluster."""
    from gpuprof.sweep.dask_cluster import KILLED, is_killed, lost, results

    firsts = range(0, len(all_points.chips), AT_A_TIME)
    parts = [all_points._replace(chips=all_points.chips.part(first, first + AT_A_TIME)) for first in firsts]
    by_index: dict[int, Prediction] = {}
    for index, status, result in results(predict_there, parts, address):
        if is_killed(status, result):
            raise GpuprofError(f"--scheduler {address}: {len(parts[index].chips):,} points: {KILLED}")
        if not isinstance(result, Prediction):
            raise lost(address, status, result)
        by_index[index] = result
        done(sum(len(part.chips) for part in by_index.values()))
    return joined_predictions([by_index[index] for index in sorted(by_index)])


def predict_there(part: Part) -> Prediction | str:
    """Runs on a worker: gives the prediction, or the traceback of a fault of gpuprof itself as text, which can be
    transferred.
    """
    try:
        return predicted(part.recorded, part.chips, part.mappings, part.with_units)
    except Exception:
        return traceback.format_exc()
