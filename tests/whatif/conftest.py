import pytest

from gpuprof.chips import load_chip


@pytest.fixture
def chip_of(tmp_path):
    """A chip of the lines of a chip file."""

    def made(lines):
        path = tmp_path / "chip.toml"
        path.write_text(lines)
        return load_chip(path)

    return made
