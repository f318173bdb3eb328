"""A frame: targets in device memory, and what is drawn into them.

frame = Frame(gpu, 640, 480)
frame.clear((0, 0, 0, 1))
with frame.commands("picture"):
    counts = frame.draw(pipeline, vertices, indices, vertex=(camera,), pixel=(picture,))
frame.save("out.png")
"""

from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from gpuprof.base.files import replacing
from gpuprof.base.outputs import Kind, check_output
from gpuprof.device import commands as cmd
from gpuprof.device.api import Device, Kernel, integer
from gpuprof.device.array import DeviceArray, host_array
from gpuprof.device.graphics_state.draw_state import (
    INDIRECT,
    INDIRECT_INDEXED,
    STAGES,
    Buffers,
    DrawState,
    Scissor,
    Targets,
    Viewport,
)
from gpuprof.device.host_arguments import host_arguments
from gpuprof.device.launching.bind import parameter_block
from gpuprof.device.tasks import Task
from gpuprof.errors import UsageError
from gpuprof.graphics.argument_checks import of_kind, real, sequence_of
from gpuprof.graphics.draw_checks import check_buffers, check_extents, check_viewport
from gpuprof.graphics.draw_counts import DrawCounts
from gpuprof.graphics.pipeline import Pipeline, ShaderFacts
from gpuprof.graphics.png import SIGNATURE, write_png

PICTURE = Kind("PNG file", ((0, SIGNATURE),), forced_by="force=True")
DTYPES = {"rgba8": np.uint8, "rgba16f": np.float16, "rgba32f": np.float32}
RECORD_DTYPES = (np.dtype(np.uint32), np.dtype(np.int32))
INDEX_DTYPES = (np.dtype(np.uint16), np.dtype(np.uint32))


class Frame:
    """Color targets of `formats`, and targets of depth (float32) and stencil (uint8) where they are wanted; all of one
    extent, with 1 or 4 samples a pixel.

    `colors`, `depth`, `stencil`: the targets as device arrays, (height, width[, samples][, 4]), the upper row first.
    """

    def __init__(
        self,
        gpu: Device,
        width: int,
        height: int,
        *,
        formats: Sequence[str] = ("rgba8",),
        depth: bool = True,
        stencil: bool = False,
        samples: int = 1,
    ):
        width, height = integer(width, "a frame's width"), integer(height, "a frame's height")
        samples, formats = integer(samples, "a pixel's number of samples"), sequence_of(formats, "a frame's formats")
        check_extents(width, height, samples, formats, bool(depth), bool(stencil))
        self.gpu, self.width, self.height, self.samples, self.formats = gpu, width, height, samples, formats
        shape = (height, width, samples) if samples > 1 else (height, width)
        self.colors = tuple(
            gpu.device_array((*shape, 4), DTYPES[format], name=f"color target {number}")
            for number, format in enumerate(self.formats)
        )
        self.depth = gpu.device_array(shape, np.float32, name="depth target") if depth else None
        self.stencil = gpu.device_array(shape, np.uint8, name="stencil target") if stencil else None
        self._resolved: dict[int, DeviceArray] = {}

    def clear(self, color: Sequence[float] = (0, 0, 0, 0), depth: float = 1.0, stencil: int = 0) -> None:
        """Every sample of every target. Raises UsageError for a value that is no color of four channels or no byte."""
        channels = tuple(color) if isinstance(color, Sequence | np.ndarray) else ()
        if len(channels) != 4 or not all(isinstance(channel, Real) for channel in channels):
            raise UsageError(f"a color has four channels, which {color!r} has not")
        components = np.array([real(channel, "a color's channel") for channel in channels], np.float32)
        depth = real(depth, "a depth target's value")
        if not 0 <= integer(stencil, "a stencil target's value") <= 0xFF:
            raise UsageError(f"a stencil target's value is 0 to 255, not {stencil}")
        for target in self.colors:
            value = _bytes_of(components) if target.dtype == np.uint8 else components
            self.gpu.submit(cmd.Fill(target.address, target.nbytes, value.astype(target.dtype).tobytes()))
        if self.depth is not None:
            self.depth.fill(depth)
        if self.stencil is not None:
            self.stencil.fill(stencil)

    @contextmanager
    def commands(self, name: str) -> Generator[Task]:
        """`with frame.commands("shadows"):` makes the draws inside, those into other frames too, a command buffer.
        Command buffers do not nest.
        """
        with self.gpu.task(of_kind(name, str, "a command buffer's name"), is_command_buffer=True) as task:
            yield task

    def draw(  # noqa: PLR0913  # keywords of a pipeline's states
        self,
        pipeline: Pipeline,
        vertices: np.ndarray | DeviceArray,
        indices: np.ndarray | DeviceArray | None = None,
        *,
        vertex: Sequence[Any] = (),
        pixel: Sequence[Any] = (),
        geometry: Sequence[Any] = (),
        hull: Sequence[Any] = (),
        domain: Sequence[Any] = (),
        instances: int = 1,
        base_vertex: int = 0,
        first_instance: int = 0,
        indirect: DeviceArray | None = None,
        viewport: Viewport | None = None,
        scissor: Scissor | None = None,
        name: str = "",
    ) -> DrawCounts:
        """Draws `vertices`, structures of the vertex shader's type one after the other, in the order of `indices`
        (uint16 or uint32), to which `base_vertex` is added. Instances are counted from `first_instance` on. vertex,
        pixel, geometry, hull, domain: the shaders' arguments after their stage. Arrays of the host are copied in for
        this draw. indirect: a record of uint32 that says which vertices and instances are drawn, as it is when the draw
        is carried out: count, instances, first, first_instance; with indices count, instances, first, base_vertex,
        first_instance. Raises UsageError for arguments that do not fit, KernelFault for a fault of a shader.
        """
        pipeline, name = of_kind(pipeline, Pipeline, "a draw's pipeline"), of_kind(name, str, "a draw's name")
        instances = integer(instances, "a number of instances")
        base_vertex = integer(base_vertex, "a base vertex")
        first_instance = integer(first_instance, "a first instance")
        if indirect is not None and (instances, base_vertex, first_instance) != (1, 0, 0):
            raise UsageError("an indirect draw has its instances and its base vertex in its record")
        given = zip(STAGES, (vertex, hull, domain, geometry, pixel), strict=True)
        arguments = {stage: sequence_of(values, f"the arguments of a {stage} shader") for stage, values in given}
        with ExitStack() as temporary:
            buffers = self._buffers(pipeline.facts["vertex"], vertices, indices, temporary)
            record = _record(indirect, buffers.indices != 0) if indirect is not None else 0
            buffers = replace(
                buffers,
                instances=instances,
                base_vertex=base_vertex,
                first_instance=first_instance,
                indirect=record,
            )
            check_buffers(buffers)
            for stage, values in arguments.items():
                if values and stage not in pipeline.shaders:
                    raise UsageError(f"the pipeline has no {stage} shader, which would take arguments")
            shaders = tuple(
                self._shader(kernel, pipeline.facts[stage], arguments[stage], temporary)
                for stage, kernel in pipeline.shaders.items()
            )
            state = DrawState(
                pipeline.topology,
                pipeline.cull,
                pipeline.front,
                self._viewport(viewport),
                self._scissor(scissor),
                pipeline.depth,
                pipeline.stencil,
                pipeline.back_stencil,
                pipeline.all_targets.blend,
                pipeline.all_targets.color_mask,
                pipeline.tessellation,
                pipeline.point_size,
                pipeline.restarts,
                pipeline.line_width,
                pipeline.provoking,
                pipeline.depth_bias,
                pipeline.depth_clamp,
                pipeline.sample_mask,
                pipeline.alpha_to_coverage,
                pipeline.outputs,
            )
            title = name or " and ".join(shader.function.display for shader in shaders)
            return self.gpu.submit(cmd.Draw(shaders, buffers, state, self.targets, title))

    @property
    def targets(self) -> Targets:
        return Targets(
            self.width,
            self.height,
            self.samples,
            tuple(target.address for target in self.colors),
            self.formats,
            self.depth.address if self.depth is not None else 0,
            self.stencil.address if self.stencil is not None else 0,
        )

    def resolved(self, target: int = 0) -> DeviceArray:
        """A color target with one sample a pixel: itself, or the mean of its samples as they are now."""
        if not 0 <= integer(target, "a color target's number") < len(self.colors):
            raise UsageError(f"the frame has {len(self.colors)} color targets, and no number {target}")
        if self.samples == 1:
            return self.colors[target]
        if target not in self._resolved:
            shape = (self.height, self.width, 4)
            self._resolved[target] = self.gpu.device_array(
                shape, self.colors[target].dtype, name=f"color target {target}, resolved"
            )
        one = Targets(
            self.width, self.height, self.samples, (self.colors[target].address,), (self.formats[target],), 0, 0
        )
        self.gpu.submit(cmd.Resolve(one, self._resolved[target].address))
        return self._resolved[target]

    def pixels(self, target: int = 0) -> np.ndarray:
        """A color target on the host, (height, width, 4), resolved."""
        return self.resolved(target).copy_to_host()

    def save(self, path: Path | str, target: int = 0, *, force: bool = False) -> None:
        """Writes a color target as a PNG file, whole or not at all, over a picture that is there. Floats from 0 to 1
        become 0 to 255. Raises UsageError for another file that is there, unless `force`, and for a name that no file
        can have, GpuprofError where the system refuses.
        """
        path = Path(path) if isinstance(path, str) else of_kind(path, Path, "a picture's name")
        if "\0" in str(path):
            raise UsageError(f"{str(path)!r} is not a file name")
        check_output(path, PICTURE, force=force)
        pixels = self.pixels(target)
        if pixels.dtype != np.uint8:
            pixels = _bytes_of(pixels.astype(np.float32))
        with replacing(path) as partial:
            write_png(partial, pixels)

    def _buffers(
        self,
        facts: ShaderFacts,
        vertices: np.ndarray | DeviceArray,
        indices: np.ndarray | DeviceArray | None,
        temporary: ExitStack,
    ) -> Buffers:
        """The buffers of one instance."""
        vertices = vertices if isinstance(vertices, DeviceArray) else host_array(vertices)
        if vertices.nbytes % facts.in_nbytes:
            raise UsageError(
                f"the vertices have {vertices.nbytes} bytes, which is not a whole number of the vertex shader's "
                f"structures of {facts.in_nbytes} bytes (as CUDA aligns their members: a float2 to 8, a float4 to 16)"
            )
        n_vertices = vertices.nbytes // facts.in_nbytes
        vertices = self._on_device(vertices, temporary)
        if indices is None:
            return Buffers(vertices.address, n_vertices, 0, n_vertices, 4)
        indices = indices if isinstance(indices, DeviceArray) else host_array(indices)
        if indices.dtype not in INDEX_DTYPES:
            raise UsageError(f"indices are uint16 or uint32, not {indices.dtype}")
        indices = self._on_device(indices, temporary)
        return Buffers(vertices.address, n_vertices, indices.address, indices.size, indices.dtype.itemsize)

    def _on_device(self, array: np.ndarray | DeviceArray, temporary: ExitStack) -> DeviceArray:
        if isinstance(array, DeviceArray):
            return array
        copy = self.gpu.to_device(array)
        temporary.callback(copy.free)
        return copy

    def _shader(self, kernel: Kernel, facts: ShaderFacts, arguments: Sequence[Any], temporary: ExitStack) -> cmd.Shader:
        function = kernel.function
        stage = bytes(function.params[0].nbytes)
        given = temporary.enter_context(host_arguments(self.gpu.submit, function, (stage, *arguments)))
        return cmd.Shader(kernel.module, function, parameter_block(function, given.values), facts.interface)

    def _viewport(self, viewport: Viewport | None) -> Viewport:
        given = of_kind(viewport or Viewport(0, 0, self.width, self.height), Viewport, "viewport")
        names = ("x", "y", "width", "height", "near", "far")
        checked = Viewport(*[real(getattr(given, name), f"a viewport's {name}") for name in names])
        check_viewport(checked)  # a stream that is saved could not hold what is no number
        return checked

    def _scissor(self, scissor: Scissor | None) -> Scissor:
        """The part of a scissor that is in the targets."""
        if scissor is None:
            return Scissor(0, 0, self.width, self.height)
        of_kind(scissor, Scissor, "scissor")
        left, top, width, height = (
            integer(getattr(scissor, name), f"a scissor's {name}") for name in ("x", "y", "width", "height")
        )
        x, y = min(max(left, 0), self.width), min(max(top, 0), self.height)
        right, lower = min(left + width, self.width), min(top + height, self.height)
        return Scissor(x, y, max(right - x, 0), max(lower - y, 0))


def _record(indirect: DeviceArray, has_indices: bool) -> int:
    """The address of an indirect draw's record."""
    of_kind(indirect, DeviceArray, "an indirect draw's record")
    names = INDIRECT_INDEXED if has_indices else INDIRECT
    if indirect.dtype not in RECORD_DTYPES or indirect.size != len(names):
        raise UsageError(
            f"an indirect draw's record has {len(names)} numbers of uint32 ({', '.join(names)}), not {indirect}"
        )
    return indirect.address


def _bytes_of(colors: np.ndarray) -> np.ndarray:
    """Converts float32 to uint8: 0 to 1 become 0 to 255, and NaN becomes 0."""
    scaled: np.ndarray = np.clip(np.nan_to_num(colors, nan=0.0), 0, 1) * 255
    return np.floor(scaled + 0.5).astype(np.uint8)
