"""The tables of a page's data: each is declared in the file that fills it."""
