"""What a program is told of its device."""

from gpuprof.chips import Chip
from gpuprof.program.api.modules import USUAL_SHARED_NBYTES


def properties(chip: Chip, memory_nbytes: int) -> tuple[tuple[int, ...], bytes]:
    """Words and payload of the reply. `memory_nbytes`: of the device."""
    digits = "".join(filter(str.isdigit, chip.arch))
    words = (
        memory_nbytes, min(USUAL_SHARED_NBYTES, chip.max_shared_nbytes_per_block),
        chip.max_shared_nbytes_per_block, chip.shared_nbytes, chip.registers, chip.registers,
        chip.max_threads_per_block, chip.warp_slots * 32, chip.max_blocks, chip.sms, round(chip.clock_mhz * 1e3),
        # Of a bus of 8 bits a channel and cycle, twice a cycle: what programs make of both is the bandwidth.
        round(chip.dram_gbytes_per_s * 1e6 / (2 * chip.dram_channels)), 8 * chip.dram_channels, chip.l2_nbytes,
        int(digits[:-1]), int(digits[-1]),
    )  # fmt: skip
    return words, f"gpuprof {chip.name}".encode()
