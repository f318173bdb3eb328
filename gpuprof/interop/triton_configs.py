"""The Config that a run asks for, in place of what a script launches a kernel with or lets Triton tune."""

from typing import Any, NamedTuple

from triton.runtime.autotuner import Autotuner, Config

from gpuprof.run.triton_config import COMPILER_SETTINGS, AskedConfig, config_text


class Launched(NamedTuple):
    """The arguments of a launch: by position, and by name."""

    arguments: tuple[Any, ...]
    options: dict[str, Any]


def tuner_of(kernel: Any) -> Autotuner | None:
    """The tuner among a kernel's decorators."""
    while kernel is not None and not isinstance(kernel, Autotuner):
        kernel = getattr(kernel, "fn", None)
    return kernel


def texts_of(tuner: Autotuner) -> tuple[str, ...]:
    """The Configs of a kernel's own list."""
    return tuple(config_text(each.kwargs, _settings_of(each)) for each in tuner.configs)


def _settings_of(config: Config) -> dict[str, Any]:
    return {name: getattr(config, name) for name in COMPILER_SETTINGS}


def with_config(kernel: Any, asked: AskedConfig, launched: Launched) -> Launched:
    """The launch with the Config. A kernel that Triton tunes takes it if it has the meta-parameters of its list, any
    other if all its meta-parameters are the kernel's.
    """
    tuner = tuner_of(kernel)
    if tuner is not None:
        config = _of_tuner(tuner, asked)
        if config is not None:
            tuner.configs, asked.is_used = [config], True
        return launched
    if not asked.meta.keys() <= set(kernel.arg_names):
        return launched
    asked.is_used = True
    names = kernel.arg_names[: len(launched.arguments)]
    arguments = [asked.meta.get(name, value) for name, value in zip(names, launched.arguments, strict=False)]
    rest = {name: value for name, value in asked.values.items() if name not in names}
    return Launched((*arguments, *launched.arguments[len(names) :]), launched.options | rest)


def _of_tuner(tuner: Autotuner, asked: AskedConfig) -> Config | None:
    """The one of the kernel's own list that the text means, with its hooks; else one of the same meta-parameters."""
    settings = COMPILER_SETTINGS | asked.compiler_settings
    for own, text in zip(tuner.configs, texts_of(tuner), strict=True):
        if text == asked.text or (own.kwargs == asked.meta and _settings_of(own) == settings):
            return own
    if not all(own.kwargs.keys() == asked.meta.keys() for own in tuner.configs):
        return None
    return Config(asked.meta, **settings)
