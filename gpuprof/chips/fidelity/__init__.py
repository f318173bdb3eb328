"""How far the timing model can be trusted: its figures beside published ones, as measured by the project's
microbenchmarks; and what is not modelled.
"""
