"""A recording of many samples, made from a real one: its launches once more, with the samples repeated."""

from pathlib import Path

import numpy as np

from gpuprof.records.reader import read_recording
from gpuprof.records.writer import RecordWriter


def write_big_recording(path: Path, model: Path, n_records: int) -> Path:
    """Writes the first launch of `model` to `path` with `n_records` wide samples in place of its own."""
    recording = read_recording(model)
    launch = recording.launches[0]
    samples = np.resize(launch.samples, n_records)
    samples["cycle"] = np.arange(n_records)
    with RecordWriter(path) as writer:
        writer.meta(recording.meta)
        writer.chip(recording.chip)
        for source, text in recording.sources.items():
            writer.source(source, text)
        for number, module in recording.modules.items():
            fields = {name: value for name, value in module.fields.items() if name != "id"}
            writer.module(number, image=module.image, **fields)
        writer.launch_begin(launch.begin)
        writer.samples(0, samples)
        for table, rows in launch.rows.items():
            writer.rows(table, 0, rows)
        end = launch.end | {"samples_due": n_records, "samples_kept": n_records, "samples_dropped": 0}
        writer._json(b"LEND", end)
    return path
