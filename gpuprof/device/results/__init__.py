"""The results of launches: the arrays compared or saved, when that happens, and the findings of comparisons."""
