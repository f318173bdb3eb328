"""Shaders are compiled and assembled once: hundreds of draws are of the same few files."""

from collections.abc import Iterator
from functools import cache

import pytest

from gpuprof.run import session

BUILT = cache(session.build)


@pytest.fixture(scope="module", autouse=True)
def built_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "build", BUILT)
        yield
