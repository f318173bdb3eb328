"""Expressions and values.

c_types        C types and values, and their text
grammar        the text of an expression -> its tree
arithmetic     C's operators on two values
evaluation     the value of a tree for one thread
value_history  values that were shown or named
"""
