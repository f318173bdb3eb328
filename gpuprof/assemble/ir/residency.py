"""How many registers a thread may take without costing its SM a warp, by architecture."""

_REGISTERS_OF_LANE = 512  # of a partition: 65536 of an SM of four partitions of 32 lanes
_GRANULE = 8  # registers that a thread gets together
# Warps that a partition holds where it is not 16. From: CUDA C++ Programming Guide, technical specifications by compute
# capability (warps of an SM, a fourth each). ptxas 13.0 goes up to the number of registers that follows from them:
# tests/assemble/test_residency.py.
_WARPS_OF_PARTITION = {"75": 8, "86": 12, "87": 12, "89": 12, "120": 12, "121": 12}
_MOST_WARPS = 16


def free_registers(target: str) -> int:
    """The most registers with which a partition of `target`, such as "sm_86", holds all its warps."""
    warps = _WARPS_OF_PARTITION.get(target.removeprefix("sm_").rstrip("af"), _MOST_WARPS)
    return _REGISTERS_OF_LANE // warps // _GRANULE * _GRANULE
