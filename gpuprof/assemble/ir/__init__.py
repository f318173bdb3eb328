"""Functions as basic blocks of instructions over virtual registers, and what can be asked of them: edges, liveness,
definitions, memory order, the call graph.
"""
