"""Writers of CSV and JSON. They know nothing of pages, which use them."""
