"""What expressions say.

types        C types and values: how they are shown
grammar      the text of an expression -> its tree
arithmetic   what C's operators do to two values
evaluation   a tree, worked out for one thread
remembered   values that were shown or named
"""
