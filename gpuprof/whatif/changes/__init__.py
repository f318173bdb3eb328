"""The kinds of changes, in one table (kinds), and how each is made: on a chip, a program, or a trace."""
