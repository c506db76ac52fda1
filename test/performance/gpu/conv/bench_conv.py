#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bench_conv.py LIBRARY [OUT.json]: generators/conv_generator.cpp against torch's conv2d (cuDNN), in turns, on the same device arrays.

LIBRARY is gpu_conv of the folder that the target calotype_gpu_bundle makes. Layers have 3 x 3 filters, a bias and a rectifier; torch
does them by conv2d alone, without the rectifier. Channels are innermost. Every element is compared with torch's result in float32.
"""
import ctypes
import json
import pathlib
import statistics
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from torch_buffers import on_device  # noqa: E402

CALLS, ROUNDS = 10, 7
LAYERS = ((256, 256, 128, 128, 8), (512, 512, 128, 32, 8), (64, 256, 256, 256, 4))  # channels in, out; width, height, images


def seconds(call):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(CALLS):
        call()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / 1e3 / CALLS


def measure(library, function, dtype, layer):
    ci, co, width, height, images = layer
    torch.manual_seed(1)
    x = torch.randn(images, height + 2, width + 2, ci, device="cuda", dtype=dtype)
    w = torch.randn(co, 3, 3, ci, device="cuda", dtype=dtype) / 32
    bias = torch.randn(co, device="cuda", dtype=torch.float32)
    out = torch.empty(images, height, width, co, device="cuda", dtype=dtype)
    arrays = [on_device(library, x, (ci, width + 2, height + 2, images)), on_device(library, w, (ci, 3, 3, co)),
              on_device(library, bias, (co,)), on_device(library, out, (co, width, height, images))]
    run = getattr(library, function)

    def ours():
        if run(*(ctypes.byref(buffer) for buffer, _ in arrays)) != 0:
            raise RuntimeError(f"{function} fails")

    image, filters, b = x.permute(0, 3, 1, 2), w.permute(0, 3, 1, 2), bias.to(dtype)

    def theirs():
        return torch.nn.functional.conv2d(image, filters, b)

    # Ours works on the default stream of the primary context, torch on its current one, the same.
    ours()
    theirs()
    torch.cuda.synchronize()
    expected = torch.relu(torch.nn.functional.conv2d(image.float(), filters.float(), bias)).permute(0, 2, 3, 1)
    difference = ((out.float() - expected).abs().max() / expected.abs().max()).item()
    times = [(seconds(ours), seconds(theirs)) for _ in range(ROUNDS)]
    mine, peer = (statistics.median(t[i] for t in times) for i in (0, 1))
    flops = 2.0 * ci * co * 9 * width * height * images
    return {"operands": str(dtype).split(".")[1], "layer": f"{ci} to {co} channels, {width} x {height} x {images}",
            "tflops": flops / mine / 1e12, "torch_tflops": flops / peer / 1e12, "ratio": peer / mine,
            "difference": difference}


def main():
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = False
    library = ctypes.CDLL(sys.argv[1])
    rows = [measure(library, function, dtype, layer)
            for function, dtype in (("conv_f16", torch.float16), ("conv_bf16", torch.bfloat16)) for layer in LAYERS]
    text = json.dumps({"layers": rows}, indent=1)
    if len(sys.argv) > 2:
        with open(sys.argv[2], "w") as out:
            out.write(text + "\n")
    print(text)
    return 0 if all(row["difference"] < 2e-2 for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
