"""The slow readable twin of a draw's fixed-function stages (gpuprof/graphics/stages): one sample after the other,
integer edges, Python numbers. It knows no tiles, no pieces and no hierarchy of depths.
"""

from dataclasses import dataclass, field

import numpy as np

from gpuprof.device.graphics_state.draw_state import DepthBias, DrawState, StencilSide

SAMPLES = {1: [(0, 0)], 4: [(-32, -96), (96, -32), (-96, 32), (32, 96)]}  # in 1/256 pixel from the middle
GUARD_BAND = 65536
COMPARES = {
    "never": lambda a, b: False,
    "less": lambda a, b: a < b,
    "equal": lambda a, b: a == b,
    "lequal": lambda a, b: a <= b,
    "greater": lambda a, b: a > b,
    "notequal": lambda a, b: a != b,
    "gequal": lambda a, b: a >= b,
    "always": lambda a, b: True,
}
STENCIL = {
    "keep": lambda value, reference: value,
    "zero": lambda value, reference: 0,
    "replace": lambda value, reference: reference,
    "increment": lambda value, reference: min(value + 1, 255),
    "decrement": lambda value, reference: max(value - 1, 0),
    "invert": lambda value, reference: 255 - value,
    "increment_wrap": lambda value, reference: (value + 1) % 256,
    "decrement_wrap": lambda value, reference: (value - 1) % 256,
}
FACTORS = {
    "zero": lambda s, t, c: np.zeros(4),
    "one": lambda s, t, c: np.ones(4),
    "source_color": lambda s, t, c: s,
    "one_minus_source_color": lambda s, t, c: 1 - s,
    "target_color": lambda s, t, c: t,
    "one_minus_target_color": lambda s, t, c: 1 - t,
    "source_alpha": lambda s, t, c: s[3] * np.ones(4),
    "one_minus_source_alpha": lambda s, t, c: (1 - s[3]) * np.ones(4),
    "target_alpha": lambda s, t, c: t[3] * np.ones(4),
    "one_minus_target_alpha": lambda s, t, c: (1 - t[3]) * np.ones(4),
    "constant_color": lambda s, t, c: c,
    "one_minus_constant_color": lambda s, t, c: 1 - c,
    "constant_alpha": lambda s, t, c: c[3] * np.ones(4),
    "one_minus_constant_alpha": lambda s, t, c: (1 - c[3]) * np.ones(4),
    "source_alpha_saturate": lambda s, t, c: np.append(np.full(3, min(s[3], 1 - t[3])), 1),
}
OPERATIONS = {
    "add": lambda s, t, f, g: s * f + t * g,
    "subtract": lambda s, t, f, g: s * f - t * g,
    "reverse_subtract": lambda s, t, f, g: t * g - s * f,
    "min": lambda s, t, f, g: np.minimum(s, t),
    "max": lambda s, t, f, g: np.maximum(s, t),
}
# Members of graphics.counts.DrawCounts.
COUNTS = (
    *("rejected", "clipped", "culled", "without_area", "scanned", "covered", "tested", "passed"),
    *("quads", "helpers", "hidden_quads", "discarded", "written"),
)


def slow_batches(triangles):
    """Batches as lists of vertices, and each triangle's (batch, place of each corner in it)."""
    batches, corners, n_triangles = [[]], [], 0
    for triangle in triangles:
        new = list(dict.fromkeys(v for v in triangle if v not in batches[-1]))
        if len(batches[-1]) + len(new) > 32 or n_triangles == 32:
            batches.append([])
            new, n_triangles = list(dict.fromkeys(triangle)), 0
        batches[-1] += new
        n_triangles += 1
        corners.append((len(batches) - 1, [batches[-1].index(v) for v in triangle]))
    return batches, corners


@dataclass
class SlowFrame:
    """Targets as (height, width, samples) arrays, the color's with 4 channels more, of floats: what an 8-bit target
    holds is a multiple of 1/255.
    """

    width: int
    height: int
    samples: int
    format: str = "rgba32f"
    counts: dict = field(default_factory=dict)

    def __post_init__(self):
        shape = (self.height, self.width, self.samples)
        self.color, self.depth = np.zeros((*shape, 4)), np.ones(shape, np.float32)
        self.stencil = np.zeros(shape, np.int64)

    def kept(self, color):
        if self.format == "rgba8":
            return np.floor(np.clip(color, 0, 1) * 255 + 0.5) / 255
        return color.astype(np.float16 if self.format == "rgba16f" else np.float32).astype(np.float64)

    def draw(self, positions, varyings, triangles, state: DrawState, *, is_late=False, discards=lambda x, y: False):
        """positions: (n, 4); varyings: (n, words), of which the first four are the color."""
        count = dict.fromkeys(COUNTS, 0)
        for triangle in triangles:
            corners = [(np.float64(positions[v]), np.float64(varyings[v])) for v in triangle]
            for piece in self._pieces(corners, state, count):
                self._triangle(piece, state, count, is_late, discards)
        self.counts = count

    def _pieces(self, corners, state, count):
        """The triangle cut by near and far plane and the guard band, as triangles."""
        place = state.viewport
        band_x = (GUARD_BAND - abs(place.x + place.width / 2)) / (place.width / 2)
        band_y = (GUARD_BAND - abs(place.y + place.height / 2)) / (place.height / 2)
        view = [(1, 0, 0, 1), (-1, 0, 0, 1), (0, 1, 0, 1), (0, -1, 0, 1)]
        cutting = [(0, 0, 0, 1)] * 2 if state.depth_clamp else [(0, 0, 1, 0), (0, 0, -1, 1)]
        cutting += [(1, 0, 0, band_x), (-1, 0, 0, band_x), (0, 1, 0, band_y), (0, -1, 0, band_y)]
        if not all(np.isfinite(p).all() for p, _ in corners):
            count["rejected"] += 1
            return
        if any(all(p @ plane < 0 for p, _ in corners) for plane in view + cutting[:2]):
            count["rejected"] += 1
            return
        if any(p @ plane < 0 for p, _ in corners for plane in cutting):
            count["clipped"] += 1
        for plane in cutting:
            following = corners[1:] + corners[:1]
            corners_before, corners = list(zip(corners, following, strict=True)), []
            for (p, a), (q, b) in corners_before:
                inside, goes_in = p @ plane >= 0, q @ plane >= 0
                if inside:
                    corners.append((p, a))
                if inside != goes_in:
                    if not inside:
                        p, a, q, b = q, b, p, a
                    t = p @ plane / (p @ plane - q @ plane)
                    corners.append((np.float64(np.float32(p + t * (q - p))), a + t * (b - a)))
        for k in range(1, len(corners) - 1):
            yield corners[0], corners[k], corners[k + 1]

    def _triangle(self, corners, state, count, is_late, discards):
        placed = [self._placed(p, state.viewport) for p, _ in corners]
        values = [a for _, a in corners]
        (ax, ay, *_), (bx, by, *_), (cx, cy, *_) = placed
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        if area == 0:
            count["without_area"] += 1
            return
        is_front = (area > 0) == (state.front == "cw")  # rows go downwards
        if state.cull == ("front" if is_front else "back"):
            count["culled"] += 1
            return
        count["scanned"] += 1
        if area < 0:
            placed, values, area = [placed[k] for k in (0, 2, 1)], [values[k] for k in (0, 2, 1)], -area
        added = self._bias(placed, area, state.depth_bias)
        placed = [(x, y, z + added, w) for x, y, z, w in placed]
        for y in range(0, self.height, 2):
            for x in range(0, self.width, 2):
                self._quad(x, y, placed, values, area, is_front, state, count, is_late, discards)

    def _quad(self, x, y, placed, values, area, is_front, state, count, is_late, discards):
        pixels = [(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)]
        covered = [(px, py, s) for px, py in pixels for s in self._covered(px, py, placed, state.scissor)]
        covered = [each for each in covered if state.sample_mask >> each[2] & 1]
        count["covered"] += len(covered)
        has_tests = state.depth.compare != "always" or state.depth.write
        has_tests = has_tests or [state.front_stencil, state.back_stencil] != [StencilSide()] * 2

        def passes(px, py, s):
            dx, dy = SAMPLES[self.samples][s]
            weights = [each / area for each in self._edges(placed, px * 256 + dx, py * 256 + dy)]
            z = np.float32(placed[0][2] + sum(w * (p[2] - placed[0][2]) for w, p in zip(weights, placed, strict=True)))
            count["tested"] += has_tests
            passed = self._tested(px, py, s, self._limited(z, state), is_front, state)
            count["passed"] += passed
            return passed

        left = covered if is_late else [each for each in covered if passes(*each)]
        if not left:
            count["hidden_quads"] += bool(covered)
            return
        count["quads"] += 1
        count["helpers"] += 4 - len({(px, py) for px, py, _ in left})
        gone = {(px, py) for px, py, _ in left if discards(px, py)}
        count["discarded"] += len(gone)
        left = [each for each in left if each[:2] not in gone]
        for px, py, s in [each for each in left if passes(*each)] if is_late else left:
            weights = [each * p[3] for each, p in zip(self._edges(placed, px * 256, py * 256), placed, strict=True)]
            color = sum(w * v for w, v in zip(weights, values, strict=True))[:4] / sum(weights)
            self.color[py, px, s] = self._blended(color, self.color[py, px, s], state)
            count["written"] += 1

    @staticmethod
    def _placed(position, viewport):
        """x and y in 1/256 pixel from the middle of pixel (0, 0), depth, 1 / w."""
        f = np.float32
        inverse = f(1) / f(position[3])
        ndc = [float(f(f(each) * inverse)) for each in position[:3]]
        x = f(ndc[0] * (viewport.width / 2) + viewport.x + viewport.width / 2)
        y = f(-ndc[1] * (viewport.height / 2) + viewport.y + viewport.height / 2)
        z = f(ndc[2] * (viewport.far - viewport.near) + viewport.near)
        return round(float((x - f(0.5)) * f(256))), round(float((y - f(0.5)) * f(256))), float(z), float(inverse)

    @staticmethod
    def _edges(placed, x, y):
        """Twice the areas between a place and the edges across from each corner."""
        found = []
        for k in range(3):
            (ax, ay, *_), (bx, by, *_) = placed[(k + 1) % 3], placed[(k + 2) % 3]
            found.append((bx - ax) * (y - ay) - (by - ay) * (x - ax))
        return found

    @staticmethod
    def _bias(placed, area, bias):
        """The plane through the corners, in pixels; the last place of the largest depth's float."""
        (ax, ay, az, _), (bx, by, bz, _), (cx, cy, cz, _) = placed
        right = ((bz - az) * (cy - ay) - (cz - az) * (by - ay)) / area * 256
        down = ((cz - az) * (bx - ax) - (bz - az) * (cx - ax)) / area * 256
        largest = np.float32(max(abs(az), abs(bz), abs(cz)))
        step = 2.0 ** (np.floor(np.log2(float(largest))) - 23) if largest else 0
        found = bias.constant * step + bias.slope * max(abs(right), abs(down))
        return {1: min, -1: max, 0: lambda a, b: a}[np.sign(bias.limit)](found, bias.limit)

    @staticmethod
    def _limited(z, state):
        near, far = sorted((state.viewport.near, state.viewport.far))
        if state.depth_clamp:
            return np.float32(np.clip(z, near, far))
        return np.float32(np.clip(z, 0, 1)) if state.depth_bias != DepthBias() else z

    def _covered(self, px, py, placed, scissor):
        if (
            px >= self.width
            or py >= self.height
            or not (scissor.x <= px < scissor.x + scissor.width and scissor.y <= py < scissor.y + scissor.height)
        ):
            return
        for s, (dx, dy) in enumerate(SAMPLES[self.samples]):
            values = self._edges(placed, px * 256 + dx, py * 256 + dy)
            inside = True
            for k, value in enumerate(values):
                (ax, ay, *_), (bx, by, *_) = placed[(k + 1) % 3], placed[(k + 2) % 3]
                is_left, is_top = by < ay, by == ay and bx > ax
                inside &= value > 0 or (value == 0 and (is_left or is_top))
            if inside:
                yield s

    def _tested(self, px, py, s, z, is_front, state):
        side = state.front_stencil if is_front else state.back_stencil
        held = int(self.stencil[py, px, s])

        def become(operation):
            new = STENCIL[operation](held, side.reference)
            self.stencil[py, px, s] = held & (255 - side.write_mask) | new & side.write_mask

        if not COMPARES[side.compare](side.reference & side.read_mask, held & side.read_mask):
            become(side.fail)
            return False
        if not COMPARES[state.depth.compare](z, self.depth[py, px, s]):
            become(side.depth_fail)
            return False
        become(side.passes)
        if state.depth.write:
            self.depth[py, px, s] = z
        return True

    def _blended(self, color, held, state):
        source = np.clip(color, 0, 1) if self.format == "rgba8" else color
        new = np.array(source)
        if blend := state.blend:
            constant = np.array(blend.constant)
            constant = np.clip(constant, 0, 1) if self.format == "rgba8" else constant
            values = (source, held, constant)
            f, g = FACTORS[blend.source_color](*values), FACTORS[blend.target_color](*values)
            new[:3] = OPERATIONS[blend.color_operation](source, held, f, g)[:3]
            f, g = FACTORS[blend.source_alpha](*values), FACTORS[blend.target_alpha](*values)
            new[3] = OPERATIONS[blend.alpha_operation](source, held, f, g)[3]
        written = [bool(state.color_mask >> channel & 1) for channel in range(4)]
        return np.where(written, self.kept(new), held)

    def pixels(self):
        """(height, width, 4): the means of the samples."""
        return self.kept(self.color.mean(2))
