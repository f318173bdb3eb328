"""CUDA C++ to PTX: what the module holds, where each instruction comes from, and what bad input gets."""

import os
import re
import shutil
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

import gpuprof
from gpuprof.compile import compile_cuda, libraries, read_ptx
from gpuprof.errors import CompileError, PtxError, UsageError
from tests.paths import SAMPLES
from tests.support.matrices import long_from

SOURCES = sorted(SAMPLES.glob("*.cu"))


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("GPUPROF_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def build(tmp_path, monkeypatch):
    """Compiles a text as k.cu of the working directory."""
    monkeypatch.chdir(tmp_path)

    def compile_text(text: str, **options):
        Path("k.cu").write_text(text)
        return compile_cuda("k.cu", **options)

    return compile_text


def accepted_by_ptxas(ptx: str, folder: Path, arch: str = "sm_80") -> None:
    if shutil.which("ptxas") is None:
        pytest.skip("no ptxas to ask")
    (folder / "k.ptx").write_text(ptx)
    done = subprocess.run(
        ["ptxas", f"-arch={arch}", "-o", os.devnull, folder / "k.ptx"], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


def opcodes(ptx: str) -> list[str]:
    """The opcodes of a module's instructions, in order, without guards."""
    return re.findall(r"^\t(?:@!?%p\d+ )?([a-z][\w.]*)[ \t;]", ptx.replace(";", " ;"), re.MULTILINE)


ARCHITECTURE = """\
__global__ void k(int *x) {
#ifdef __CUDA_ARCH_FEAT_SM120_ALL
#error "products of blocks with scales are not emulated"
#endif
  *x = __CUDA_ARCH__;
}
"""


@pytest.mark.parametrize(("arch", "version"), [
    ("sm_80", "8.0"), ("sm_90", "8.0"), ("sm_100", "8.6"), ("sm_103", "8.8"), ("sm_120", "8.7"), ("sm_121", "8.8"),
])  # fmt: skip
def test_the_target_and_the_version_that_has_it(build, tmp_path, arch, version):
    ptx = build(ARCHITECTURE, arch=arch).ptx
    assert re.findall(r"^\.(?:version|target) (\S+)$", ptx, re.MULTILINE) == [version, arch]
    assert f", {arch[3:]}0;" in ptx  # what is stored
    accepted_by_ptxas(ptx, tmp_path, arch)


def test_module_of_a_small_kernel(build):
    module = build(
        "__global__ void add(float *a, const float *b, int n) { if (threadIdx.x < n) a[threadIdx.x] += b[threadIdx.x]; "
        "}\n"
    )
    assert module.name == "k.cu"
    assert module.arch == "sm_80"
    assert module.compiler.startswith("ziglang ")
    assert module.display == {"_Z3addPfPKfi": "add"}
    assert module.param_types == {"_Z3addPfPKfi": ("float *", "const float *", "int")}
    assert module.sources == {"k.cu": Path("k.cu").read_text()}
    assert opcodes(module.ptx) == [
        "ld.param.b64",
        "ld.param.b64",
        "cvta.to.global.u64",
        "cvta.to.global.u64",
        "ld.param.b32",
        "mov.u32",
        "setp.ge.u32",
        "bra",
        "mul.wide.u32",
        "add.s64",
        "ld.global.b32",
        "add.s64",
        "ld.global.b32",
        "add.f32",
        "st.global.b32",
        "ret",
    ]


def test_inlined_calls_are_chains_of_directives(build):
    module = build(
        "__device__ float square(float x)\n"
        "{\n"
        "    return x * x;\n"
        "}\n"
        "__device__ float twice(float x)\n"
        "{\n"
        "    return square(x);\n"
        "}\n"
        "__global__ void k(float *a)\n"
        "{\n"
        "    a[threadIdx.x] = twice(a[0]);\n"
        "}\n"
    )
    before = module.ptx[: module.ptx.index("\tmul.f32")].splitlines()
    assert before[-3:] == [
        "\t.loc\t1 11 22",
        "\t.loc\t1 7 12, function_name $L__info_string0, inlined_at 1 11 22",
        "\t.loc\t1 3 14, function_name $L__info_string1, inlined_at 1 7 12",
    ]
    assert '\t.file\t1 "k.cu"\n' in module.ptx
    assert "$L__info_string0:\n.b8 95,90,53,116,119,105,99,101,102,0\n" in module.ptx  # _Z5twicef
    assert module.display == {"_Z1kPf": "k", "_Z5twicef": "twice", "_Z6squaref": "square"}


def test_no_instruction_is_without_a_line(build):
    module = build(SOURCES[0].read_text())
    assert not re.search(r"\.loc\t\d+ 0 ", module.ptx)


def test_built_in_variables_and_functions_charge_the_callers_line(build):
    module = build("__global__ void k(float *a)\n{\n    a[threadIdx.x] =\n        sinf(a[0]);\n}\n")
    assert {int(line) for line in re.findall(r"\.loc\t1 (\d+)", module.ptx)} == {2, 3, 4, 5}  # 2: the kernel's head
    assert "inlined_at" not in module.ptx and list(module.sources) == ["k.cu"]


def test_templates_namespaces_lambdas_and_structs_are_named_as_written(build):
    module = build(
        "namespace ns { struct P { int a; float b; }; template <int N, typename T> __global__ void k(T *a, P p) { a[N] "
        "= p.a; } }\n"
        "namespace { __global__ void hidden(unsigned long long *q, float4 v, float *const *rows) { *q = v.x + "
        "rows[0][0]; } }\n"
        "template __global__ void ns::k<3>(double *, ns::P);\n"
        "__global__ void uses_lambda(int *a) { auto f = [=] __noinline__ (int x) { return x + a[1]; }; a[0] = f(2); }\n"
        "int main() { hidden<<<1, 1>>>(0, {}, 0); ns::k<4><<<1, 1>>>((unsigned *)0, ns::P{}); }\n"
    )
    assert module.display == {
        "_ZN2ns1kILi3EdEEvPT0_NS_1PE": "ns::k<3, double>",
        "_ZN2ns1kILi4EjEEvPT0_NS_1PE": "ns::k<4, unsigned int>",
        "_ZN12_GLOBAL__N_16hiddenEPy6float4PKPf": "hidden",
        "_Z11uses_lambdaPi": "uses_lambda",
        "_ZZ11uses_lambdaPiENKUliE_clEi": "uses_lambda::(lambda)::operator()",
    }
    assert module.param_types["_ZN12_GLOBAL__N_16hiddenEPy6float4PKPf"] == (
        "unsigned long long *",
        "float4",
        "float *const *",
    )
    assert module.param_types["_ZN2ns1kILi4EjEEvPT0_NS_1PE"] == ("unsigned int *", "ns::P")


def test_instantiate_forces_kernels_and_keeps_the_users_spelling(build, tmp_path):
    text = "template <int N, typename T = float> __global__ void scan(T *a) { a[threadIdx.x] = N; }\n"
    module = build(text, instantiate=("scan<256>", "scan<2 + 2, unsigned>"))
    assert module.display == {"_Z4scanILi256EfEvPT0_": "scan<256>", "_Z4scanILi4EjEvPT0_": "scan<2 + 2, unsigned>"}
    assert "gpuprof" not in module.ptx
    assert build(text).display == {}
    accepted_by_ptxas(module.ptx, tmp_path)


def test_an_instance_that_does_not_exist_is_clangs_error(build):
    with pytest.raises(CompileError) as error:
        build("__global__ void k(int *a) { a[0] = 1; }\n", instantiate=("nope<3>",))
    assert error.value.diagnostics.startswith("<kernel nope<3>>:1:75: error: use of undeclared identifier 'nope'\n")


def test_diagnostics_are_clangs_own(build):
    with pytest.raises(CompileError, match=r"^k\.cu does not compile\n") as error:
        build("__global__ void k(int *a)\n{\n    a[0] = b;\n}\n")
    assert error.value.diagnostics == (
        "k.cu:3:12: error: use of undeclared identifier 'b'\n"
        "    3 |     a[0] = b;\n"
        "      |            ^\n"
        "1 error generated when compiling for sm_80.\n"
    )


def test_what_llvm_cannot_generate_is_an_error_with_the_line(build):
    with pytest.raises(CompileError) as error:
        build(
            "typedef float pair __attribute__((ext_vector_type(2)));\n__global__ void k(pair *a)\n{\n"
            "    a[0] = __builtin_elementwise_pow(a[1],\n        a[2]);\n}\n"
        )
    assert re.fullmatch(
        r"k\.cu:4: no PTX can be generated for `k`: Cannot select: t\d+: f32 = fpow .*", str(error.value)
    )


def test_missing_file_and_missing_clang(build, monkeypatch):
    with pytest.raises(UsageError, match=r"^nothing\.cu: there is no such file$"):
        compile_cuda("nothing.cu")
    with pytest.raises(CompileError, match="no-such-clang: no such program"):
        build("", clang="no-such-clang")
    monkeypatch.setattr(libraries, "wheel", lambda: None)
    with pytest.raises(CompileError, match=r"pip install ziglang.*--compiler PATH"):
        build("")


WHOLE_PROGRAM = """
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <iostream>
#include <math.h>
#include <stdio.h>
#include <vector>
using namespace std;
__constant__ float coefficients[8];
template <int N> __global__ void __launch_bounds__(N, 2) reverse(const float *__restrict__ in, float *out)
{
    __shared__ float s[N];
    s[threadIdx.x] = in[blockIdx.x * N + threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = std::max(s[N - 1 - threadIdx.x] * coefficients[2], std::sqrt(out[0])) + sin(out[1]) + abs(out[2]) + std::pow(out[3], 2);
}
__global__ void half_add(half *a, uint32_t n)
{
    extern __shared__ int dynamic[];
    assert(n > 3);
    if (threadIdx.x < n) {
        a[threadIdx.x] += __half(1.5f);
        dynamic[threadIdx.x] = n;
        printf("%d %f\\n", dynamic[0], (float)a[0]);
    }
}
int main()
{
    vector<float> v(100);
    float *d;
    half *h;
    if (cudaMalloc(&d, 400) != cudaSuccess)
        fprintf(stderr, "%s\\n", cudaGetErrorString(cudaGetLastError()));
    cudaMalloc((void **)&h, 200);
    cudaMemcpy(d, v.data(), 400, cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(coefficients, v.data(), 32);
    dim3 grid(4), block(32, 2);
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    reverse<64><<<grid, block>>>(d, d);
    half_add<<<1, 64, 256, stream>>>(h, 64u);
    cout << sqrt(2.0) << max(1, 2) << pow(2.0, 3) << abs(-1) << endl;
    return cudaDeviceSynchronize();
}
"""  # noqa: E501


@pytest.mark.long
def test_a_whole_program_needs_nothing_of_the_system(build, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    module = build(WHOLE_PROGRAM)
    monkeypatch.undo()
    names = [name for name in module.display.values() if "::" not in name]
    assert names == ["reverse<64>", "half_add"]
    outside = [name for name in module.sources if name != "k.cu" and not name.startswith("<ziglang>/")]
    assert outside == []
    assert ".maxntid 64\n.minnctapersm 2" in module.ptx
    accepted_by_ptxas(module.ptx, tmp_path)


def test_shared_addresses_have_32_bits_and_vector_copies_stay_whole(build):
    module = build(
        "__global__ void k(float4 *a, const float4 *b, int i) { __shared__ float s[64]; s[i] = 1; __syncthreads(); "
        "a[0] = b[i]; a[1].x = s[3]; }\n"
    )
    assert re.search(r"mov\.b32 \t(%r\d+), _ZZ1kP6float4PKS_iE1s;", module.ptx)
    assert [each for each in opcodes(module.ptx) if ".v4" in each] == ["ld.global.v4.b32", "st.global.v4.b32"]


def test_headers_beside_the_file_defines_and_include_folders(build, tmp_path):
    (tmp_path / "near.h").write_text("__device__ inline int near(int x) { return x * FACTOR + FAR; }\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "far.h").write_text("#define FAR 5\n")
    text = '#include "far.h"\n#include "near.h"\n__global__ void k(int *a) { a[0] = near(a[1]); }\n'
    module = build(text, include_dirs=["folder"], defines=["FACTOR=7"])
    assert "mad.lo.s32 \t%r2, %r1, 7, 5;" in module.ptx
    assert list(module.sources) == ["k.cu", "./near.h"]


def test_macros_may_be_called_as_parameters_in_headers_are(build):
    names = ("T", "N", "A", "F", "x", "value", "mask")
    lines = [f"a[{k}] = __fdividef(a[{k + 1}], {name});" for k, name in enumerate(names)]
    text = "__global__ void k(float *a) {\n" + "\n".join(lines) + "\n}\n"
    without = re.sub(r", \w+\);", ", 8);", text)
    assert opcodes(build(text, defines=[f"{name}=8" for name in names]).ptx) == opcodes(build(without).ptx)


def test_macros_without_a_value_and_with_parameters(build):
    text = "__global__ void k(int *a) { a[0] = FLAG + SUM(1, 4); }\n"
    assert build(text, defines=["FLAG", "SUM(a, b)=a + b"]).ptx.count(", 6;") == 1


def test_a_macro_that_is_none_is_reported_as_from_the_command_line(build):
    with pytest.raises(CompileError) as error:
        build("__global__ void k() {}\n", defines=["1x"])
    assert "<command line>:1:9: error: macro name must be an identifier" in error.value.diagnostics


def test_cache_serves_notices_changed_headers_and_survives_damage(build, tmp_path, monkeypatch):
    from gpuprof.compile import cuda

    (tmp_path / "near.h").write_text("#define N 1\n")
    text = '#include "near.h"\n__global__ void k(int *a) { a[0] = N; }\n'
    calls = []
    parse = cuda._parse
    monkeypatch.setattr(cuda, "_parse", lambda *arguments: calls.append(1) or parse(*arguments))
    first = build(text)
    assert build(text) == first and len(calls) == 1
    (tmp_path / "near.h").write_text("#define N 2\n")
    second = build(text)
    assert "], 1;" in first.ptx and "], 2;" in second.ptx and len(calls) == 2
    for entry in (tmp_path / "cache" / "ptx").iterdir():
        entry.write_bytes(entry.read_bytes()[:-7])
    assert build(text) == second and len(calls) == 3
    monkeypatch.setenv("GPUPROF_CACHE", os.devnull)  # not a folder: slower, and no error
    assert build(text) == second and len(calls) == 4


@pytest.mark.parametrize("variable", long_from(1, ["CPATH", "CPLUS_INCLUDE_PATH"]))
def test_cache_knows_headers_that_the_environment_leads_to(build, tmp_path, monkeypatch, variable):
    """clang finds them as the system's own, and does not list those among a program's headers."""
    for folder, number in (("one", 1), ("two", 2)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "far.h").write_text(f"#define N {number}\n")
    text = "#include <far.h>\n__global__ void k(int *a) { a[0] = N; }\n"
    found = []
    for folder in ("one", "two", "one"):
        monkeypatch.setenv(variable, str(tmp_path / folder))
        found.append(build(text).ptx)
    assert ["], 1;" in ptx for ptx in found] == ["], 2;" not in ptx for ptx in found] == [True, False, True]
    (tmp_path / "one" / "far.h").write_text("#define N 3\n")
    assert "], 3;" in build(text).ptx


def test_what_is_compiled_on_another_day_is_the_same(build, tmp_path, monkeypatch):
    """__DATE__ and __TIME__ are fixed, also when nothing is in the cache; the user can fix others."""
    text = "__device__ char d[] = __DATE__ __TIME__ __TIMESTAMP__;\n__global__ void k(char *a) { a[0] = d[0]; }\n"

    def when():
        values = re.search(r"_ZL?1d\[[0-9]+\] = {([^}]*)}|\bd\[[0-9]+\] = {([^}]*)}", build(text).ptx)
        return bytes(int(value) for value in (values[1] or values[2]).split(",")).decode()

    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    assert when().startswith("Jan  1 197000:00:00")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert when().startswith("Jan  2 197000:00:00")


def test_a_write_that_was_killed_leaves_nothing_for_long(build, tmp_path):
    folder = tmp_path / "cache" / "ptx"
    folder.mkdir(parents=True)
    (folder / ".new-999999999").write_text("half")
    (folder / f".new-{os.getppid()}").write_text("another process is writing this")
    build("__global__ void k() {}\n")
    assert sorted(path.name for path in folder.iterdir() if path.name.startswith(".")) == [f".new-{os.getppid()}"]


@pytest.mark.long
def test_two_runs_give_the_same_bytes(build, tmp_path):
    program = "import gpuprof.compile as c, sys; sys.stdout.write(repr(c.compile_cuda('k.cu')))"
    build(SOURCES[-1].read_text())
    outputs = set()
    for seed in ("1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": seed, "GPUPROF_CACHE": str(tmp_path / seed)}
        outputs.add(
            subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=True).stdout
        )
    assert len(outputs) == 1


@pytest.mark.long
@pytest.mark.parametrize("sample", SOURCES, ids=lambda path: path.stem)
def test_ptxas_accepts_the_samples(sample, tmp_path):
    accepted_by_ptxas(compile_cuda(sample).ptx, tmp_path)


def test_read_ptx(tmp_path):
    (tmp_path / "a.cu").write_text("source\n")
    text = (
        "//\n// Generated by NVIDIA NVVM Compiler\n//\n.version 8.0\n.target sm_90a, debug\n.address_size "
        '64\n.file 1 "a.cu"\n.file 2 "gone.cu"\n'
    )
    (tmp_path / "a.ptx").write_text(text)
    module = read_ptx(tmp_path / "a.ptx")
    assert (module.ptx, module.arch, module.compiler) == (text, "sm_90a", "Generated by NVIDIA NVVM Compiler")
    assert module.sources == {"a.cu": "source\n"} and module.display == {}
    (tmp_path / "b.ptx").write_text("no PTX\n")
    with pytest.raises(PtxError, match=r"b\.ptx: no `\.target` directive"):
        read_ptx(tmp_path / "b.ptx")
    with pytest.raises(UsageError, match="there is no such file"):
        read_ptx(tmp_path / "c.ptx")


@pytest.mark.long
def test_a_script_shows_the_compilers_own_text(tmp_path):
    path = tmp_path / "k.cu"
    path.write_text("__global__ void k(int *x) { *x = nowhere; }\n")
    with pytest.raises(CompileError) as caught:
        compile_cuda(path)
    assert "nowhere" in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    "assembly, complaint",
    long_from(
        1,
        [
            ("add.s32 %0, %1;", r"k\.cu:4: add\.s32: 2 operands, expected 3 \(PTX line \d+\)"),
            ("add.s32 %0 %1, 1;", r"k\.cu:4: expected ';', found '%r\d+' \(PTX line \d+\)"),
            ("frob.u32 %0, %1;", r"k\.cu:4: unsupported instruction frob\.u32 \(PTX line \d+\)"),
        ],
    ),
)
def test_a_mistake_in_inline_assembly_has_the_users_line(tmp_path, monkeypatch, assembly, complaint):
    monkeypatch.chdir(tmp_path)
    Path("k.cu").write_text(
        f'__global__ void k(int *x)\n{{\n    int y;\n    asm("{assembly}" : "=r"(y) : "r"(x[0]));\n    x[1] = y;\n}}\n'
    )
    with pytest.raises(PtxError, match=f"^{complaint}$"):
        gpuprof.Device().load("k.cu")
