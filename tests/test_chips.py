"""Chip files: what they hold, and what a wrong one gets."""

import pytest

from gpuprof.chips import list_chips, load_chip
from gpuprof.chips.fields import FIELDS, TABLES
from gpuprof.errors import UsageError

NAMES = ("a100", "b200", "h100", "h200", "mi210-like", "ppu15", "rtx3090", "rtx4090", "t4", "v100", "xehpc-like")


def test_names():
    assert list_chips() == NAMES


@pytest.mark.parametrize("name", list_chips())
def test_every_number_of_a_chip_has_a_source(name):
    chip = load_chip(name)
    names = {field.name for field in FIELDS} | {f"{table}.{entry}" for table, (entries, _) in TABLES.items() for entry in entries}
    assert set(chip.sources) == names
    assert all(source and source != f"{name}.toml" for source in chip.sources.values())


def test_the_machine_of_the_patent():
    chip = load_chip("ppu15")
    assert (chip.sms, chip.partitions, chip.warps_per_partition, chip.dispatch_units, chip.dram_channels) == (15, 4, 16, 2, 6)
    assert [chip.lanes[pipe] * chip.partitions for pipe in ("fma", "fp64", "xu")] == [192, 64, 32]


def test_unknown_name_lists_the_names():
    with pytest.raises(UsageError, match=r"^unknown chip 'a10'; there are " + ", ".join(NAMES) + r", or give the path of a \.toml file$"):
        load_chip("a10")


def test_a_file_may_inherit(tmp_path):
    path = tmp_path / "half.toml"
    path.write_text('inherits = "a100"\nsms = 54\n[latency]\nshared = 25\n')
    chip, base = load_chip(path), load_chip("a100")
    assert (chip.name, chip.sms, chip.latency["shared"], chip.latency["alu"]) == ("half", 54, 25, base.latency["alu"])
    assert chip.sources["sms"] == "half.toml" and chip.sources["warp_slots"] == base.sources["warp_slots"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('inherits = "a100"\nsmz = 5', "unknown key 'smz'"),
        ('inherits = "a100"\n[latency]\nfoo = 5', "unknown key 'latency.foo'"),
        ("sms = 5", "maker is missing"),
        ('inherits = "a100"\nsms = 0', "sms is 0, but only 1 to 1024 SMs make sense"),
        ('inherits = "a100"\nsms = "many"', r"sms: expected a number \(SMs\), got 'many'"),
        ('inherits = "a100"\nsms = true', r"sms: expected a number \(SMs\), got True"),
        ('inherits = "a100"\nsms = { value = 3 }', "sms: expected a number or"),
        ('inherits = "a100"\nlatency = 3', "latency: expected a table, got 3"),
        ('inherits = "a100"\nwarp_slots = 63', "warp_slots is 63, which its 4 partitions cannot share evenly"),
        ('inherits = "a100"\nl2_near_cycles = 500', "l2_near_cycles, l2_far_cycles and dram_cycles must ascend"),
        ('inherits = "nothing"', "unknown chip 'nothing'"),
        ('inherits = "bad.toml"', "inherits itself"),
        ("sms = = 5", "cannot be read as a chip file"),
    ],
)
def test_a_wrong_file_is_refused_by_name_and_key(tmp_path, text, message):
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=message) as caught:
        load_chip(path)
    assert "bad.toml" in str(caught.value) or "nothing" in str(caught.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(UsageError, match=r"none\.toml: there is no such chip file"):
        load_chip(tmp_path / "none.toml")
