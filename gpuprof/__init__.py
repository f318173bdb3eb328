"""gpuprof profiles GPU kernels on a machine that has no GPU."""


def __getattr__(name: str):
    """`Device`, `Recording`, `TensorMap`, `Im2col` and `__version__`, looked up when they are first used: importing
    gpuprof stays quick.
    """
    if name == "Device":
        from gpuprof.run.script import device_of_script

        return device_of_script
    if name == "Recording":
        from gpuprof.report.html.recording import Recording

        return Recording
    if name in ("TensorMap", "Im2col"):
        from gpuprof.device import tensormap

        return getattr(tensormap, name)
    if name == "__version__":
        from gpuprof.base.wording import installed_version

        return installed_version()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
