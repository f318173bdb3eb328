"""The timing model's version: raise it whenever the same program on the same chip may get other numbers.

1.0 the first.
1.1 A value packed from two loads waits for both. Integer multiplies take half of an FMA pipe that is 32 lanes
    wide (h200). Volatile, relaxed and acquire loads beyond a block pass the L1 by.
1.2 wgmma issues once, is waited for by its groups and reads shared memory; mma.sync on h200 has a lower rate.
    cp.async takes the banks that it writes to. Barriers whose number is in a register are distinguished.
2.0 The L1's tags lie in four banks; words written in part are fetched before they are read; 8 and 16 bytes a lane
    of shared memory.
    A launch starts launch_cycles after what it waits for; streams run at the same time, and grids share the SMs by what
    their blocks need.
    Results reach readers of other kinds by a table measured with ptxas; predicates guard later than they select. A
    barrier's round depends on its warps; a fence of a block does not wait for the L2; a nanosleep takes the time it
    names.
    Issue slots by architecture, those of a fence by its scope; of an expansion's slots only the unit's own use it.
    DRAM banks open rows. Atomics take the L2 slices longer; compare-and-swap takes twice as long as others.
    A half of the L2 keeps copies of what it has read from the other. L1s that give 64 bytes a cycle do so to
    every width.
2.1 Addresses are translated: TLBs of each SM, and of all SMs. Another block's shared memory is as far away
    as was measured.
    What waits for a grid's end, or for room in a full pool, sees it at one time, whichever SM is simulated first.
    Counted loops are done four turns at a time, where ptxas does so.
    Blocks take 250 to 400 cycles to follow each other, and a warp that ends need not hear of its stores, only see them
    go: as gpu-stream shows for five cards. Divisions and roots of doubles take the path that ptxas' code has. Shared
    memory takes two cycles an access where the load/store unit has 16 lanes (rtx3090).
3.0 Compared with published times of complete kernels and with samples of real cards.
    A sector that a store writes in part costs the L2 a read and a write, and HBM a fill; HBM fetches 64 bytes. A miss
    goes to its home half of the L2, and its DRAM channel follows from a hash. Sums of floats to one word take 3.13
    cycles a lane.
    Shared loads of 8 and 16 bytes take half the passes where lanes agree in pairs. Constants have caches and a unit of
    their own, and cold ones come from the L2. A warp's arrival at a barrier takes a turn in the load/store unit.
    `cycles` of a launch have what ncu counts besides its blocks.
    Global accesses wait in a second, deeper queue after the address unit. Branches and places where lanes meet hold up
    what follows. A narrow fp64 unit, the transcendental unit and special registers are waited for as cards' samples
    show it.
    Loops of a known number of turns are written out, and registers are given out, as ptxas does.
    The units of draws read and write through the L2 and the DRAM. What their shaders give each other stays on the chip.
4.0 Fences of the device empty the L1, as acquires do, and loops that wait for other warps poll until what they wait for
    has come. 256 neighbouring bytes lie in one slice of the L2.
    The L2 waits for room in the DRAM's queues to write back. Stores that write a sector in part are joined. Rows are
    opened at most so often. Fewer translations are known beyond an SM.
    A narrow fp64 unit is one for four partitions, and its queues take warps in order. Pairs of registers cost
    banks. Products of f16 with sums in f32 have half the rate on GeForce parts. Constant caches are set-associative.
    Launches as text find empty caches.
5.0 Programs and scripts have a host: its calls, copies over its link, fills, graphs and events take time on one clock
    with the GPU, and a launch starts once the host has made it. Launches of V100 and T4 follow each other sooner;
    nodes of a graph do on every chip. Lanes that arrive at one memory barrier take turns. Where an L2 has two halves,
    copies of the other half's lines take the room of others. Accesses to shared memory go before the operands of queued
    wgmma. Minima and maxima of f64 take the fp64 unit. A set of the L2 keeps a part of its lines changed; others are
    written while the DRAM has nothing else to do, and by turns with reads.
"""

MODEL_VERSION = "5.0"
