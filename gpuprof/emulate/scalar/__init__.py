"""Operations on each lane's own values: integers, bits, floats of all widths, conversions, video."""
