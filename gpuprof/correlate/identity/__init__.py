"""Names by which launches, instructions and origins of numbers are known again in another profile."""
