"""How far the timing model can be trusted: its figures, measured by the project's microbenchmarks, compared with
published ones; and what is not modelled.
"""
