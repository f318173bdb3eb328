"""The flag that says whose words stalls are told in."""

from gpuprof.cli.options.near_choice import NearChoice

VOCABULARY = NearChoice(["ncu", "cupti", "intel", "amd"])  # those of isa.vocabularies
