"""Names of sources with characters that strings escape: in PTX, in the assembled program, in its image."""

import pytest

from gpuprof.base.ptx_strings import quoted, unquoted
from gpuprof.compile import compile_cuda, read_ptx
from gpuprof.isa.gpubin.reader import read_gpubin
from gpuprof.run.compile_file import build_ptx

NAMES = ('a"b.cu', "a\\abc.cu", "a%d%s.cu", "a\nb\t.cu", "äö日本.cu", "a b;$#'.cu", '\\"\n%ä.cu')
SOURCE = "__global__ void k(int *o) { *o = 7; }\n"


@pytest.mark.parametrize("name", NAMES)
def test_a_string_is_read_as_it_was_written(name):
    assert unquoted(quoted(name)) == name


def test_escapes_of_llvm():
    assert unquoted(r"a\"b\\c\n\303\244") == 'a"b\\c\nä'
    assert quoted('a"b\\c\nä') == r"a\"b\\c\012ä"


@pytest.mark.parametrize("name", ['\\"\nabc%ä.cu', "a\\abc.cu"])
def test_a_source_is_found_by_its_name(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(SOURCE)
    module = compile_cuda(name)
    program, image = build_ptx(module)
    for sources in (module.sources, program.sources, read_gpubin(image, "k").sources):
        assert dict(sources) == {name: SOURCE}
    (tmp_path / "k.ptx").write_text(module.ptx)
    assert dict(read_ptx("k.ptx").sources) == {name: SOURCE}
    found = {each.file for each in program.locations if each}
    assert found == {name}
