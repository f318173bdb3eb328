"""Names of kernels in PTX, against a demangler where there is one."""

import re
import shutil
import subprocess

import pytest

from gpuprof.compile.demangle import demangle, signature

NAMES = {
    "_Z5saxpyifPKfPf": "saxpy",
    "_Z4scanILi256EEvPi": "scan<256>",
    "_Z4scanILin3EjEvPT0_": "scan<-3, unsigned int>",
    "_Z4scanILb1ELj8EEvPi": "scan<true, 8>",
    "_ZN2ns5inner1kIfPKdEEvT_T0_": "ns::inner::k<float, const double *>",
    "_ZN12_GLOBAL__N_16hiddenEPf": "hidden",
    "_ZN2ns1VILi4EE3runEPi": "ns::V<4>::run",
    "_Z3mapIN2ns3AddEEvPfT_": "map<ns::Add>",
    "_Z3addIJifEEvDpT_": "add<int, float>",
    "_ZL5localPf": "local",
    "plain_c": "plain_c",
    "_Z1kIN2ns1AES1_EvT_T0_": "k<ns::A, ns::A>",
    "_ZN2ns1kIfEEvPT_NS_1AE": "ns::k<float>",
    # Left as they are: a lambda, an unfinished name, none.
    "_Z3runIZ4mainEUlvE_EvT_": "_Z3runIZ4mainEUlvE_EvT_",
    "_Z9scan": "_Z9scan",
    "_Z4scanILi256": "_Z4scanILi256",
    "_Z": "_Z",
}  # fmt: skip


@pytest.mark.parametrize("symbol, name", NAMES.items())
def test_name(symbol, name):
    assert demangle(symbol) == name


@pytest.mark.skipif(not shutil.which("c++filt"), reason="needs c++filt")
@pytest.mark.parametrize(
    "symbol", [symbol for symbol, name in NAMES.items() if symbol != name and "GLOBAL" not in symbol]
)
def test_name_against_cxxfilt(symbol):
    """c++filt writes the return type of templates and the parameters around the name, a cast or suffix with numbers,
    and no space before `*`.
    """
    told = subprocess.run(["c++filt", symbol], capture_output=True, text=True, check=True).stdout
    told = (
        told.strip()
        .removeprefix("void ")
        .replace("(bool)1", "true")
        .replace("8u", "8")
        .replace("double const*", "const double *")
    )
    assert told.startswith(demangle(symbol) + "(")


TYPES = {
    "_Z5saxpyifPKfPf": ("int", "float", "const float *", "float *"),
    "_Z1kv": (),
    "_Z4scanILi4EfEvPT0_PKS0_i": ("float *", "const float *", "int"),
    "_Z1kIfEvPT_S1_PKS0_": ("float *", "float *", "const float *"),
    "_ZN2ns1kIfEEvPT_NS_1AE": ("float *", "ns::A"),
    "_Z3addIJifEEvDpPKT_": ("const int *", "const float *"),
    "_Z1kIJEEvDpT_i": ("int",),
    "_Z3foo6float4P6__halfPKS0_": ("float4", "__half *", "const __half *"),
    "_Z1kSt5arrayIfLm4EES0_": ("std::array<float, 4>", "std::array<float, 4>"),
    "_Z1kN2ns1AIiEES1_PS1_": ("ns::A<int>", "ns::A<int>", "ns::A<int> *"),
    "_Z1kPVKiPi": ("const volatile int *", "int *"),
    "_Z1kPFffES0_": ("float (*)(float)", "float (*)(float)"),
    "_Z1kPPKfS1_": ("const float **", "const float **"),
    # Not known: a C name has none, an expression is not read.
    "plain_c": None,
    "_Z1kILi3EEvP1AIXT_EE": None,
    "_Z1kS5_": None,
}


@pytest.mark.parametrize("symbol, types", TYPES.items())
def test_parameter_types(symbol, types):
    assert signature(symbol).types == types


@pytest.mark.skipif(not shutil.which("c++filt"), reason="needs c++filt")
@pytest.mark.parametrize("symbol, types", [(symbol, types) for symbol, types in TYPES.items() if types is not None])
def test_parameter_types_against_cxxfilt(symbol, types):
    """c++filt writes `const` behind the type it is about, and no space before `*`."""
    told = subprocess.run(["c++filt", symbol], capture_output=True, text=True, check=True).stdout.strip()
    told = told[told.index("(") + 1 : -1].removeprefix(", ").replace("4ul", "4")
    flat = re.sub(
        r"const (volatile )?(\w+)", lambda match: f"{match[2]} {match[1] or ''}const", ", ".join(types)
    ).replace("int volatile const", "int const volatile")
    assert told == re.sub(r" (\*+)(?!\()", r"\1", flat)


def test_any_text_is_read_or_left():
    """Cut and crossed symbols: never an error, and a name; types only with a name that was read."""
    for symbol in TYPES:
        for end in range(len(symbol)):
            for other in TYPES:
                crossed = symbol[:end] + other[end:]
                name, types = signature(crossed)
                assert name and (types is None or name != crossed), crossed
