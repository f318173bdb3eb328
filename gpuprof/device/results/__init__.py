"""The results of launches: which arrays are compared or saved when, and what a comparison finds."""
