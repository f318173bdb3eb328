"""Chip files: what they hold, and what a wrong one gets."""

import re

import pytest

from gpuprof.chips import altered, described, list_chips, load_chip
from gpuprof.chips.changes import parse_changes, renamed_with
from gpuprof.chips.fields import BY_NAME, FIELDS, OPTIONAL_TABLES, TABLES
from gpuprof.errors import UsageError
from tests.paths import ROOT
from tests.support.matrices import long_but_every

NAMES = (
    "a100", "a10g", "b200", "gh200", "h100", "h100-nvl", "h100-pcie", "h20", "h200", "l4", "l40s", "mi210-like",
    "ppu15", "rtx3090", "rtx4070ti-super", "rtx4090", "rtx5090", "rtxpro6000", "t4", "v100", "xehpc-like",
)  # fmt: skip


def test_names():
    assert list_chips() == NAMES


@pytest.mark.parametrize("name", list_chips())
def test_every_number_of_a_chip_has_a_source(name):
    chip = load_chip(name)
    names = {field.name for field in FIELDS} | {
        f"{table}.{entry}" for table, (entries, _) in TABLES.items() for entry in entries
    }
    names |= {f"graphics.{field.name}" for field in OPTIONAL_TABLES["graphics"] if chip.graphics}
    assert set(chip.sources) == names
    missing = [field for field, source in chip.sources.items() if not source or source == f"{name}.toml"]
    assert missing == [], f"give each a source in gpuprof/chips/{name}.toml"


def test_the_readme_lists_the_chips():
    text = (ROOT / "README.md").read_text()
    shown = text.partition("Chips are")[2].partition("two like those of other vendors")[0]
    assert set(re.findall(r"`([\w-]+)`", shown)) == {name for name in list_chips() if not load_chip(name).is_foreign}


def test_the_machine_of_the_patent():
    chip = load_chip("ppu15")
    assert (chip.sms, chip.partitions, chip.warps_per_partition, chip.dispatch_units, chip.dram_channels) == (
        15,
        4,
        16,
        2,
        6,
    )
    assert [chip.lanes[pipe] * chip.partitions for pipe in ("fma", "fp64", "xu")] == [192, 64, 32]


def test_unknown_name_lists_the_names():
    with pytest.raises(
        UsageError,
        match=r"^unknown chip 'a10'; did you mean a10g or a100\? Known chips: "
        + ", ".join(NAMES)
        + r", or the path of a \.toml file$",
    ):
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
        ('inherits = "a100"\nsms = "many"', r"sms: expected a whole number \(SMs\), got 'many'"),
        ('inherits = "a100"\nsms = true', r"sms: expected a whole number \(SMs\), got True"),
        ('inherits = "a100"\nsms = { value = 3 }', "sms: expected a number or"),
        ('inherits = "a100"\nlatency = 3', "latency: expected a table, got 3"),
        ('inherits = "a100"\nwarp_slots = 63', "warp_slots is 63, which its 4 partitions cannot share evenly"),
        ('inherits = "a100"\nl2_near_cycles = 500', "l2_near_cycles, l2_far_cycles and dram_cycles must ascend"),
        (
            'inherits = "a100"\nl1_nbytes = 168960',
            "l1_nbytes leaves 1024 bytes of L1, less than one set of l1_ways = 16 lines",
        ),
        (
            'inherits = "a100"\nl2_slices = 1024\nl2_nbytes = 65536',
            "l2_nbytes is 65536, less than a line for each of l2_slices = 1024",
        ),
        (
            'inherits = "a100"\nregisters = 1024\nregister_granularity = 512',
            "registers is 1024, less than register_granularity",
        ),
        (
            'inherits = "a100"\npartitions = 1',
            "warp_slots gives 64 slots per partition, more than the 32 the model has",
        ),
        (
            'inherits = "a100"\nshared_nbytes = 400000',
            "shared_nbytes is 400000, which leaves no L1 of l1_nbytes 196608",
        ),
        ('inherits = "a100"\nclock_mhz = nan', "clock_mhz is nan, but only 10 to 10000 MHz make sense"),
        ('inherits = "a100"\nclock_mhz = inf', "clock_mhz is inf"),
        ('inherits = "a100"\narch = 80', "arch: expected a text, got 80"),
        ('inherits = "a100"\nl2_bytes = 5', "unknown key 'l2_bytes'; did you mean l2_nbytes"),
        ('inherits = "a100"\nshared = 5', "unknown key 'shared'; did you mean latency.shared?"),
        ('inherits = "a100"\n[latency]\nshard = 5', "unknown key 'latency.shard'; did you mean latency.shared"),
        ('inherit = "a100"', "unknown key 'inherit'; did you mean inherits"),
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


NUMBERS = [(name, field) for name, field in BY_NAME.items() if field.kind != "text"]
NUMBERS += [(f"{table}.{entry}", field) for table, (entries, field) in TABLES.items() for entry in entries]


@pytest.mark.parametrize(("name", "field"), long_but_every(3, NUMBERS), ids=[name for name, _ in NUMBERS])
def test_every_number_has_its_bounds_and_its_type(tmp_path, name, field):
    table, _, key = name.rpartition(".")
    step = 1 if field.kind == "int" else 0.001
    for value in (
        field.low - step,
        field.high + step,
        -(10**30),
        '"5"',
        "true",
        "[5]",
        *(["2.5"] if field.kind == "int" else []),
    ):
        path = tmp_path / "my chip.toml"
        path.write_text('inherits = "a100"\n' + (f"[{table}]\n" if table else "") + f"{key} = {value}\n")
        with pytest.raises(UsageError, match=rf"my chip\.toml: {re.escape(name)}(:| is)"):
            load_chip(path)


def test_a_relative_path_with_spaces_and_a_parent_in_another_folder(tmp_path, monkeypatch):
    (tmp_path / "my chips").mkdir()
    (tmp_path / "my chips" / "base.toml").write_text('inherits = "v100"\nsms = 3\n')
    (tmp_path / "my chips" / "half of it.toml").write_text('inherits = "base.toml"\nclock_mhz = 700\n')
    monkeypatch.chdir(tmp_path)
    chip = load_chip("my chips/half of it.toml")
    assert (chip.name, chip.sms, chip.clock_mhz, chip.l2_nbytes) == (
        "half of it",
        3,
        700.0,
        load_chip("v100").l2_nbytes,
    )


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(UsageError, match=r"none\.toml: there is no such chip file"):
        load_chip(tmp_path / "none.toml")


@pytest.mark.parametrize("name", NAMES)
def test_a_chip_goes_by_any_case(name):
    assert load_chip(name.upper()) == load_chip(name)


def test_at_another_clock_what_is_time_stays_time(tmp_path):
    """An A100 takes 397 cycles to the L2's far half and 545 to the DRAM: 148 cycles beyond are 105 ns at 1410 MHz."""
    base = load_chip("a100")
    assert (base.clock_mhz, base.l2_far_cycles, base.dram_cycles) == (1410, 397, 545)
    path = tmp_path / "slow.toml"
    path.write_text('inherits = "a100"\nclock_mhz = 705\n')
    slow = altered(base, {"clock_mhz": 705}, "test")
    for chip in (slow, load_chip(path)):
        assert (chip.clock_mhz, chip.l2_near_cycles, chip.l2_far_cycles, chip.dram_cycles) == (705, 206, 397, 397 + 74)
    assert load_chip(path).sources["dram_cycles"] == (
        "gpu-benches, 552, less what the TLB adds at 128 MB; its time beyond the L2, from 1410 to 705 MHz"
    )
    assert slow.sources["dram_cycles"] == "test"
    assert altered(slow, {"clock_mhz": 1410}, "test").values == base.values


def test_a_given_dram_latency_holds_at_any_clock(tmp_path):
    path = tmp_path / "slow.toml"
    path.write_text('inherits = "a100"\nclock_mhz = 705\ndram_cycles = 500\n')
    assert load_chip(path).dram_cycles == 500
    assert altered(load_chip("a100"), {"clock_mhz": 705, "dram_cycles": 500}, "test").dram_cycles == 500


def test_a_changed_chip_is_named_so():
    chip = renamed_with(load_chip("a100"), parse_changes(("clock_mhz=1095", "l2_mb=20")))
    assert (chip.name, chip.clock_mhz, chip.l2_nbytes) == ("a100 (clock_mhz=1095, l2_mb=20)", 1095, 20 << 20)
    assert renamed_with(load_chip("a100"), {}) == load_chip("a100")


@pytest.mark.parametrize("clock_mhz", [1, 1e6])
def test_an_absurd_clock_is_refused(clock_mhz):
    with pytest.raises(UsageError, match="test: clock_mhz is"):
        altered(load_chip("a100"), {"clock_mhz": clock_mhz}, "test")


def test_chips_that_draw():
    assert [name for name in list_chips() if load_chip(name).graphics] == [
        "a10g", "l4", "l40s", "rtx3090", "rtx4070ti-super", "rtx4090", "rtx5090", "rtxpro6000", "t4", "v100",
    ]  # fmt: skip


def test_a_rate_of_a_chip_that_draws_nothing():
    with pytest.raises(UsageError, match=r"^--set: graphics\.triangles_per_cycle: a100 has no graphics$"):
        altered(load_chip("a100"), {"graphics.triangles_per_cycle": 2.0}, "--set")


def test_a_table_of_graphics_has_every_number(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('inherits = "a100"\n[graphics]\ndraw_cycles = 10.0\n')
    with pytest.raises(UsageError, match=r"mine\.toml: graphics\.state_cycles is missing \(time of the command"):
        load_chip(path)


def test_a_description_has_the_graphics():
    chip = altered(load_chip("rtx3090"), {"graphics.triangles_per_cycle": 2.0}, "here")
    assert described(chip.describe(), "a recording").graphics == chip.graphics
