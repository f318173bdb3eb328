"""What kernels print, against the C library's own snprintf."""

import ctypes

import pytest

from tests.support.running import run_source

CASES = (
    (r"%d %i %u %x %X", ("-7", "42", "7u", "255u", "255u"), (-7, 42, 7, 255, 255)),
    (r"[%5d] [%-5d] [%05d] [%+d] [%.3d]", ("7", "7", "7", "7", "7"), (7, 7, 7, 7, 7)),
    (r"[%*d] [%*d]", ("4", "7", "-4", "7"), (4, 7, -4, 7)),
    (r"[%.*f] [%.*f]", ("2", "1.5", "-1", "1.5"), (2, ctypes.c_double(1.5), -1, ctypes.c_double(1.5))),
    (
        r"%lld %llu",
        ("-5000000000ll", "5000000000ull"),
        (ctypes.c_longlong(-5000000000), ctypes.c_ulonglong(5000000000)),
    ),
    (r"%hd %hhd %hu %hhx", ("70000", "300", "70000", "511"), (70000, 300, 70000, 511)),
    (r"%e %g %8.3f", ("1e10", "0.0001", "3.14159"), tuple(map(ctypes.c_double, (1e10, 0.0001, 3.14159)))),
    (r"%c%c %s %.2s 100%%", ("'o'", "'k'", '"text"', '"text"'), (ord("o"), ord("k"), b"text", b"text")),
)


def in_c(template: str, values: tuple) -> str:
    text = ctypes.create_string_buffer(200)
    ctypes.CDLL(None).snprintf(text, ctypes.c_size_t(200), template.encode(), *values)
    return text.value.decode()


@pytest.fixture(scope="module")
def printed(tmp_path_factory) -> list[str]:
    calls = "".join(f'    printf("{template}\\n", {", ".join(arguments)});\n' for template, arguments, _ in CASES)
    source = f"#include <cstdio>\n__global__ void speak() {{\n{calls}}}\n"
    _, results = run_source(tmp_path_factory.mktemp("printf"), source, "speak<<<1, 1>>>()")
    return results.printed.splitlines()


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case[0] for case in CASES])
def test_printf(printed, number):
    template, _, values = CASES[number]
    assert printed[number] == in_c(template, values)


def test_lanes_print_together(tmp_path):
    """After a branch, as nvcc's code has it: no lane's line comes before the title."""
    source = (
        '#include <cstdio>\n__global__ void speak() {\n    if (threadIdx.x == 0) printf("lanes:");\n'
        '    printf(" %d", threadIdx.x);\n    if (threadIdx.x == 0) printf("\\n");\n}\n'
    )
    _, results = run_source(tmp_path, source, "speak<<<1, 4>>>()")
    assert results.printed == "lanes: 0 1 2 3\n"
