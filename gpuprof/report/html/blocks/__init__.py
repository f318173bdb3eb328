"""The tables of a page's data: each is declared beside what fills it."""
