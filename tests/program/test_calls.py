"""The headers' calls: each that is declared is there, and the table of the API has it."""

import csv
import re
import subprocess
from pathlib import Path

import pytest

from gpuprof.compile.host import host_toolchain
from gpuprof.cuda import INCLUDE, RUNTIME
from gpuprof.program import describe
from gpuprof.program.api_table import LEFT_OUT, PARTLY, STATUSES, VERSION, api_functions, refusal
from gpuprof.program.calls import NUMBERS
from tests.paths import DOCS
from tests.program.hosts import WHY_NOT

HEADERS = (
    "runtime.h", "runtime_copies.h", "runtime_graph_nodes.h", "runtime_graphs.h", "runtime_launches.h",
    "runtime_libraries.h", "runtime_pools.h", "texture_runtime.h", "driver.h", "nvtx.h", "task.h",
)  # fmt: skip
PREFIX = r"^(?:extern \"C\" |__attribute__\(\(weak\)\) )?[A-Za-z]\w*[\w ]*[ *]+"
PROTOTYPE = re.compile(PREFIX + r"(\w+)\([^;{}]*?\)(;| *(?:\n|{))", re.M)
GONE = {"cudaThreadSynchronize", "cudaThreadExit"}
NO_CALLS = ("cudaConfigureCall",)  # an older name of `<<<>>>`, which clang looks for


def declared(header: str) -> list[str]:
    text = (INCLUDE / "gpuprof" / header).read_text()
    text = text.replace("GPUPROF_C_BEGIN", 'extern "C" {').replace("GPUPROF_C_END", "}")
    blocks = re.findall(r'^extern "C" (?:\{\n(.*?)^\}|(.*?;)$)', text, re.M | re.S)
    names = [match[1] for block in blocks for match in PROTOTYPE.finditer("".join(block)) if match[2] == ";"]
    return [name for name in names if name not in NO_CALLS]


def defined() -> set[str]:
    files = [path.read_text() for path in sorted(RUNTIME.glob("*.cpp"))]
    return {match[1] for text in files for match in PROTOTYPE.finditer(text) if match[2] != ";"}


@pytest.mark.parametrize("name", NUMBERS)
def test_every_forwarded_call_is_sent(name):
    assert any(re.search(rf"\bCall::{name}\b", path.read_text()) for path in RUNTIME.iterdir())


@pytest.mark.parametrize("header", HEADERS)
def test_what_a_header_declares_is_there(header):
    names = declared(header)
    assert len(names) > 0
    assert sorted(set(names) - defined()) == []


def test_the_table_has_what_the_headers_declare():
    """Besides these the headers have functions that CUDA has no more."""
    names = {VERSION.sub("", name) for header in HEADERS for name in declared(header) if name.startswith("cu")}
    here = {name for name, function in api_functions().items() if function.is_here}
    assert (names - here, here - names) == (GONE, set())


def test_the_page_is_in_step():
    text = (DOCS / "programs-api.md").read_text()
    assert text == describe.describe(), "write it anew: python -m gpuprof.program.describe > docs/programs-api.md"


def test_every_function_has_a_status_and_what_is_left_out_a_reason():
    found = api_functions().values()
    assert {each.status for each in found} == set(STATUSES)
    assert [each.name for each in found if (each.status in (LEFT_OUT, PARTLY)) != bool(each.note)] == []


@pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
@pytest.mark.parametrize(("prefix", "header", "least"), [("cuda", "cuda_runtime.h", 200), ("cu", "cuda.h", 240)])
def test_functions_have_the_types_of_nvidias_header(prefix, header, least, tmp_path):
    """signatures.csv is made of the headers of CUDA 13.0: the function takes what a program gives it; in C++ also as an
    overload.
    """
    with open(Path(__file__).parent / "signatures.csv", encoding="utf-8", newline="") as file:
        types = {row["name"]: row["type"].replace("(", "(*)(", 1) for row in csv.DictReader(file)}
    names = [name for name, each in api_functions().items() if each.is_here and re.match(f"{prefix}[A-Z]", name)]
    lines = [f"using T{i} = {types[name]}; T{i} f{i} = static_cast<T{i}>(&{name});" for i, name in enumerate(names)]
    source = tmp_path / "types.cpp"
    source.write_text("\n".join(["typedef decltype(sizeof 0) size_t;", f"#include <{header}>", *lines]) + "\n")
    tools = host_toolchain()
    command = [*tools.clang, *tools.host, *tools.cxx, "-fsyntax-only", str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(names) > least


def test_most_of_the_runtime_is_here():
    assert describe.share_here(describe.of_api("cuda")) >= 0.85


def test_half_of_the_driver_is_here():
    assert describe.share_here(describe.of_api("cu")) >= 0.5


def test_the_functions_of_nvtx_are_listed():
    listed = re.findall(r"`(nvtx[A-Z]\w+)`", (DOCS / "programs.md").read_text().split("## Calls")[1])
    assert sorted(listed) == sorted(declared("nvtx.h"))


def test_the_message_has_the_reason_and_the_name_without_its_version():
    assert refusal(["cudaIpcOpenMemHandle", "cuIpcOpenMemHandle_v2", "cuNoSuchThing"]) == (
        "gpuprof does not have cudaIpcOpenMemHandle (memory of other processes), cuIpcOpenMemHandle_v2 (memory of "
        "other processes), cuNoSuchThing; docs/programs-api.md lists what it has"
    )


def test_every_call_of_the_driver_is_found_by_its_name():
    names = (INCLUDE / "gpuprof" / "driver_names.h").read_text().split("DRIVER_CALLS(DO)")[1]
    assert re.findall(r"DO\((\w+), (\w+),", names) == [(name, name) for name in declared("driver.h")]


def test_replaced_forms_of_the_driver_are_found_by_their_release():
    names = (INCLUDE / "gpuprof" / "driver_names.h").read_text().split("OLDER_DRIVER_CALLS(DO)")[1]
    found = re.findall(r"DO\((\w+), (\w+),", names)
    assert len(found) > 0
    assert {name for name, _ in found} - set(declared("driver.h")) == set()
    assert {form for _, form in found} - set(declared("driver_forms.h")) == set()
    assert set(declared("driver_forms.h")) - defined() == set()
