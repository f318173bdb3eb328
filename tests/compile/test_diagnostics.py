"""Messages of two compilations of one source, each told once."""

from gpuprof.compile.diagnostics import without_repeated

HOST = """\
In file included from a.cu:2:
./h.h:1:25: error: use of undeclared identifier 'hnot'
    1 | inline int f() { return hnot; }
      |                         ^~~~
a.cu:3:34: error: use of undeclared identifier 'nowhere'
    3 | __global__ void k(int *o) { *o = nowhere; }
      |                                  ^~~~~~~
a.cu:4:1: note: declared here
2 errors generated when compiling for host.
"""
ONLY_DEVICE = """\
In file included from a.cu:9:
./h.h:7:3: error: use of undeclared identifier 'alsonot'
    7 |   alsonot;
      |   ^~~~~~~
./h.h:8:3: note: here
"""
SAME = HOST.replace("compiling for host", "compiling for sm_80")


def test_messages_that_are_in_the_other_text_are_left_out():
    assert without_repeated(SAME, [HOST]) == ""
    assert without_repeated(SAME.replace("2 errors", ONLY_DEVICE + "3 errors"), [HOST]) == ONLY_DEVICE
    assert without_repeated(SAME, []) == SAME
    assert without_repeated(ONLY_DEVICE, [HOST]) == ONLY_DEVICE


def test_a_warning_alone_is_no_reason():
    warning = "a.cu:1:1: warning: unused variable 'x'\n    1 | int x;\n"
    assert without_repeated(warning + SAME, [HOST]) == ""


def test_a_source_with_a_dash_has_its_folder_in_front_on_one_side():
    host, device = ("./-x.cu:1:1: error: no\n", "-x.cu:1:1: error: no\n")
    assert without_repeated(device, [host]) == without_repeated(host, [device]) == ""
