"""PTX text to a tree: tokens, declarations, statements, expressions, `.loc` lines."""
