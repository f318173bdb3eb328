"""Profiles that other tools measured, as databases: a row of FORMATS and a file beside this one each.

    REPORT.ncu-rep, ... ─ read ─> Profile ─ fill ─> NAME.gpudb

The table imports nothing, so that help is quick. A format's file has `read(path, disassembler)`, which gives a
`profile.Profile` and raises FileFormatError for a file that is damaged, or of a version that is not known.
"""

from typing import NamedTuple


class Entry(NamedTuple):
    text: str  # what it is and who writes it, for --help and docs/import.md
    extension: str  # of files, from the dot on
    file: str  # that reads it, in this folder


FORMATS = {
    "ncu-rep": Entry("a report of Nsight Compute", ".ncu-rep", "ncu_rep"),
    "ncu-csv": Entry("the details or the raw page of Nsight Compute, as `ncu --csv` prints it", ".csv", "ncu_csv"),
    "cupti": Entry("PC samples that CUPTI's `pc_sampling_utility` prints", ".pcsamp.csv", "cupti"),
}
