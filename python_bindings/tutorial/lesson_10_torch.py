# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lesson 10: a kernel on a GPU, from torch.

The kernel works on torch's tensors where they are, on torch's current stream, and becomes an operator
that torch.compile knows. Without a GPU the same runs on the processor.
"""

import sys

import calotype as ct

try:
    import calotype.torch
    import torch
except ModuleNotFoundError:
    print("there is no torch here")
    sys.exit()

x, y, xi, yi = ct.vars("x y xi yi")
image = ct.ImageParam(ct.Float(32), 2, "image")
strength = ct.Param(ct.Float(32), "strength")

# Sharper: what differs from the neighbours, once more.
at = ct.BoundaryConditions.repeat_edge(image)
around = (at[x - 1, y] + at[x + 1, y] + at[x, y - 1] + at[x, y + 1]) / 4
sharper = ct.Func("sharper")
sharper[x, y] = at[x, y] + strength * (at[x, y] - around)

device = "cuda" if torch.cuda.is_available() else "cpu"
if device == "cuda":
    sharper.gpu_tile(x, y, xi, yi, 32, 8)
else:
    sharper.parallel(y).vectorize(x, 8)
target = ct.Target("host-cuda" if device == "cuda" else "host")
compiled = sharper.compile_to_callable([image, strength], target)

photo = torch.rand(256, 384, device=device)
result = torch.empty_like(photo)
compiled(photo, 0.5, result)  # no copy; on a GPU it is queued, as torch's own work is

# As an operator: gives its result, and torch.compile takes the whole program.
sharpen = ct.torch.op(compiled, "tutorial::sharpen")
assert torch.equal(sharpen(photo, 0.5), result)


def program(photo):
    return sharpen(photo * 2, 0.5).clamp(0, 1)


faster = torch.compile(program, fullgraph=True, backend="aot_eager")
assert torch.allclose(faster(photo), program(photo))

# Its gradient is another pipeline, or, as this one is linear and symmetric but for the borders, itself.
photo.requires_grad_()


def backward(ctx, gradient):
    return sharpen(gradient.contiguous(), ctx.strength), None


def keep(ctx, inputs, output):
    ctx.strength = inputs[1]


torch.library.register_autograd(sharpen.name, backward, setup_context=keep)
sharpen(photo, 0.5).sum().backward()
assert photo.grad is not None and torch.allclose(photo.grad[1:-1, 1:-1], torch.ones_like(photo)[1:-1, 1:-1])

if device == "cuda":
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph):
        compiled(photo, 0.5, result)
    graph.replay()
print("sharpened on", device)
