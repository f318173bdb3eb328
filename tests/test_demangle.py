"""Names of kernels in PTX, against a demangler where there is one."""

import shutil
import subprocess

import pytest

from gpuprof.compile.demangle import demangle

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
    # Left as they are: a lambda, a substitution, an unfinished name, none.
    "_Z3runIZ4mainEUlvE_EvT_": "_Z3runIZ4mainEUlvE_EvT_",
    "_Z1kIN2ns1AES1_EvT_T0_": "_Z1kIN2ns1AES1_EvT_T0_",
    "_Z9scan": "_Z9scan",
    "_Z4scanILi256": "_Z4scanILi256",
    "_Z": "_Z",
}  # fmt: skip


@pytest.mark.parametrize("symbol, name", NAMES.items())
def test_name(symbol, name):
    assert demangle(symbol) == name


@pytest.mark.skipif(not shutil.which("c++filt"), reason="needs c++filt")
@pytest.mark.parametrize("symbol", [symbol for symbol, name in NAMES.items() if symbol != name and "GLOBAL" not in symbol])
def test_name_against_cxxfilt(symbol):
    """c++filt writes the return type of templates and the parameters around the name, a cast or suffix with numbers, and no space before `*`."""
    told = subprocess.run(["c++filt", symbol], capture_output=True, text=True, check=True).stdout
    told = told.strip().removeprefix("void ").replace("(bool)1", "true").replace("8u", "8").replace("double const*", "const double *")
    assert told.startswith(demangle(symbol) + "(")
