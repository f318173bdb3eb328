"""The block models, one a file. Each is given a `Work` and returns cycles of one instance of its unit, a warp's share
of them, for each chip. Nothing in them is fitted: docs/prediction.md says what each does and where it comes from.
"""
