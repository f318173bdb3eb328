"""Text files as editors save them."""

import codecs

import pytest

from gpuprof.base.inputs import SOURCE, read_input_text
from gpuprof.chips import load_chip
from gpuprof.chips.model import FILES
from gpuprof.compile.source import read_source
from gpuprof.device.launching.launch_requests import comment_requests
from gpuprof.errors import UsageError

LAUNCH = "// LAUNCH: k<<<1, 32>>>()\n"


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path):
    path = tmp_path / "k.cu"
    path.write_bytes(codecs.BOM_UTF8 + LAUNCH.encode())
    assert read_source(str(path)) == read_input_text(path, SOURCE) == LAUNCH
    assert [request.kernel for request in comment_requests(path)] == ["k"]
    chip = tmp_path / "mine.toml"
    chip.write_bytes(codecs.BOM_UTF8 + FILES.path_of("a100").read_bytes())
    assert load_chip(str(chip)).sms == load_chip("a100").sms


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_other_encodings_are_named(tmp_path, encoding):
    path = tmp_path / "k.cu"
    path.write_bytes(LAUNCH.encode(encoding))
    with pytest.raises(UsageError, match=f"^{path}: is {encoding[:6].upper()} text; save it as UTF-8$"):
        read_input_text(path, SOURCE)


def test_ptx_in_another_encoding_has_its_launches(tmp_path):
    path = tmp_path / "k.ptx"
    path.write_bytes(LAUNCH.encode("utf-16"))
    assert [request.kernel for request in comment_requests(path)] == ["k"]
