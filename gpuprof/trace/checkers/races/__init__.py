"""The state of racecheck: the order of accesses, and the threads that touched each byte. Compiled by Numba.

lane_order       state of the lanes of a warp, stored once while they are alike
vector_clocks    the happens-before order of moments
access_rows      accesses as rows of a table
stamp_lines      stamps: the last writer and readers of each byte of memory
conflict_rules   the effect of an access on previous ones: races, and remaining entries
stamps           accesses of warps, as groups of lanes, in the lines that they touch
memory_lines     the lines of global and shared memory
block_races      the running blocks, and the state of their ordering
pairs            racing pairs of instructions
touched_lines    the memory that a launch has touched, for races with other launches
race_shadow      all of these for a launch
asynchronous     copies, groups and mbarriers
accumulators     registers that asynchronous multiplications write
matrix_races     registers that asynchronous multiplications read
image_races      accesses to textures and surfaces
cas_loads        loads of compare-and-swap loops
"""
