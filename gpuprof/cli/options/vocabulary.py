"""The flag that says whose words stalls are told in."""

import click

VOCABULARY = click.Choice(["ncu", "cupti", "intel", "amd"])  # those of isa.vocabularies
