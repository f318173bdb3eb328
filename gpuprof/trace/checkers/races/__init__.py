"""What is ordered before what, and who touched which bytes: the state of racecheck, compiled by Numba.

order    moments of warps, and what orders them
rows     accesses as rows of a table, which stamps have the numbers of
stamps   who wrote and read each unit of memory last, and what is not ordered with it
memory   where the stamps of a unit of memory stand
touched  what a launch has touched, for races with other launches
"""
