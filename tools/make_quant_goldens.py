#!/usr/bin/env python3
"""Makes tests/quant/data/*.golden: blocks of every format with their values as the PyPI package «gguf» decodes them.

  pip install gguf numpy
  tools/make_quant_goldens.py [REAL_MODEL.gguf ...]

A file holds, little-endian: u32 type id, u32 number of values, the bytes of the blocks, the values as float32. Random blocks, blocks with extreme
scales (zero, subnormal, largest, infinite, NaN), and the first blocks of a few tensors of the given models.
"""
import pathlib, sys
import numpy as np
import gguf
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType as T
from gguf.quants import dequantize

TYPES = "F32 F16 BF16 Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q2_K Q3_K Q4_K Q5_K Q6_K IQ4_NL IQ4_XS MXFP4".split()
# Byte offsets of the half-precision scales in a block.
SCALES = {"F16": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q2_K": [80, 82], "Q3_K": [108], "Q4_K": [0, 2], "Q5_K": [0, 2],
          "Q6_K": [208], "IQ4_NL": [0], "IQ4_XS": [0]}
EXTREME = [0x0000, 0x8000, 0x0001, 0x83ff, 0x0400, 0x3c00, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e01]

def random_blocks(name, rng):
    elements, size = GGML_QUANT_SIZES[T[name]]
    if elements == 1:
        rows = rng.integers(0, 256, (256, size), dtype=np.uint8)
        edge = {2: np.array(EXTREME + [0x7f80, 0xff80, 0x7f7f, 0x0080, 0x007f], "<u2"), 4: np.array([0, 1 << 31, 1, 0x7f800000, 0xff800000, 0x7f7fffff, 0x00800000], "<u4")}[size]
        return np.concatenate([rows, edge.view(np.uint8).reshape(-1, size)])
    rows = rng.integers(0, 256, (10 if elements == 256 else 48, size), dtype=np.uint8)
    if name == "MXFP4":
        rows[:, 0] = rng.integers(110, 140, len(rows))
        extra = rng.integers(0, 256, (7, size), dtype=np.uint8); extra[:, 0] = [0, 1, 2, 3, 127, 253, 254]
        return np.concatenate([rows, extra])  # exponent 255 is left out: the package and the closed form differ there
    for offset in SCALES[name]:
        rows[:, offset:offset + 2] = rng.normal(0, 0.02, len(rows)).astype("<f2").view(np.uint8).reshape(-1, 2)
    extreme = EXTREME if elements < 256 else EXTREME[2:]
    extra = rng.integers(0, 256, (len(extreme), size), dtype=np.uint8)
    for n, offset in enumerate(SCALES[name]):
        extra[:, offset:offset + 2] = np.roll(np.array(extreme, "<u2"), n).view(np.uint8).reshape(-1, 2)
    return np.concatenate([rows, extra])

def real_blocks(paths):
    found = {}
    for path in paths:
        for tensor in gguf.GGUFReader(path).tensors:
            name = tensor.tensor_type.name
            if name in TYPES and len(found.setdefault(name, [])) < 3:
                elements, size = GGML_QUANT_SIZES[tensor.tensor_type]
                flat = np.asarray(tensor.data).view(np.uint8).reshape(-1, size)
                found[name].append(flat[:max(2, 256 // elements)].copy())
    return found

def main():
    folder = pathlib.Path(__file__).resolve().parent.parent / "tests/quant/data"
    folder.mkdir(parents=True, exist_ok=True)
    real = real_blocks(sys.argv[1:])
    for name in TYPES:
        blocks = np.concatenate([random_blocks(name, np.random.default_rng(7)), *real.get(name, [])])
        with np.errstate(all="ignore"):
            values = np.concatenate([np.asarray(dequantize(b.view("<f4") if name == "F32" else b.view("<f2") if name == "F16" else b, T[name]), np.float32).ravel() for b in blocks])
        out = folder / f"{name.lower()}.golden"
        out.write_bytes(np.array([T[name].value, len(values)], "<u4").tobytes() + blocks.tobytes() + values.astype("<f4").tobytes())
        print(f"{out.name}: {len(blocks)} blocks, {out.stat().st_size} bytes")

main()
