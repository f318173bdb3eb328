"""Profiles that other tools measured, as databases: each has a row of FORMATS and a file in this folder.

    REPORT.ncu-rep, ... ─ read ─> Profile ─ write ─> NAME.gpudb

The table imports nothing, so that help is quick. A format's file has `read(path, disassembler)`, which gives an
`imported_profile.Profile` and raises FileFormatError for a file that is damaged, or of an unknown version.
"""

from typing import NamedTuple


class Entry(NamedTuple):
    text: str  # the file and the tool that writes it, for --help and docs/import.md
    extension: str  # of files, from the dot on
    file: str  # the module of this folder that reads it


FORMATS = {
    "ncu-rep": Entry("a report of Nsight Compute", ".ncu-rep", "ncu_rep"),
    "ncu-csv": Entry("the details or the raw page of Nsight Compute, as `ncu --csv` prints it", ".csv", "ncu_csv"),
    "cupti": Entry("PC samples that CUPTI's `pc_sampling_utility` prints", ".pcsamp.csv", "cupti"),
}
