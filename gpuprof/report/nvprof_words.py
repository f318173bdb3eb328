"""Metrics that people know from nvprof, and where a report has the same: for `gpuprof explain`."""

from typing import NamedTuple


class Word(NamedTuple):
    name: str
    text: str
    where: str


WORDS = (
    Word("branch_efficiency", "Branches whose lanes all go one way, of all branches. The metric divergent_branches "
         "counts the others; lanes shows what they cost, line by line.", "gpuprof report --page source"),
    Word("warp_execution_efficiency", "Lanes of a warp that take part, of 32: the column lanes.",
         "gpuprof report --page source"),
    Word("gld_efficiency", "Bytes that loads ask for, of those that move. The column excess has the sectors beyond "
         "the ideal.", "gpuprof report --page source"),
    Word("gst_efficiency", "Bytes that stores write, of those that move. The column excess has the sectors beyond "
         "the ideal.", "gpuprof report --page source"),
    Word("shared_efficiency", "Passes through the banks of shared memory that would do, of those there were. The "
         "column conflicts has the others.", "gpuprof report --page source"),
    Word("achieved_occupancy", "Warp slots that were filled, in the mean of the SMs that had work: the fact occupancy.",
         "gpuprof report --page summary"),
    Word("sm_efficiency", "The time in which SMs had work: the line limits says it where it is short.",
         "gpuprof report --page summary"),
)  # fmt: skip
