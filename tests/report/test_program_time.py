"""The time of a program on the pages: what its engines did, and what the GPU waited for while no kernel ran."""

import json
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from gpuprof.correlate.correlate import correlate
from gpuprof.report.pages.timeline import _inside
from gpuprof.report.tasks.program_time import Works, gaps, joined, stretches
from tests.support.command import gpuprof
from tests.support.program_recording import write_program

COMPLETE = "# recording  complete\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """p.gprec of a program, and old.gprec of one whose host and GPU have clocks of their own."""
    made = tmp_path_factory.mktemp("programs")
    write_program(made / "p.gprec")
    write_program(made / "old.gprec", is_timed=False, host=None)
    return made


def page(folder, name: str, width: int, file: str = "p.gprec") -> str:
    """The lines below the head."""
    code, out, error = gpuprof(folder, "report", file, "--page", name, "--width", str(width))
    assert (code, error) == (0, "")
    return out.partition(COMPLETE)[2]


def csv(folder, name: str, file: str = "p.gprec") -> str:
    code, out, error = gpuprof(folder, "report", file, "--page", name, "--format", "csv")
    assert (code, error) == (0, "")
    return out


def document(folder, name: str, file: str = "p.gprec") -> dict:
    code, out, error = gpuprof(folder, "report", file, "--page", name, "--format", "json")
    assert (code, error) == (0, "")
    return json.loads(out)


SUMMARY = """\
# the program
# took       52 us, 52,000 cycles at 1000 MHz
# worked     kernels 25.0%, copies 16.2% (0.0% together with kernels), fills 1.0%
#            host functions 6.5%
# idle       58.5%, nothing asked 34.6%, for the host 11.5%, for a function of the host 6.5%
#            for another stream 3.5%, for the start of a request 2.3%
# moved      copy engine in 100 KB at 25 GB/s, copy engine out 50 KB at 12.8 GB/s
#            memory 404 KB at 404 GB/s
"""


def test_the_summary_begins_with_the_program(folder):
    assert page(folder, "summary", 100).partition("\n\n# saxpy\n")[0] + "\n" == "\n" + SUMMARY
    assert page(folder, "summary", 100, "old.gprec").startswith("\n# saxpy\n")


SUMMARY_CSV = """\
Kernel Name,Fact,Value
,program.host,pcie4
,program.cycles,52000
,program.share.kernels,0.25
,program.share.copies,0.161538
,program.share.fills,0.009615
,program.share.page faults,0.0
,program.share.mapped memory,0.0
,program.share.host functions,0.065385
,program.share.copies with kernels,0.0
,program.share.idle,0.584615
,program.idle.a function of the host,0.065385
,program.idle.the host,0.115385
,program.idle.another stream,0.034615
,program.idle.the start of a request,0.023077
,program.idle.nothing asked,0.346154
,program.copy engine in.operations,1
,program.copy engine in.busy_cycles,4000
,program.copy engine in.nbytes,100000
,program.copy engine in.pinned_nbytes,100000
,program.copy engine in.gbytes_per_s,25.0
,program.copy engine out.operations,1
,program.copy engine out.busy_cycles,3900
,program.copy engine out.nbytes,50000
,program.copy engine out.pinned_nbytes,0
,program.copy engine out.gbytes_per_s,12.820513
,program.memory.operations,2
,program.memory.busy_cycles,1000
,program.memory.nbytes,404096
,program.memory.pinned_nbytes,0
,program.memory.gbytes_per_s,404.096
,program.host.operations,1
,program.host.busy_cycles,3400
,program.host.nbytes,0
,program.host.pinned_nbytes,0
,program.host.gbytes_per_s,
"""


def test_facts_of_the_program_are_of_no_kernel(folder):
    found = csv(folder, "summary")
    assert found.startswith(SUMMARY_CSV) and ",program." not in found[len(SUMMARY_CSV) :]
    assert ",program." not in csv(folder, "summary", "old.gprec")


CALLS = """\
calls  time_ns  share  waited_ns  mean_ns  least_ns  most_ns  failed  call
    1    23600  62.1%      22000    23600     23600    23600       0  cudaMemcpy
    1     5000  13.2%          0     5000      5000     5000       0  cudaMalloc
    1     2500   6.6%          0     2500      2500     2500       0  cudaGraphLaunch
    1     2500   6.6%          0     2500      2500     2500       0  cudaLaunchKernel
    1     2000   5.3%          0     2000      2000     2000       0  cudaFree
    1     1000   2.6%          0     1000      1000     1000       0  cudaMemcpyAsync
    1     1000   2.6%          0     1000      1000     1000       0  cudaMemset
    1      400   1.1%          0      400       400      400       0  cudaLaunchHostFunc

calls  time_ns  share  waited_ns   bytes  GB/s  direction
    1    23600  62.1%      22000   50000  2.12  copy to host
    1     2500   6.6%          0       0     0  copy within device
    1     1000   2.6%          0  100000   100  copy to device
    1     1000   2.6%          0    4096   4.1  fill

calls  time_ns  share  waited_ns  place
    1    23600  62.1%      22000  app.cu:14  cudaMemcpy
    1     5000  13.2%          0  app.cu:7  cudaMalloc
    1     2500   6.6%          0  app.cu:11  cudaLaunchKernel
    1     2500   6.6%          0  app.cu:12  cudaGraphLaunch
    1     2000   5.3%          0  app.cu:15  cudaFree
    1     1000   2.6%          0  app.cu:8  cudaMemcpyAsync
    1     1000   2.6%          0  app.cu:9  cudaMemset
    1      400   1.1%          0  app.cu:13  cudaLaunchHostFunc

"""
ENGINES = """\
operations  busy_ns  of program   bytes  GB/s  pinned  engine
         1     4000        7.7%  100000    25  100.0%  copy engine in
         1     3900        7.5%   50000  12.8    0.0%  copy engine out
         2     1000        1.9%  404096   404    0.0%  memory
         1     3400        6.5%       0     -       -  host

gaps  time_ns  of program  longest_ns  before                no kernel ran, for
   1    18000       34.6%       18000  -                     nothing asked
   3     8400       16.2%        4000  fill y                a copy
   1     6000       11.5%        6000  copy to device x      the host
   1     3400        6.5%        3400  copy to host y        a function of the host
   1     1800        3.5%        1800  saxpy                 another stream
   4     1200        2.3%         500  copy within device y  the start of a request
   1      200        0.4%         200  saxpy                 a fill
"""


def test_engines_and_gaps_are_below_the_calls(folder):
    assert page(folder, "api", 100) == "\n" + CALLS + ENGINES
    assert page(folder, "api", 100, "old.gprec") == "\n" + CALLS.rstrip("\n") + "\n"


TIMELINE = """\
                       0 to 52,000 cycles
host
cudaMalloc             ======
cudaMemcpyAsync             ==
  copy to device x           =====
cudaMemset                   ==
  fill y                         ==
cudaLaunchKernel              ====
  saxpy                           ************
cudaGraphLaunch                  ====
  saxpy x 2                                    ======
  copy within device y                           ==
cudaLaunchHostFunc                  =
  host function                                     ====
cudaMemcpy                          ===========================
  copy to host y                                       ======
cudaFree                                                                     ===
copy engine in               49999
copy engine out                                        099992
memory                           05              14
host                                                8998
no kernel, for         hhhhhhhccccf          ooo ss uuuuccccnnnnnnnnnnnnnnnnnnnn
# c a copy, f a fill, u a function of the host, h the host, o another stream, s
# the start of a request, n nothing asked
# copy engine in: 100 KB at 25 GB/s, copy engine out: 50 KB at 12.8 GB/s,
# memory: 404 KB at 404 GB/s
# * on the longest chain of needs (10,000 cycles), = other time, . no time
"""
OLD_TIMELINE = """\
                       0 to 26,500 cycles
host
cudaMalloc             .
cudaMemcpyAsync        .
  copy to device x     .
cudaMemset             .
  fill y               .
cudaLaunchKernel                            =======================
  saxpy                                     ***********************
cudaGraphLaunch                                                       ==========
  saxpy x 2                                                           =====  ===
  copy within device y                                                    .
cudaLaunchHostFunc     .
  host function        .
cudaMemcpy             .
  copy to host y       .
cudaFree               .
# * on the longest chain of needs (10,000 cycles), = other time, . no time
"""


def test_the_timeline_has_the_calls_as_long_as_they_took(folder):
    assert page(folder, "timeline", 80) == "\n" + TIMELINE
    assert page(folder, "timeline", 80, "old.gprec") == "\n" + OLD_TIMELINE


TIMELINE_CSV = """\
Row,Task,Name,Begin Cycle,End Cycle,Critical,Engine,Bytes,GB/s
host,0,cudaMalloc,0,5000,0,,,
host,1,cudaMemcpyAsync,5000,6000,0,,,
stream 1,2,copy to device x,6000,10000,0,copy engine in,100000,25.0
host,3,cudaMemset,6000,7000,0,,,
default stream,4,fill y,10000,10500,0,memory,4096,8.192
host,5,cudaLaunchKernel,7000,9500,0,,,
stream 1,6,saxpy,10200,20200,1,,,
host,7,cudaGraphLaunch,9500,12000,0,,,
default stream,8,saxpy,22000,24000,0,,,
default stream,9,copy within device y,24500,25000,0,memory,400000,800.0
default stream,10,saxpy,25500,26500,0,,,
host,11,cudaLaunchHostFunc,12000,12400,0,,,
default stream,12,host function,26600,30000,0,host,0,
host,13,cudaMemcpy,12400,36000,0,,,
default stream,14,copy to host y,30100,34000,0,copy engine out,50000,12.820513
host,15,cudaFree,50000,52000,0,,,
"""


def test_the_timeline_as_csv_has_engines_and_rates(folder):
    assert csv(folder, "timeline") == TIMELINE_CSV
    assert csv(folder, "timeline", "old.gprec").startswith("Row,Task,Name,Begin Cycle,End Cycle,Critical\n")


PROGRAM = {
    "host": "pcie4",
    "is_estimate": True,
    "begin_cycle": 0,
    "end_cycle": 52000,
    "shares": {
        "kernels": 0.25,
        "copies": 0.161538,
        "fills": 0.009615,
        "page faults": 0.0,
        "mapped memory": 0.0,
        "host functions": 0.065385,
    },
    "copies_with_kernels": 0.0,
    "idle": 0.584615,
    "idle_for": {
        "a function of the host": 0.065385,
        "the host": 0.115385,
        "another stream": 0.034615,
        "the start of a request": 0.023077,
        "nothing asked": 0.346154,
    },
    "engines": [
        {
            "engine": "copy engine in",
            "operations": 1,
            "busy_cycles": 4000,
            "nbytes": 100000,
            "pinned_nbytes": 100000,
            "gbytes_per_s": 25.0,
        },
        {
            "engine": "copy engine out",
            "operations": 1,
            "busy_cycles": 3900,
            "nbytes": 50000,
            "pinned_nbytes": 0,
            "gbytes_per_s": 12.820513,
        },
        {
            "engine": "memory",
            "operations": 2,
            "busy_cycles": 1000,
            "nbytes": 404096,
            "pinned_nbytes": 0,
            "gbytes_per_s": 404.096,
        },
        {"engine": "host", "operations": 1, "busy_cycles": 3400, "nbytes": 0, "pinned_nbytes": 0, "gbytes_per_s": None},
    ],
}
GAPS = [
    (0, 6_000, "the host", "copy to device x"),
    (6_000, 10_000, "a copy", "fill y"),
    (10_000, 10_200, "a fill", "saxpy"),
    (20_200, 22_000, "another stream", "saxpy"),
    (24_000, 24_500, "the start of a request", "copy within device y"),
    (24_500, 25_000, "a copy", "saxpy"),
    (25_000, 25_500, "the start of a request", "saxpy"),
    (26_500, 26_600, "the start of a request", "host function"),
    (26_600, 30_000, "a function of the host", "copy to host y"),
    (30_000, 30_100, "the start of a request", "copy to host y"),
    (30_100, 34_000, "a copy", ""),
    (34_000, 52_000, "nothing asked", ""),
]


@pytest.mark.parametrize("name", ["source", "summary", "api", "timeline"])
def test_the_program_is_in_every_document(folder, name):
    assert document(folder, name)["program"] == PROGRAM
    assert "program" not in document(folder, name, "old.gprec")


def test_gaps_are_in_the_documents_of_calls_and_the_timeline(folder):
    found = [document(folder, name).get("gaps") for name in ("api", "timeline", "summary")]
    assert [None if gaps is None else [tuple(gap.values()) for gap in gaps] for gaps in found] == [GAPS, GAPS, None]
    operations = document(folder, "timeline")["operations"]
    assert operations[0] == {
        **{"task": 2, "name": "copy to device x", "kind": "copy to device", "engine": "copy engine in"},
        **{
            "is_pinned": True,
            "is_node": False,
            "stream": 1,
            "start": 6_000,
            "end": 10_000,
            "nbytes": 100_000,
            "call": 1,
        },
    }
    assert [each["task"] for each in operations] == [2, 4, 9, 12, 14]


@pytest.mark.parametrize("source, cause", [(2, "the start of a request"), (6, "another stream")])
def test_what_ended_before_the_request_holds_up_nothing(folder, tmp_path, source, cause):
    """The graph was launched at cycle 12,000: task 2 had ended at 10,000, task 6 ends at 20,200."""
    correlate(folder / "p.gprec", tmp_path / "p.gpudb")
    with closing(sqlite3.connect(tmp_path / "p.gpudb")) as database, database:
        database.execute("INSERT INTO task_constraints VALUES (?, 10, 'default stream')", (source,))
    found = [tuple(gap.values()) for gap in document(tmp_path, "api", "p.gpudb")["gaps"]]
    assert found == [(*gap[:2], cause, gap[3]) if gap[0] == 25_000 else gap for gap in GAPS]


def test_the_head_says_that_these_times_are_estimates(folder):
    told = document(folder, "api")["header"]["not_held"]
    assert told[-1] == "times of copies and of the host pcie4 are estimates"
    assert not any("estimates" in words for words in document(folder, "api", "old.gprec")["header"]["not_held"])


def test_a_choice_of_launches_is_not_the_program(folder):
    code, out, _ = gpuprof(folder, "report", "p.gprec", "--page", "summary", "--launch", "0")
    assert code == 0 and "the program" not in out


def works(*rows) -> Works:
    """Rows of kind, start, end, request, and whether it waits for another stream."""
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    return Works(*columns[:4], columns[4].astype(bool), tuple("abcdef"[: len(rows)]))


@pytest.mark.parametrize(
    "rows, expected",
    [
        # the request came late, and then took its time to start; a copy during a kernel is no gap
        (
            [(0, 0, 10, -1, 0), (0, 20, 40, 16, 0), (1, 30, 50, 2, 0)],
            [(10, 16, "the host", "b"), (16, 20, "the start of a request", "b"), (40, 50, "a copy", ""),
             (50, 60, "nothing asked", "")],
        ),
        ([(0, 5, 60, 1, 1)], [(0, 1, "the host", "a"), (1, 5, "another stream", "a")]),
        ([(0, 5, 60, -1, 0)], [(0, 5, "not known", "a")]),
        ([(0, 5, 60, -1, 1)], [(0, 5, "another stream", "a")]),
        # of two at a time a copy counts first, then a fill, faults, mapped memory; a host function last
        (
            [(5, 0, 30, 0, 0), (4, 0, 25, 0, 0), (3, 0, 23, 0, 0), (2, 0, 20, 0, 0), (1, 0, 10, 0, 0),
             (0, 30, 60, 0, 0)],
            [(0, 10, "a copy", "f"), (10, 20, "a fill", "f"), (20, 23, "page faults", "f"),
             (23, 25, "mapped memory", "f"), (25, 30, "a function of the host", "f")],
        ),
        # later requests part no gap
        ([(0, 9, 60, 8, 0), (0, 40, 50, 4, 0)], [(0, 8, "the host", "a"), (8, 9, "the start of a request", "a")]),
    ],
)  # fmt: skip
def test_what_is_waited_for(rows, expected):
    found = works(*rows)
    assert list(joined(gaps(found, *stretches(found, 0, 60)))) == expected


def test_shares_of_parts():
    edges = np.array([0.0, 10.0, 20.0, 30.0])
    assert _inside(np.array([(5, 12), (12, 13), (25, 90)], float), edges).tolist() == [0.5, 0.3, 0.5]
