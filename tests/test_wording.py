import pytest

from gpuprof.base.wording import extent_text, plural

EXTENTS = {(64, 1, 1): "64", (8, 8, 1): "(8, 8)", (1, 8, 1): "(1, 8)", (8, 1, 4): "(8, 1, 4)", (1, 1, 1): "1"}


@pytest.mark.parametrize("extent", EXTENTS)
def test_extent_as_a_launch_is_written(extent):
    assert extent_text(extent) == EXTENTS[extent]


def test_plural():
    assert [plural(n, "launch", "launches") for n in (0, 1, 2, 1000)] == [
        "0 launches",
        "1 launch",
        "2 launches",
        "1,000 launches",
    ]
