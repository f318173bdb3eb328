"""Forms of CUDA C++ that programs have: those that nvcc takes are built and run, those that it refuses are not."""

import re
from collections.abc import Iterable

import pytest

from gpuprof.compile import compile_cuda
from gpuprof.errors import CompileError
from tests.compile.dialect.build import STANDARD, errors_of
from tests.compile.dialect.forms import Form, joined, read_forms, read_verdicts
from tests.compile.dialect.known import FAILS_LATER, REFUSED, TAKEN
from tests.program.hosts import WHY_NOT
from tests.support.command import process
from tests.support.matrices import long_from

pytestmark = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)

FORMS = {form.name: form for form in read_forms()}
VERDICTS = read_verdicts()
ACCEPTED = [form for name, form in FORMS.items() if VERDICTS[name].verdict != "rejects"]
REJECTED = [name for name in FORMS if VERDICTS[name].verdict == "rejects"]
# Each of these is a program of its own: they have global names, or ask for flags that hold for a whole file.
ALONE = ("names.cu", "templates.cu")


def of_file(file: str, forms: Iterable[Form]) -> list[Form]:
    return [form for form in forms if form.file == file and form.name not in REFUSED]


def test_every_form_has_its_verdict():
    assert list(VERDICTS) == list(FORMS)
    assert len(FORMS) > 200
    assert all(
        FORMS[name].output is not None for name in VERDICTS if name not in REJECTED and FORMS[name].file != "refused.cu"
    )
    assert {*REFUSED, *FAILS_LATER} <= {form.name for form in ACCEPTED}
    assert set(TAKEN) <= set(REJECTED)


@pytest.mark.parametrize("file", long_from(2, ["launches.cu", "shared.cu", "code.cu", "templates.cu"]))
def test_what_nvcc_takes_is_taken(file, tmp_path):
    assert errors_of(joined(of_file(file, ACCEPTED)), tmp_path) == ""


@pytest.mark.parametrize("name", long_from(1, [form.name for form in of_file("names.cu", ACCEPTED)]))
def test_own_names_are_taken(name, tmp_path):
    assert errors_of(FORMS[name].program, tmp_path) == ""


@pytest.mark.parametrize("name", long_from(2, [name for name in REJECTED if name not in TAKEN]))
def test_what_nvcc_refuses_is_refused(name, tmp_path):
    assert errors_of(FORMS[name].program, tmp_path) != ""


@pytest.mark.long
@pytest.mark.parametrize("name", TAKEN)
def test_what_we_take_beyond_nvcc(name, tmp_path):
    assert errors_of(FORMS[name].program, tmp_path) == ""


@pytest.mark.long
@pytest.mark.parametrize("name", REFUSED)
def test_what_we_refuse_against_nvcc(name, tmp_path):
    assert errors_of(FORMS[name].program, tmp_path) != ""


def run(text: str, folder) -> str:
    (folder / "form.cu").write_text(text)
    return process(folder, "run", "form.cu", "--std", STANDARD)[1]


@pytest.mark.long
@pytest.mark.parametrize("file", ["launches.cu", "shared.cu", "code.cu"])
def test_forms_print_what_they_should(file, tmp_path):
    forms = [
        form for form in of_file(file, FORMS.values()) if form.name in TAKEN or VERDICTS[form.name].verdict != "rejects"
    ]
    assert run(joined(forms), tmp_path).splitlines() == [form.output for form in forms]


@pytest.mark.long
@pytest.mark.parametrize("name", [form.name for file in ALONE for form in of_file(file, ACCEPTED)])
def test_a_form_prints_what_it_should(name, tmp_path):
    assert (run(FORMS[name].program, tmp_path) == FORMS[name].output + "\n") == (name not in FAILS_LATER)


# Every line and column of a source stays what it was, also in its headers.

HEADER = """\
template <typename T> __global__ void twice(T *x, int n) { x[threadIdx.x] *= n; }
#define TWICE(x) twice<int> OPEN 1, 32 CLOSE (x, 2); int after_macro = x[1]
struct Counter { int n; __device__ Counter() { n = 0; } };
__device__ inline int counted(int v) { __shared__ Counter c; c.n = v; return c.n; }
template <typename T> void start(T *x) { twice<T> OPEN 1, 32 CLOSE (x, 3); x[0] += x[1]; }
"""
SOURCE = """\
#include "header.cuh"
__global__ void k(int *x) { x[threadIdx.x] = counted(x[1]) + x[2]; }
void launch(int *x) { k OPEN dim3(1), 32 CLOSE (x); TWICE(x); start(x); }
"""


def lines_of(ptx: str) -> list[str]:
    return re.findall(r"\.loc\t.*", ptx)


def test_a_spaced_launch_stays_where_it_is(tmp_path, monkeypatch):
    """The line tables of both spellings are equal; a header in a folder of its own is changed, too."""
    monkeypatch.chdir(tmp_path)
    found = []
    for opening, closing in (("<< <", ">> >"), (" <<<", " >>>")):
        (tmp_path / "include").mkdir(exist_ok=True)
        for name, text in (("include/header.cuh", HEADER), ("k.cu", SOURCE)):
            (tmp_path / name).write_text(text.replace("OPEN", opening).replace("CLOSE", closing))
        module = compile_cuda("k.cu", include_dirs=["include"])
        found.append((module.ptx, sorted(module.sources)))
    assert found[0] == found[1]
    assert found[0][1] == ["include/header.cuh", "k.cu"]


def test_a_later_error_is_where_it_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (
        "struct C { int n; __device__ C() { n = 0; } };\n"
        "__global__ void k(int *x) { __shared__ C c; c.n = y; x[0] = c.n; }\n"
        "void f(int *x) { k << <1, 2 >> > (x); z = 3; }\n"
    )
    (tmp_path / "k.cu").write_text(text)
    with pytest.raises(CompileError) as caught:
        compile_cuda("k.cu")
    errors = [line for line in caught.value.diagnostics.splitlines() if "error:" in line]
    places = [(line + 1, text.splitlines()[line].index(name) + 1, name) for line, name in ((1, "y;"), (2, "z ="))]
    assert errors == [
        f"k.cu:{line}:{column}: error: use of undeclared identifier '{name[0]}'" for line, column, name in places
    ]
