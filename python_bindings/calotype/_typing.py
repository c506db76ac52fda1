# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What annotations here need of `typing`, whose import takes longer than that of all of this package's own modules."""

TYPE_CHECKING = False  # a type checker takes it for true

if TYPE_CHECKING:
    from typing import Any as Any
else:
    Any = object
