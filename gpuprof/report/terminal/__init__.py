"""Lines of text with styles: how a page may look, columns that fit, bars, the header, and where the lines go.

The sweep's table is drawn with it, too.
"""
