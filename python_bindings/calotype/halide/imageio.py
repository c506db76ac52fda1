# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""calotype.imageio under this name."""

from ..imageio import *  # noqa: F403
from ..imageio import __all__ as __all__
