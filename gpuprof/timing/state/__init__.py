"""The machine as tables of numbers: their layout, how they are filled at power-on and for each launch, the results that
are read from them at the end.
"""
