"""The machine as tables of numbers: their layout, how they are filled at power-on and for each launch, what is read off
them at the end.
"""
