import pytest

from gpuprof.base.wording import extent_text, launch_text, plural

EXTENTS = {(64, 1, 1): "64", (8, 8, 1): "(8, 8)", (1, 8, 1): "(1, 8)", (8, 1, 4): "(8, 1, 4)", (1, 1, 1): "1"}


@pytest.mark.parametrize("extent", EXTENTS)
def test_extent_as_a_launch_is_written(extent):
    assert extent_text(extent) == EXTENTS[extent]


def test_launch_as_cuda_writes_it():
    assert launch_text("scan<256>", (64, 1, 1), (8, 8, 1)) == "scan<256><<<64, (8, 8)>>>"
    assert launch_text("", (64, 1, 1), (8, 8, 2), "1024", "cluster=2") == "<<<64, (8, 8, 2), 1024, cluster=2>>>"


def test_plural():
    assert [plural(n, "launch", "launches") for n in (0, 1, 2, 1000)] == [
        "0 launches",
        "1 launch",
        "2 launches",
        "1,000 launches",
    ]
