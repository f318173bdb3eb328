"""Numbers of launches for benchmark-action/github-action-benchmark, tool customSmallerIsBetter: a chart for each name.

Its `src/extract.ts` takes an array of objects with name, value, unit, and optionally range and extra.
"""

import json

from gpuprof.check.checkout import Checkout
from gpuprof.check.verdict import CheckReport
from gpuprof.correlate.metrics import BY_NAME
from gpuprof.isa.printing.printable import printable

METRICS = ("cycles", "draw_cycles", "dram_nbytes", "registers")  # a chart each: few, and those that are read first


def render(report: CheckReport, checkout: Checkout) -> str:
    values = [
        {
            "name": printable(f"{entry.name}: {launch.title}: {metric}"),
            "unit": BY_NAME[metric].unit,
            "value": launch.metrics[metric],
        }
        for entry in report.entries
        for launch in entry.launches
        for metric in METRICS
        if metric in launch.metrics
    ]
    return json.dumps(values, indent=2) + "\n"
