"""The examples of docs/traces.md do what the page says."""

import re

import numpy as np
import pytest

from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device
from gpuprof.trace.generator import TraceGenerator, text_of
from tests.paths import DOCS

SOURCE = """
__global__ void k(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    x[i] = v - v;
}
"""


def examples(path) -> dict[str, type[TraceGenerator]]:
    """The generators that a page shows, by name."""
    found = {}
    for code in re.findall(r"```python\n(.*?)```", path.read_text(), re.DOTALL):
        if "(TraceGenerator):" in code:
            names: dict = {}
            exec(code, names)
            found |= {name: each for name, each in names.items() if _is_own(each)}
    return found


def _is_own(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, TraceGenerator) and value is not TraceGenerator


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """Two blocks of 32 threads, of which 40 work; infinity minus infinity in thread 35 of the grid."""
    path = tmp_path_factory.mktemp("docs") / "k.cu"
    path.write_text(SOURCE)
    gpu = open_device(Settings())
    mod, values = gpu.load(path), np.ones(40, np.float32)
    values[35] = np.inf
    x = gpu.to_device(values)
    found = {name: make() for name, make in examples(DOCS / "traces.md").items()}
    for generator in found.values():
        gpu.add_trace_generator(generator)
    mod.k[2, 32](x, 40)
    return found


def test_three_examples_each_with_its_sentence(seen):
    assert list(seen) == ["Stores", "FirstNan", "BlockCounts"]
    assert all(text_of(type(generator)) for generator in seen.values())


def test_stores(seen):
    assert seen["Stores"].results[0].tables == {"bytes": [(0, 128), (1, 32)]}


def test_the_first_nan(seen):
    (finding,) = seen["FirstNan"].results[0].findings
    assert finding[:3] == ("first_nan", "warning", "a NaN is made here")
    assert (finding.block, finding.warp, finding.thread) == (1, 0, 3)


def test_block_counts(seen):
    """Both warps begin, and both go on."""
    rows = seen["BlockCounts"].results[0].tables["blocks"]
    assert rows[0][1] == 2 and all(warps == 2 for _, warps in rows)
