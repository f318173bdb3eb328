"""How far the timing model can be trusted: its figures, measured by the project's microbenchmarks, compared with
published ones; and the parts that are not modelled.
"""
