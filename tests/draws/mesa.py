"""The same draws through OpenGL on Mesa's llvmpipe, without a screen. `make mesa` installs what it needs."""

import ctypes
import os
from functools import cache

import numpy as np

from gpuprof.device.graphics_state.draw_state import COMPARES, STENCIL_OPERATIONS
from tests.support.tools import lacking, module

VERTEX = """
#version 450
in vec4 position; in vec4 color; in vec2 uv;
out vec4 tint; out vec2 at;
void main() { gl_Position = vec4(position.x, -position.y, position.zw); tint = color; at = uv; }
"""
PIXEL = """
#version 450
in vec4 tint; in vec2 at;
out vec4 color;
void main() { color = tint; }
"""
ZERO_TO_ONE, LOWER_LEFT, STENCIL_TEST, FRONT, BACK = 0x935F, 0x8CA1, 0x0B90, 0x0404, 0x0405
GL_NEVER = 0x0200  # and the others behind it, in the order of COMPARES
GL_OPERATIONS = (0x1E00, 0, 0x1E01, 0x1E02, 0x1E03, 0x150A, 0x8507, 0x8508)  # in the order of STENCIL_OPERATIONS
PRIMITIVES_SUBMITTED, CLIPPING_INPUT, CLIPPING_OUTPUT, VERTICES_SUBMITTED = 0x82EF, 0x82F6, 0x82F7, 0x82EE
RENDERBUFFER, FRAMEBUFFER, DEPTH24_STENCIL8, DEPTH_STENCIL_ATTACHMENT = 0x8D41, 0x8D40, 0x88F0, 0x821A
STENCIL_INDEX, UNSIGNED_BYTE, PACK_ALIGNMENT = 0x1901, 0x1401, 0x0D05
TEXTURE_2D, DEPTH_COMPONENT32F, DEPTH_ATTACHMENT = 0x0DE1, 0x8CAC, 0x8D00
SAMPLES_PASSED, QUERY_RESULT = 0x8914, 0x8866


@cache
def context():
    """A context of llvmpipe; skips the test where there is none."""
    moderngl = module("moderngl", "mesa")
    os.environ.setdefault("EGL_PLATFORM", "surfaceless")
    os.environ["GALLIVM_PERF"] = "no_aos_sampling"  # filtering in integers has 256 steps
    try:
        made = moderngl.create_standalone_context(backend="egl")
    except Exception as error:  # whatever the drivers raise, there is no oracle then
        lacking("Mesa", "mesa", f"cannot be opened: {error}")
    if "llvmpipe" not in made.info["GL_RENDERER"]:
        lacking("Mesa", "mesa", f"is not the OpenGL here, but {made.info['GL_RENDERER']}")
    function("glClipControl", ctypes.c_uint, ctypes.c_uint)(LOWER_LEFT, ZERO_TO_ONE)
    return made


def function(name: str, *types, result=None):
    """An OpenGL function that moderngl has no name for."""
    egl = ctypes.CDLL("libEGL.so.1")
    egl.eglGetProcAddress.restype = ctypes.c_void_p
    return ctypes.CFUNCTYPE(result, *types)(egl.eglGetProcAddress(name.encode()))


class Canvas:
    """Color and depth targets, and draws into them. Rows come upper first, as ours do."""

    def __init__(self, width: int, height: int, dtype: str | None = "f1", samples: int = 1, stencil: bool = False):
        """Without colors where dtype is None. `color` and `depth` are textures, unless a pixel has several samples."""
        self.gl, self.width, self.height, self.dtype, self.samples = context(), width, height, dtype, samples
        extents, count = (width, height), samples if samples > 1 else 0
        self.color = self.gl.texture(extents, 4, samples=count, dtype=dtype) if dtype else None
        self.depth = self.gl.depth_texture(extents, samples=count)
        self.target = self.gl.framebuffer([self.color] if dtype else [], self.depth)
        if stencil:
            self._attach_stencil()

    def _attach_stencil(self):
        """One buffer for both, in place of the depth alone."""
        word, name = ctypes.c_uint, ctypes.c_uint()
        function("glGenRenderbuffers", ctypes.c_int, ctypes.c_void_p)(1, ctypes.byref(name))
        function("glBindRenderbuffer", word, word)(RENDERBUFFER, name)
        storage = function("glRenderbufferStorage", word, word, ctypes.c_int, ctypes.c_int)
        storage(RENDERBUFFER, DEPTH24_STENCIL8, self.width, self.height)
        function("glBindFramebuffer", word, word)(FRAMEBUFFER, self.target.glo)
        attach = function("glFramebufferRenderbuffer", word, word, word, word)
        attach(FRAMEBUFFER, DEPTH_STENCIL_ATTACHMENT, RENDERBUFFER, name)

    def use_float_depth(self):
        """In place of one of 24 bits."""
        word, name = ctypes.c_uint, ctypes.c_uint()
        function("glGenTextures", ctypes.c_int, ctypes.c_void_p)(1, ctypes.byref(name))
        function("glBindTexture", word, word)(TEXTURE_2D, name)
        storage = function("glTexStorage2D", word, ctypes.c_int, word, ctypes.c_int, ctypes.c_int)
        storage(TEXTURE_2D, 1, DEPTH_COMPONENT32F, self.width, self.height)
        function("glBindFramebuffer", word, word)(FRAMEBUFFER, self.target.glo)
        attach = function("glFramebufferTexture", word, word, word, ctypes.c_int)
        attach(FRAMEBUFFER, DEPTH_ATTACHMENT, name, 0)

    def clear(self, color=(0, 0, 0, 0), depth=1.0):
        self.gl.scissor = None
        self.target.use()
        self.target.clear(*color, depth=depth)

    def draw(self, vertices, indices=None, *, vertex=VERTEX, pixel=PIXEL, geometry=None, uniforms=None, compare=None,  # noqa: PLR0913  # keywords of a pipeline's states
             write=True, cull="none", blend=None, scissor=None, topology="triangles", textures=(), queries=(),
             patch=None):  # fmt: skip
        """vertices: float32 (n, 10): position, color, uv. uniforms: by name. patch: its vertices, two shaders, and
        levels for the first. Gives the results of queries, by their numbers.
        """
        gl = self.gl
        points, hull, domain, levels = patch or (1, None, None, ())
        program = gl.program(vertex_shader=vertex, tess_control_shader=hull, tess_evaluation_shader=domain,
                             geometry_shader=geometry, fragment_shader=pixel)  # fmt: skip
        gl.patch_vertices = points
        for name, value in (uniforms or {}).items():
            if isinstance(value, np.ndarray):
                program[name].write(np.ascontiguousarray(value.T, np.float32).tobytes())
            else:
                program[name].value = value
        if patch:
            program["levels"].value = tuple(float(level) for level in levels)
        data = np.ascontiguousarray(vertices, np.float32)
        names = [name for name in ("position", "color", "uv") if name in program]
        sizes = {"position": "4f", "color": "4f", "uv": "2f"}
        layout = " ".join(sizes[n] if n in names else sizes[n].replace("f", "x4") for n in sizes)
        buffer = gl.buffer(data.tobytes())
        elements = gl.buffer(np.ascontiguousarray(indices, np.uint32).tobytes()) if indices is not None else None
        array = gl.vertex_array(program, [(buffer, layout, *names)], elements)
        self.target.use()
        self.target.scissor = (
            (scissor.x, scissor.y, scissor.width, scissor.height) if scissor else None
        )  # rows are turned, so is the scissor
        gl.disable(gl.DEPTH_TEST | gl.CULL_FACE | gl.BLEND)
        gl.front_face = "cw"  # rows are turned
        if compare:
            gl.enable(gl.DEPTH_TEST)
            gl.depth_func = {"less": "<", "lequal": "<=", "greater": ">", "gequal": ">=", "equal": "==",
                             "notequal": "!=", "always": "1", "never": "0"}[compare]  # fmt: skip
        self.target.depth_mask = write
        if cull != "none":
            gl.enable(gl.CULL_FACE)
            gl.cull_face = cull
        if blend:
            gl.enable(gl.BLEND)
            gl.blend_func, gl.blend_equation = blend
        for number, texture in enumerate(textures):
            texture.use(number)
        with Queries(queries) as found:
            array.render(getattr(gl, topology.upper()))
        return found.results

    def pixels(self):
        """(height, width, 4), resolved."""
        dtype = {"f1": np.uint8, "f2": np.float16, "f4": np.float32}[self.dtype]
        source = self.target
        if self.samples > 1:
            source = self.gl.framebuffer([self.gl.renderbuffer((self.width, self.height), 4, dtype=self.dtype)])
            self.gl.copy_framebuffer(source, self.target)
        raw = source.read(components=4, dtype=self.dtype, alignment=1)
        return np.frombuffer(raw, dtype).reshape(self.height, self.width, 4)

    def depths(self):
        raw = self.target.read(components=1, attachment=-1, dtype="f4", alignment=1)
        return np.frombuffer(raw, np.float32).reshape(self.height, self.width)

    def stencils(self):
        self.target.use()
        found = np.zeros((self.height, self.width), np.uint8)
        numbers = [ctypes.c_int] * 4 + [ctypes.c_uint] * 2
        function("glPixelStorei", ctypes.c_uint, ctypes.c_int)(PACK_ALIGNMENT, 1)
        read = function("glReadPixels", *numbers, ctypes.c_void_p)
        read(0, 0, self.width, self.height, STENCIL_INDEX, UNSIGNED_BYTE, found.ctypes.data)
        return found


class Queries:
    """What OpenGL counts meanwhile, by the numbers of the queries."""

    def __init__(self, kinds):
        self.kinds, self.results = kinds, {}

    def __enter__(self):
        context()
        self.names = (ctypes.c_uint * max(len(self.kinds), 1))()
        if self.kinds:
            function("glGenQueries", ctypes.c_int, ctypes.c_void_p)(len(self.kinds), self.names)
        for kind, name in zip(self.kinds, self.names, strict=False):
            function("glBeginQuery", ctypes.c_uint, ctypes.c_uint)(kind, name)
        return self

    def __exit__(self, *_):
        for kind, name in zip(self.kinds, self.names, strict=False):
            function("glEndQuery", ctypes.c_uint)(kind)
            value = ctypes.c_uint64()
            read = function("glGetQueryObjectui64v", ctypes.c_uint, ctypes.c_uint, ctypes.c_void_p)
            read(name, QUERY_RESULT, ctypes.byref(value))
            self.results[kind] = value.value


def set_stencil(front, back) -> None:
    """The stencil test of both sides, from now on; none for None."""
    function("glEnable" if front else "glDisable", ctypes.c_uint)(STENCIL_TEST)
    for face, side in ((FRONT, front), (BACK, back)):
        if side:
            _set_side(face, side)


def _set_side(face: int, side) -> None:
    word = ctypes.c_uint
    compare = GL_NEVER + COMPARES.index(side.compare)
    function("glStencilFuncSeparate", word, word, ctypes.c_int, word)(face, compare, side.reference, side.read_mask)
    operations = [GL_OPERATIONS[STENCIL_OPERATIONS.index(each)] for each in (side.fail, side.depth_fail, side.passes)]
    function("glStencilOpSeparate", word, word, word, word)(face, *operations)
    function("glStencilMaskSeparate", word, word)(face, side.write_mask)


if __name__ == "__main__":
    print(context().info["GL_RENDERER"])
