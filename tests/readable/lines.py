"""The slow readable twin of lines (gpuprof/graphics/stages/outlines): the diamond rule as it is written."""

from fractions import Fraction


def slow_line(start, end, width, height):
    """Pixels (x, y) whose diamonds |x| + |y| < 1/2 the line leaves; ends in pixels."""
    (ax, ay), (bx, by) = (tuple(map(Fraction, place)) for place in (start, end))
    found = set()
    for y in range(max(0, int(min(ay, by)) - 1), min(height, int(max(ay, by)) + 2)):
        for x in range(max(0, int(min(ax, bx)) - 1), min(width, int(max(ax, bx)) + 2)):
            middle = (x + Fraction(1, 2), y + Fraction(1, 2))
            if not in_diamond(bx, by, middle) and passes(ax, ay, bx, by, middle):
                found.add((x, y))
    return found


def in_diamond(x, y, middle):
    return abs(x - middle[0]) + abs(y - middle[1]) < Fraction(1, 2)


def passes(ax, ay, bx, by, middle):
    """Whether some of the line lies in the diamond: what is left of it behind each of its four sides."""
    first, last = Fraction(0), Fraction(1)
    for sx, sy in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
        start, end = (Fraction(1, 2) - sx * (x - middle[0]) - sy * (y - middle[1]) for x, y in ((ax, ay), (bx, by)))
        if start <= 0 and end <= 0:
            return False
        if start < 0:
            first = max(first, start / (start - end))
        elif end < 0:
            last = min(last, start / (start - end))
    return first < last
