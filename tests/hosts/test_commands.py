"""`--host`, and `gpuprof list hosts`."""

import json

import pytest
from click.testing import CliRunner

from gpuprof.cli import list as list_module
from gpuprof.cli.options.settings import host_name
from gpuprof.errors import UsageError
from gpuprof.sweep.sweep_plan import Plan, runs

LISTED = """\
name           link          link_in_gbytes_per_s  link_out_gbytes_per_s  launch_ns  notes
nvlink-c2c     NVLink-C2C                     375                    297       2000  GH200: the GPU sees all memory
pcie3          PCIe 3.0 x16                  12.9                   12.9       2000  a server with PCIe 3.0
pcie4          PCIe 4.0 x16                    26                     26       2000  a server with PCIe 4.0
pcie4-desktop  PCIe 4.0 x16                    26                     26       1500  a desktop with PCIe 4.0
pcie5          PCIe 5.0 x16                  51.5                     52       2000  a server with PCIe 5.0
"""


def listed(*arguments: str) -> str:
    result = CliRunner().invoke(list_module.command, ["hosts", *arguments])
    assert result.exception is None, result.exception
    return result.stdout


def test_hosts_are_listed():
    assert listed() == LISTED


def test_hosts_in_full(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('inherits = "pcie3"\nlaunch_ns = 9000\n')
    lines = listed("--verbose", str(path)).splitlines()
    assert lines[0] == "mine: a server with PCIe 3.0"
    assert [" ".join(line.split()) for line in lines if line.startswith("launch_ns")] == [
        "launch_ns 9000 ns the launch of a kernel [mine.toml]"
    ]
    document = json.loads(listed("pcie3", str(path), "--format", "json"))
    assert [host["name"] for host in document["hosts"]] == ["pcie3", "mine"]
    assert document["hosts"][1]["numbers"][-1] == {
        "number": "migrate_gbytes_per_s",
        "value": 6.56,
        "unit": "10^9 bytes per second",
        "meaning": "transfers of pages that faults bring",
        "source": "passlab/CUDAMicroBench:UniMem, V100, nvprof, 2.706 GB in 412.7 ms",
    }


def test_a_host_that_there_is_not():
    assert host_name("PCIE3") == "PCIE3"
    with pytest.raises(UsageError, match=r"^unknown host 'pcie9'; did you mean"):
        host_name("pcie9")


def test_the_runs_of_a_sweep_have_the_host(tmp_path):
    file = tmp_path / "k.cu"
    file.write_text("// LAUNCH: k<<<1, 32>>>()\n__global__ void k() {}\n")
    hosts = [run.host and run.host.name for host in (None, "pcie3") for run in runs(Plan(file, ("a100",), host=host))]
    assert hosts == [None, "pcie3"]
