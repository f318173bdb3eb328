"""The door for files of others: what is no regular file or too long is refused at once, with one line."""

import os
import socket
import threading

import pytest

from gpuprof.base.inputs import (
    CHIP,
    KINDS,
    check_input,
    is_missing,
    is_regular,
    open_input,
    read_input,
    read_input_text,
)
from gpuprof.base.toml import MOST_PARTS, read_toml
from gpuprof.errors import UsageError
from tests.paths import DOCS


def refusal(path, kind=CHIP) -> str:
    """What `open_input` says, within a second."""
    said: list[str] = []

    def attempt() -> None:
        for reader in (open_input, read_input, check_input):
            try:
                reader(path, kind)
            except UsageError as error:
                said.append(str(error).replace(str(path), "FILE"))

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(5)
    assert not thread.is_alive(), "it waits"
    assert len(set(said)) == 1 and len(said) == 3, said
    return said[0]


def test_what_is_no_regular_file(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("/dev/zero")
    (tmp_path / "nowhere").symlink_to("gone")
    assert refusal(tmp_path / "fifo") == "FILE: is a FIFO; expected a regular file"
    assert refusal(tmp_path) == "FILE: is a folder; expected a regular file"
    assert refusal("/dev/zero") == "FILE: is a device; expected a regular file"
    assert refusal(tmp_path / "link") == "FILE: is a device; expected a regular file"
    assert refusal(tmp_path / "none") == "FILE: there is no such file"
    assert refusal(tmp_path / "nowhere") == "FILE: there is no such file"


def test_sockets_and_names_that_are_none(tmp_path):
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        with pytest.raises(UsageError, match="socket"):
            read_input(tmp_path / "socket", CHIP)
    with pytest.raises(UsageError, match="is no file name: embedded null byte"):
        read_input("a\0b", CHIP)
    with pytest.raises(UsageError, match="cannot be read: File name too long"):
        read_input("x" * 5000, CHIP)


def test_what_is_too_long_is_not_read(tmp_path):
    with (tmp_path / "long").open("wb") as file:
        file.truncate(1 << 40)  # sparse
    assert refusal(tmp_path / "long") == (
        "FILE: has 1,099,511,627,776 bytes; the limit for a chip file is 262,144 bytes"
    )
    with (tmp_path / "most").open("wb") as file:
        file.truncate(CHIP.most_nbytes)
    assert len(read_input(tmp_path / "most", CHIP)) == CHIP.most_nbytes


@pytest.mark.skipif(not os.path.exists("/proc/self/maps"), reason="only Linux has files that say they are empty")
def test_what_says_that_it_is_empty_is_read_up_to_its_limit():
    assert b"[stack]" in read_input("/proc/self/maps", CHIP)
    with pytest.raises(UsageError, match=r"^/proc/self/maps: has more bytes; the limit for a few is 100 bytes$"):
        read_input("/proc/self/maps", CHIP._replace(name="few", most_nbytes=100))


def test_text_and_whether_a_file_is_there(tmp_path):
    (tmp_path / "a").write_bytes("é\r\nb\rc".encode())
    assert read_input_text(tmp_path / "a", CHIP) == "é\nb\nc"
    assert is_regular(tmp_path / "a") and not is_regular(tmp_path) and not is_regular("a\0b")
    assert is_missing(tmp_path / "b") and not is_missing(tmp_path / "a") and not is_missing("a\0b")


@pytest.mark.parametrize(
    "text, why",
    [
        (".".join(["a"] * 100_000) + " = 1", f"a key has more than {MOST_PARTS} parts"),
        ("[" + ".".join(["'a'"] * 50_000) + "]", f"a key has more than {MOST_PARTS} parts"),
        ("a = {" + " . ".join(["b"] * 100) + " = 1}", f"a key has more than {MOST_PARTS} parts"),
        ("a = " + "[" * 100_000, "its values are nested too deeply"),
        ("a = [0x" + "f" * 10_000 + "]", "an integer has more than 1024 bits"),
        ("a = 1\na = 2", "Cannot overwrite a value (at end of document)"),
    ],
)
def test_hostile_toml(tmp_path, text, why):
    (tmp_path / "a.toml").write_text(text)
    with pytest.raises(ValueError) as caught:
        read_toml(tmp_path / "a.toml", CHIP)
    assert str(caught.value) == why


def test_the_page_has_every_limit():
    page = (DOCS / "security.md").read_text()
    for kind in KINDS:
        assert f"| {kind.name} | {size_text(kind.most_nbytes)} | {kind.why} |" in page


def size_text(nbytes: int) -> str:
    for shift, unit in ((40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")):
        if nbytes >> shift:
            return f"{nbytes >> shift} {unit}"
    return f"{nbytes} bytes"
