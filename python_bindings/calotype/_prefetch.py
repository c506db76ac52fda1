# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Device code that is being loaded before it is called."""

from collections.abc import Callable

from ._errors import RuntimeError
from ._typing import Any


class Prefetch:
    """What prefetch() of a pipeline gives: its device code is being loaded.

    A call that comes before all is loaded waits for it by itself.
    """

    def __init__(self, capsule: Any, await_: Callable[[Any, int], str | None], modules: int) -> None:
        self._capsule = capsule
        self._await = await_
        self.modules = modules
        """How many modules of device code the pipeline has; 0: nothing is loaded."""

    def wait(self, timeout: float | None = None) -> bool:
        """Whether all is loaded, after at most so many seconds. A RuntimeError if it cannot be."""
        left = timeout
        while True:
            now = 1.0 if left is None else min(max(left, 0.0), 1.0)
            problem = self._await(self._capsule, int(now * 1000))
            if problem:
                raise RuntimeError(problem)
            if problem is not None:
                return True
            if left is not None:
                left -= now
                if left <= 0:
                    return False

    def __repr__(self) -> str:
        state = "loaded" if self._await(self._capsule, 0) is not None else "loading"
        return f"<calotype Prefetch of {self.modules} modules: {state}>"
