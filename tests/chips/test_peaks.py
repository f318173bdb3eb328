"""The peak rates of each chip beside the figures that its maker publishes."""

import pytest

from gpuprof.chips.model import list_chips, load_chip
from gpuprof.chips.peaks import RESOURCES, peaks_of

# Units of work: TFLOP/s or TOP/s of dense matrices and vectors, and the clock in MHz that the figure is for. A figure
# must be ours to within TOLERANCE once it is taken to the clock of the chip file.
TOLERANCE = 0.02
A100 = "NVIDIA A100 data sheet"
H100 = "NVIDIA H100 architecture whitepaper, SXM5; H200 has the same"
V100 = "NVIDIA V100 data sheet, SXM2"
T4 = "NVIDIA T4 data sheet"
GA102 = "NVIDIA Ampere GA102 architecture whitepaper; tensor f16 with sums in f16"
ADA = "NVIDIA Ada architecture whitepaper; tensor f16 and f8 with sums in f16"
B200 = "NVIDIA HGX B200, per GPU: an eighth of the board"
A10G = "NVIDIA A10G data sheet"
AD103 = "NVIDIA GeForce RTX 4070 Ti SUPER, by the Ada whitepaper's rates; tensor f16 and f8 with sums in f16"
L4 = "NVIDIA L4 data sheet, half of what it says with sparsity"
L40S = "NVIDIA L40S data sheet, without sparsity"
H100_PCIE = "NVIDIA H100 data sheet, PCIe, without sparsity"
H100_NVL = "NVIDIA H100 NVL data sheet, a card, without sparsity"
H20 = "NVIDIA H20 data sheet; its 44 TFLOP/s of f32 are more than 78 SMs do at 1980 MHz"
GH200 = "NVIDIA GH200 data sheet, without sparsity"
GB202 = "NVIDIA RTX Blackwell whitepapers, without sparsity; tensor f16 and f8 of RTX 5090 with sums in f16"
HOPPER = (
    ("f32", 66.9, 1980), ("f64", 33.5, 1980), ("f16", 133.8, 1980), ("tensor_f64", 66.9, 1980),
    ("tensor_tf32", 494.7, 1830), ("tensor_f16", 989.4, 1830), ("tensor_f8", 1978.9, 1830), ("tensor_s8", 1978.9, 1830),
)  # fmt: skip
ARITHMETIC = {
    "v100": (V100, (("f32", 15.7, 1530), ("f64", 7.8, 1530), ("tensor_f16", 125, 1530))),
    "t4": (T4, (("f32", 8.1, 1590), ("tensor_f16", 65, 1590), ("tensor_s8", 130, 1590), ("tensor_s4", 260, 1590))),
    "a100": (A100, (
        ("f64", 9.7, 1410), ("f32", 19.5, 1410), ("f16", 78, 1410), ("tensor_f64", 19.5, 1410),
        ("tensor_tf32", 156, 1410), ("tensor_f16", 312, 1410), ("tensor_s8", 624, 1410), ("tensor_s4", 1248, 1410),
        ("tensor_b1", 4992, 1410),
    )),
    "h100": (H100, HOPPER),
    "h200": (H100, HOPPER),
    "rtx3090": (GA102, (
        ("f32", 35.6, 1695), ("f16", 35.6, 1695), ("f64", 0.556, 1695), ("tensor_tf32", 35.6, 1695),
        ("tensor_f16", 142, 1695), ("tensor_s8", 284, 1695), ("tensor_s4", 568, 1695),
    )),
    "rtx4090": (ADA, (
        ("f32", 82.6, 2520), ("f64", 1.29, 2520), ("f16", 82.6, 2520), ("tensor_tf32", 82.6, 2520),
        ("tensor_f16", 330.3, 2520), ("tensor_f8", 660.6, 2520), ("tensor_s8", 660.6, 2520),
        ("tensor_s4", 1321.2, 2520),
    )),
    "a10g": (A10G, (
        ("f32", 35, 1710), ("tensor_tf32", 35, 1710), ("tensor_f16", 70, 1710), ("tensor_s8", 140, 1710),
        ("tensor_s4", 280, 1710),
    )),
    "rtx4070ti-super": (AD103, (
        ("f32", 44.1, 2610), ("tensor_f16", 176.4, 2610), ("tensor_f8", 352.8, 2610), ("tensor_s8", 352.8, 2610),
    )),
    "l4": (L4, (
        ("f32", 30.3, 2040), ("tensor_tf32", 60, 2040), ("tensor_f16", 121, 2040), ("tensor_f8", 242.5, 2040),
        ("tensor_s8", 242.5, 2040),
    )),
    "l40s": (L40S, (
        ("f32", 91.6, 2520), ("tensor_tf32", 183, 2520), ("tensor_f16", 362, 2520), ("tensor_f8", 733, 2520),
        ("tensor_s8", 733, 2520),
    )),
    "h100-pcie": (H100_PCIE, (
        ("f32", 51, 1755), ("f64", 26, 1755), ("tensor_f64", 51, 1755), ("tensor_tf32", 378, 1620),
        ("tensor_f16", 756, 1620), ("tensor_f8", 1513, 1620), ("tensor_s8", 1513, 1620),
    )),
    "h100-nvl": (H100_NVL, (("f32", 60, 1785), ("f64", 30, 1785), ("tensor_f64", 60, 1785))),
    "gh200": (GH200, (("f32", 67, 1980), ("f64", 34, 1980), ("tensor_f64", 67, 1980), ("tensor_f16", 990, 1830))),
    "h20": (H20, (
        ("tensor_tf32", 74, 1853), ("tensor_f16", 148, 1853), ("tensor_f8", 296, 1853), ("tensor_s8", 296, 1853),
    )),
    "rtx5090": (GB202, (
        ("f32", 104.8, 2407), ("f64", 1.64, 2407), ("f16", 104.8, 2407), ("tensor_tf32", 104.8, 2407),
        ("tensor_f16", 419, 2407), ("tensor_f8", 838, 2407), ("tensor_s8", 838, 2407),
    )),
    "rtxpro6000": (GB202, (
        ("f32", 126, 2617), ("f64", 1.97, 2617), ("f16", 126, 2617), ("tensor_tf32", 251.9, 2617),
        ("tensor_f16", 503.8, 2617), ("tensor_f8", 1007.6, 2617), ("tensor_s8", 1007.6, 2617),
    )),
    "b200": (B200, (
        ("f32", 75, 1965), ("f64", 37, 1965), ("tensor_f64", 37, 1965), ("tensor_tf32", 1125, 1860),
        ("tensor_f16", 2250, 1860), ("tensor_f8", 4500, 1860), ("tensor_s8", 4500, 1860),
    )),
}  # fmt: skip

# GB/s of the memory's pins, by the data sheets, and the share of it that programs reach, to within SHARE_TOLERANCE:
# chip files have what gpu-benches and others measured.
SHARE_TOLERANCE = 0.01
DRAM = {
    "v100": (900, 0.963), "t4": (320, 0.688), "a100": (2039, 0.871), "h100": (3350, 0.941), "h200": (4800, 0.81),
    "rtx3090": (936, 0.979), "rtx4090": (1008, 0.978), "b200": (8000, 0.94),
    "a10g": (600, 0.978), "rtx4070ti-super": (672, 0.978), "l4": (300, 0.978), "l40s": (864, 0.978),
    "h100-pcie": (2039, 0.941), "h100-nvl": (3938, 0.946), "gh200": (4000, 0.946), "h20": (4000, 0.946),
    "rtx5090": (1792, 0.978), "rtxpro6000": (1792, 0.978),
}  # fmt: skip
# Bytes a cycle of the L2 where NVIDIA publishes them (A100 whitepaper: 5120, and 2048 for V100), and the share that
# gpu-benches reached: 5430 and 2453 GB/s.
L2 = {"v100": (2048, 0.875), "a100": (5120, 0.75)}


@pytest.mark.parametrize("chip", ARITHMETIC)
def test_arithmetic_beside_the_data_sheet(chip):
    source, figures = ARITHMETIC[chip]
    clock_mhz = load_chip(chip).clock_mhz
    peaks = peaks_of(load_chip(chip).describe())
    for name, published, at_mhz in figures:
        ours = peaks[name].rate / 1000
        assert ours == pytest.approx(published * clock_mhz / at_mhz, rel=TOLERANCE), f"{name}: {source}"


@pytest.mark.parametrize("chip", DRAM)
def test_dram_beside_the_data_sheet(chip):
    published, share = DRAM[chip]
    assert peaks_of(load_chip(chip).describe())["dram"].rate / published == pytest.approx(share, abs=SHARE_TOLERANCE)


@pytest.mark.parametrize("chip", L2)
def test_l2_beside_the_whitepaper(chip):
    published, share = L2[chip]
    assert peaks_of(load_chip(chip).describe())["l2"].per_cycle / published == pytest.approx(share, abs=SHARE_TOLERANCE)


def test_every_chip_has_every_peak():
    for name in list_chips():
        chip = load_chip(name)
        peaks = peaks_of(chip.describe())
        assert list(peaks) == [resource.name for resource in RESOURCES]
        assert peaks["issue"].rate == chip.partitions * chip.dispatch_units  # of an SM
        assert peaks["tensor_pipe"].rate == chip.sms * chip.partitions


def test_all_peaks_of_a100():
    """By hand: 108 SMs of 4 partitions at 1410 MHz."""
    ghz = 1.41
    expected = {
        "dram": 1776,
        "l2": 80 * 48 * ghz,  # less than 108 links of 64 bytes
        "atomics": 1,
        "l1": 108 * 128 * ghz,
        "shared": 108 * 128 * ghz,
        "issue": 4,
        "f64": 2 * 108 * 32 * ghz,
        "f32": 2 * 108 * 64 * ghz,
        "f16": 2 * 2 * 108 * 128 * ghz,
        "tensor_f16": 2 * 108 * 1024 * ghz,
        "tensor_tf32": 2 * 108 * 512 * ghz,
        "tensor_f8": 2 * 108 * 1024 * ghz,
        "tensor_s8": 2 * 108 * 2048 * ghz,
        "tensor_s4": 2 * 108 * 4096 * ghz,
        "tensor_b1": 2 * 108 * 16384 * ghz,
        "tensor_f64": 2 * 108 * 64 * ghz,
        "tensor_pipe": 432,
    }
    assert {name: peak.rate for name, peak in peaks_of(load_chip("a100").describe()).items()} == pytest.approx(expected)


@pytest.mark.parametrize("numbers", [{}, {"sms": 0}, {"sms": -1}, {"sms": "108"}, {"sms": True}, {"sms": float("inf")}])
def test_what_a_chip_lacks_has_no_peak(numbers):
    """Recordings of others, and those cut off before the chip, may say anything."""
    chip = {"clock_mhz": 1000, "dram_gbytes_per_s": 500, "lanes": 3} | numbers
    assert {name: peak.rate for name, peak in peaks_of(chip).items()} == {"dram": 500}
