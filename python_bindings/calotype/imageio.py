# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Images in files: png, jpg, pgm, ppm, npy and tmp, as the name's ending says.

What is read is planar, as pipelines mostly want it: a numpy array of the axes (channel, y, x), which
is a Buffer of the dimensions x, y and channel; a grey image has no channels. Without numpy it is a
Buffer. What is written may be either, or any other array.
"""

import os

from ._core import Buffer, _load_image, _save_image
from ._typing import Any

__all__ = ["copy_to_interleaved", "copy_to_planar", "imread", "imwrite", "is_interleaved"]


def _as_array(buffer: Buffer) -> Any:
    try:
        return buffer.numpy_view()
    except ModuleNotFoundError:
        return buffer


def imread(uri: Any, format: Any = None) -> Any:
    """The image in a file, planar. `format` takes the place of the name's ending."""
    return _as_array(_load_image(os.fsdecode(uri), "" if format is None else str(format)))


def imwrite(uri: Any, im: Any, format: Any = None) -> None:
    """Writes an image, planar or interleaved; 8 or 16 bits, or anything to npy and tmp."""
    buffer = Buffer(im)
    if buffer.dimensions() == 3 and _has_channels_last(buffer):
        # An array of the axes (y, x, channel): the dimensions of the Buffer are channel, x, y.
        buffer = buffer.transposed([2, 0, 1])
    _save_image(buffer, os.fsdecode(uri), "" if format is None else str(format))


def _is_interleaved(buffer: Buffer) -> bool:
    channels = buffer.dim(0)
    return buffer.dimensions() == 3 and channels.stride() == 1 and channels.extent() <= 4


def _has_channels_last(buffer: Buffer) -> bool:
    """Also of views whose channels are not dense, as of a[..., ::-1], where the rows are too many for channels."""
    return _is_interleaved(buffer) or (buffer.dim(0).extent() <= 4 < buffer.dim(2).extent())


def is_interleaved(im: Any) -> bool:
    """True for an array of the axes (y, x, channel) with at most four channels, dense in the last."""
    return _is_interleaved(Buffer(im))


def copy_to_interleaved(im: Any) -> Any:
    """A copy with the axes (y, x, channel), if the image is planar; else the image itself."""
    buffer = Buffer(im)
    if buffer.dimensions() != 3 or _is_interleaved(buffer):
        return im
    x, y, c = (buffer.dim(i).extent() for i in range(3))
    copy = Buffer(buffer.type(), [c, x, y])
    copy.copy_from(buffer.transposed([1, 2, 0]))
    return _as_array(copy)


def copy_to_planar(im: Any) -> Any:
    """A copy with the axes (channel, y, x), if the image is interleaved; else the image itself."""
    buffer = Buffer(im)
    if buffer.dimensions() != 3 or not _is_interleaved(buffer):
        return im
    c, x, y = (buffer.dim(i).extent() for i in range(3))
    copy = Buffer(buffer.type(), [x, y, c])
    copy.copy_from(buffer.transposed([2, 0, 1]))
    return _as_array(copy)
