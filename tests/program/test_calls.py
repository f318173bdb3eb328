"""The headers' calls: each that is declared is there, and docs/programs.md lists it."""

import re

import pytest

from gpuprof.cuda import INCLUDE, RUNTIME
from gpuprof.program.calls import NUMBERS
from tests.paths import DOCS

HEADERS = (
    "runtime.h", "runtime_launches.h", "runtime_graphs.h", "runtime_pools.h", "texture_runtime.h", "driver.h", "nvtx.h",
    "task.h",
)  # fmt: skip
PREFIX = r"^(?:extern \"C\" |__attribute__\(\(weak\)\) )?[A-Za-z]\w*[\w ]*[ *]+"
PROTOTYPE = re.compile(PREFIX + r"(\w+)\([^;{}]*?\)(;| *(?:\n|{))", re.M)
NO_CALLS = ("cudaConfigureCall",)  # an older name of `<<<>>>`, which clang looks for


def declared(header: str) -> list[str]:
    text = (INCLUDE / "gpuprof" / header).read_text()
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


def test_the_list_in_the_docs_is_the_headers():
    listed = re.findall(r"`((?:cuda|cu|nvtx)[A-Z]\w+)`", (DOCS / "programs.md").read_text().split("## Calls")[1])
    names = [name for header in HEADERS for name in declared(header) if not name.startswith(("gpuprof", "__"))]
    assert sorted(listed) == sorted(names)


def test_every_call_of_the_driver_is_found_by_its_name():
    names = (INCLUDE / "gpuprof" / "driver_names.h").read_text().split("GPUPROF_DRIVER_CALLS(DO)")[1]
    assert re.findall(r"DO\((\w+)\)", names) == declared("driver.h")
