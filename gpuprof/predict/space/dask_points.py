"""Points of a space on the workers of a Dask cluster that somebody started."""

import traceback
from collections.abc import Callable
from typing import NamedTuple

from gpuprof.errors import GpuprofError
from gpuprof.predict.chip_numbers import Numbers
from gpuprof.predict.mapping import Mappings
from gpuprof.predict.prediction import Prediction, joined_predictions, predicted
from gpuprof.predict.recorded import Recorded

AT_A_TIME = 4096  # points of a worker's turn: a second or so, beside which the way there is short


class Part(NamedTuple):
    """What a worker is given."""

    recorded: Recorded
    chips: Numbers
    mappings: Mappings
    with_units: bool


def predicted_on_cluster(whole: Part, address: str, done: Callable[[int], None]) -> Prediction:
    """As `predicted`, the same numbers. Raises GpuprofError as sweeps on a cluster do."""
    from gpuprof.sweep.dask_cluster import KILLED, is_killed, lost, results

    firsts = range(0, len(whole.chips), AT_A_TIME)
    parts = [whole._replace(chips=whole.chips.part(first, first + AT_A_TIME)) for first in firsts]
    found: dict[int, Prediction] = {}
    for place, status, result in results(predict_there, parts, address):
        if is_killed(status, result):
            raise GpuprofError(f"--scheduler {address}: {len(parts[place].chips):,} points: {KILLED}")
        if not isinstance(result, Prediction):
            raise lost(address, status, result)
        found[place] = result
        done(sum(len(each.chips) for each in found.values()))
    return joined_predictions([found[place] for place in sorted(found)])


def predict_there(part: Part) -> Prediction | str:
    """On a worker: the prediction; or what went wrong in gpuprof itself, as text, which survives the way."""
    try:
        return predicted(part.recorded, part.chips, part.mappings, part.with_units)
    except Exception:
        return traceback.format_exc()
