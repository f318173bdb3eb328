"""The block models, by hardware unit. Each is given a `Work` and returns cycles of one instance of its unit, per warp,
for each chip. Nothing in them is fitted: docs/prediction.md describes each and its source.
"""
