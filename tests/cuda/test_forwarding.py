"""The names of headers that only have to exist."""

import json

from gpuprof.compile.cuda import compile_cuda
from gpuprof.cuda import FOLDER, FORWARDING, INCLUDE

ROOTS = json.loads(FORWARDING.read_text())["roots"]
ROWS = [(f"{root['name']}/{row['name']}", row["external-contents"]) for root in ROOTS for row in root["contents"]]


def test_each_name_leads_to_a_header_and_is_none_itself():
    assert [name for name, _ in ROWS if (FOLDER / name).exists()] == []
    assert [target for _, target in ROWS if not (FOLDER / target).is_file()] == []
    assert len({name for name, _ in ROWS}) == len(ROWS)


def test_each_name_can_be_included(tmp_path):
    """Also with a header of the user's beside them, and twice."""
    names = [str((FOLDER / name).relative_to(INCLUDE)) for name, _ in ROWS]
    includes = "".join(f"#include <{name}>\n" for name in (*names, *names))
    (tmp_path / "own.h").write_text('#include "cuda_runtime.h"\n')
    (tmp_path / "k.cu").write_text(f'#include "own.h"\n{includes}__global__ void k(float *x) {{ *x = 1; }}\n')
    module = compile_cuda(tmp_path / "k.cu")
    assert list(module.sources) == [str(tmp_path / "k.cu")]
