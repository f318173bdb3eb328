"""Sizes and times of options, as text."""

import click
import pytest

from gpuprof.cli.options.value_types import Seconds, Size


@pytest.mark.parametrize(
    "text, nbytes",
    [
        ("0", 0),
        ("4096", 4096),
        ("512K", 512 << 10),
        ("512k", 512 << 10),
        ("32M", 32 << 20),
        ("4GiB", 4 << 30),
        ("32KiB", 32 << 10),
    ],
)
def test_sizes(text, nbytes):
    assert Size().convert(text, None, None) == nbytes


@pytest.mark.parametrize("text, seconds", [("120s", 120), ("0.5s", 0.5), ("10m", 600), ("2h", 7200)])
def test_times(text, seconds):
    assert Seconds().convert(text, None, None) == seconds


@pytest.mark.parametrize(
    "kind, text, message",
    [
        *((Size(), text, "is not a number of bytes, such as") for text in ("", "4TB", "4 G", "4iB", "-1", "1e3", "٣")),
        *((Seconds(), text, "is not a time, such as") for text in ("", "120", "0s", "-1s", "1 s", "infs", "٣s")),
    ],
)
def test_what_is_neither(kind, text, message):
    with pytest.raises(click.BadParameter, match=f"^'{text}' {message}"):
        kind.convert(text, None, None)
