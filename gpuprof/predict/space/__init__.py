"""The design space: its points, its Pareto front, the sensitivity of the score, and the limiting unit of each point."""
