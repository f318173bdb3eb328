"""Host files: what they hold, what a wrong one gets, and which host a run has."""

import re

import pytest

from gpuprof.chips import altered, list_chips, load_chip
from gpuprof.errors import UsageError
from gpuprof.hosts import described, host_named, list_hosts, load_host
from gpuprof.hosts.fields import BY_NAME
from gpuprof.run.run_settings import Settings
from tests.hosts.page import PAGE, with_table

NAMES = ("nvlink-c2c", "pcie3", "pcie4", "pcie4-desktop", "pcie5")


def test_names():
    assert list_hosts() == NAMES


def test_a_host_whole():
    assert load_host("pcie3").describe() == {
        "name": "pcie3",
        "notes": "a server with PCIe 3.0",
        "link": "PCIe 3.0 x16",
        "link_in_gbytes_per_s": 12.9,
        "link_out_gbytes_per_s": 12.9,
        "both_ways_share": 0.71,
        "copy_latency_ns": 1500.0,
        "row_ns": 10.0,
        "fill_latency_ns": 740.0,
        "pageable_share": 0.65,
        "pageable_near_nbytes": 2097152,
        "pageable_far_share": 0.31,
        "staging_gbytes_per_s": 5.9,
        "staged_nbytes": 65536,
        "other_ns": 500.0,
        "submit_ns": 2000.0,
        "launch_ns": 2000.0,
        "copy_ns": 2100.0,
        "symbol_copy_ns": 2100.0,
        "fill_ns": 1650.0,
        "record_ns": 1600.0,
        "wait_event_ns": 1000.0,
        "idle_wait_ns": 800.0,
        "wait_return_ns": 1500.0,
        "allocate_ns": 4800.0,
        "free_ns": 2800.0,
        "allocate_later_ns": 1600.0,
        "cross_stream_ns": 3000.0,
        "host_function_ns": 20000.0,
        "graph_launch_ns": 2500.0,
        "graph_node_ns": 1.0,
        "graph_instantiate_ns": 10000.0,
        "graph_instantiate_node_ns": 2000.0,
        "graph_update_node_ns": 720.0,
        "mapped_read_gbytes_per_s": 12.4,
        "mapped_write_gbytes_per_s": 12.9,
        "page_nbytes": 65536,
        "fault_group_ns": 155000.0,
        "host_fault_nbytes": 2097152,
        "migrate_gbytes_per_s": 6.56,
    }


SOURCES = re.findall(r"`([^`]+)`", PAGE.read_text().split("| source begins with |", 1)[1].split("\n\n", 1)[0])


@pytest.mark.parametrize("name", NAMES)
def test_every_number_has_a_source_of_a_kind_that_the_page_explains(name):
    sources = load_host(name).sources
    beginnings = tuple(re.sub(r" \.\.\.$", "", source) for source in SOURCES)
    assert list(sources) == list(BY_NAME)
    assert {field: source for field, source in sources.items() if not source.startswith(beginnings)} == {}


def test_the_page_has_the_numbers():
    page = PAGE.read_text()
    assert with_table(page) == page, "write it again: python -m tests.hosts.page"


@pytest.mark.parametrize("name", NAMES)
def test_a_description_is_the_host(name):
    host = load_host(name)
    assert load_host(name.upper()) == described(host.describe(), "a recording") == host
    mine = described({**host.describe(), "name": "mine", "launch_ns": 1}, "a recording")
    assert (mine.name, mine.launch_ns, mine.sources["launch_ns"]) == ("mine", 1.0, "a recording")


def test_a_file_may_inherit(tmp_path):
    path = tmp_path / "slow.toml"
    path.write_text('inherits = "pcie3"\nlaunch_ns = { value = 9000, source = "nvprof" }\npage_nbytes = 4096\n')
    host, base = load_host(path), load_host("pcie3")
    assert (host.name, host.launch_ns, host.page_nbytes, host.copy_ns) == ("slow", 9000.0, 4096, base.copy_ns)
    assert [host.sources[name] for name in ("launch_ns", "page_nbytes")] == ["nvprof", "slow.toml"]


KNOWN = f"Known hosts: {', '.join(NAMES)}, or the path of a .toml file"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('inherits = "pcie4"\nlaunch = 5', "unknown key 'launch'; did you mean launch_ns?"),
        ('inherit = "pcie4"', "unknown key 'inherit'; did you mean inherits?"),
        (
            "launch_ns = 5",
            'notes is missing (the machine; a text): give it, or inherit it from a host, as in inherits = "pcie4"',
        ),
        (
            'inherits = "pcie4"\nlaunch_ns = -1',
            "launch_ns is -1, but only 0 to 1000000000 ns make sense (the launch of a kernel)",
        ),
        (
            'inherits = "pcie4"\nlaunch_ns = nan',
            "launch_ns is nan, but only 0 to 1000000000 ns make sense (the launch of a kernel)",
        ),
        ('inherits = "pcie4"\nlaunch_ns = "5"', "launch_ns: expected a number (ns), got '5'"),
        ('inherits = "pcie4"\nlaunch_ns = true', "launch_ns: expected a number (ns), got True"),
        ('inherits = "pcie4"\nstaged_nbytes = 0.5', "staged_nbytes: expected a whole number (bytes), got 0.5"),
        ('inherits = "pcie4"\nlink = 5', "link: expected a text, got 5"),
        (
            'inherits = "pcie4"\nlaunch_ns = { value = 5 }',
            "launch_ns: expected a number or { value = ..., source = ... }, got {'value': 5}",
        ),
        (
            'inherits = "pcie4"\nlink_in_gbytes_per_s = 0',
            "link_in_gbytes_per_s is 0, but only 0.001 to 10000 10^9 bytes per second make sense "
            "(copies from page-locked memory to the GPU)",
        ),
        ('inherits = "pcie4"\npage_nbytes = 5000', "page_nbytes is 5000, which is no power of two"),
        (
            'inherits = "pcie4"\nhost_fault_nbytes = 4096',
            "host_fault_nbytes is 4096, less than a page of page_nbytes = 65536",
        ),
        ("inherits = 5", "inherits: expected a host's name or file, got 5"),
        ('inherits = "bad.toml"', "inherits itself, through bad.toml"),
        ('inherits = "none.toml"', None),
        ("launch_ns = = 5", "cannot be read as a host file: Invalid value (at line 1, column 13)"),
        (f"launch_ns = {'9' * 400}", "cannot be read as a host file: an integer has more than 1024 bits"),
        ("a." * 100 + "b = 1", "cannot be read as a host file: a key has more than 64 parts"),
        ("notes = " + "[" * 5000, "cannot be read as a host file: its values are nested too deeply"),
    ],
)
def test_a_wrong_file_is_refused_by_name_and_key(tmp_path, text, message):
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        load_host(path)
    expected = f"{path}: {message}" if message else f"{tmp_path / 'none.toml'}: there is no such host file"
    assert str(caught.value) == expected


def test_a_long_file_and_a_folder_are_refused(tmp_path):
    (tmp_path / "long.toml").write_text("#" * (257 << 10))
    (tmp_path / "folder.toml").mkdir()
    for name in ("long.toml", "folder.toml"):
        with pytest.raises(UsageError, match=re.escape(str(tmp_path / name))):
            load_host(tmp_path / name)


@pytest.mark.parametrize(
    ("description", "message"),
    [
        ({}, "r.gprec: the host has no name"),
        ({"name": "x", "speed": 1}, "r.gprec: unknown key 'speed'"),
        (
            {"name": "x"},
            "r.gprec: notes is missing (the machine; a text): give it, or inherit it from a host, as in "
            'inherits = "pcie4"',
        ),
    ],
)
def test_what_describes_no_host(description, message):
    with pytest.raises(UsageError) as caught:
        described(description, "r.gprec")
    assert str(caught.value) == message


def test_a_name_that_there_is_not():
    with pytest.raises(UsageError) as caught:
        load_host("pcie")
    assert str(caught.value) == f"unknown host 'pcie'; did you mean pcie5 or pcie4 or pcie3? {KNOWN}"


def test_each_chip_has_a_host():
    assert {name: Settings(has_host=True).chosen_host(load_chip(name)).name for name in list_chips()} == {
        "a100": "pcie4",
        "a10g": "pcie4",
        "b200": "pcie5",
        "gh200": "nvlink-c2c",
        "h100": "pcie5",
        "h100-nvl": "pcie5",
        "h100-pcie": "pcie5",
        "h20": "pcie5",
        "h200": "pcie5",
        "l4": "pcie4",
        "l40s": "pcie4",
        "mi210-like": "pcie4",
        "ppu15": "pcie3",
        "rtx3090": "pcie4-desktop",
        "rtx4070ti-super": "pcie4-desktop",
        "rtx4090": "pcie4-desktop",
        "rtx5090": "pcie5",
        "rtxpro6000": "pcie5",
        "t4": "pcie3",
        "v100": "pcie3",
        "xehpc-like": "pcie5",
    }


def test_a_run_may_have_another_host(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('inherits = "pcie3"\n')
    chip = load_chip("a100")
    assert Settings(host_name="pcie5").chosen_host(chip) is None  # launches that no program makes
    assert Settings(has_host=True, host_name="pcie5").chosen_host(chip).name == "pcie5"
    assert Settings(has_host=True, host_name=str(path)).chosen_host(chip).name == "mine"
    assert Settings(has_host=True, host=load_host("pcie3"), host_name="pcie5").chosen_host(chip).name == "pcie3"


def test_a_chip_names_no_file_as_its_host(tmp_path):
    """A chip may come from a recording, which shall open no files."""
    path = tmp_path / "mine.toml"
    path.write_text('inherits = "pcie3"\n')
    chip = altered(load_chip("a100"), {"host": str(path)}, "test")
    with pytest.raises(UsageError) as caught:
        Settings(has_host=True).chosen_host(chip)
    assert str(caught.value) == f"chip a100: host: unknown host {str(path)!r}; known hosts: {KNOWN[13:]}"
    assert host_named("PCIE3") == load_host("pcie3")
