"""What is ordered before what, and who touched which bytes: the state of racecheck, compiled by Numba.

lanes         what is kept of the lanes of a warp, once where they are alike
order         moments of warps, and what orders them
blocks        that order, of the blocks that run
rows          accesses as rows of a table, which stamps have the numbers of
lines         stamps: who wrote and read each byte of memory last
judge         what an access means for the stamps of the bytes that it touches
stamps        accesses of warps, as groups of lanes, put down in lines
memory        where the lines of global and shared memory stand
pairs         what is found
shadow        all of these for a launch
touched       what a launch has touched, for races with other launches
asynchronous  copies and multiplications that are under way
accumulators  registers that multiplications write
fragments     registers that multiplications read, in an order that nothing gives
guesses       loads that a compare-and-swap checks
images        textures and surfaces, as accesses to global memory
"""
