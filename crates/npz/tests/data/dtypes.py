"""Makes dtypes.npz by NumPy: the same numbers in every dtype, in both memory orders and both byte orders.

    pip install numpy ml_dtypes && python dtypes.py
"""

import pathlib

import ml_dtypes
import numpy as np

NAMES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()
arrays = {}
for name in NAMES + ["bfloat16"]:
    dtype = np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)
    x = np.array([[0, 1, 2], [100, 5, 7]])
    x = x + 1j * x[::-1] if dtype.kind == "c" else x
    x = x.astype(dtype)
    for order in "CF":
        arrays[f"{name}_{order}_little"] = np.array(x, order=order)
        if name != "bfloat16":  # ml_dtypes has only one byte order of bfloat16
            arrays[f"{name}_{order}_big"] = np.array(x.astype(dtype.newbyteorder(">")), order=order)
arrays["scalar"] = np.float64(2.5)
arrays["empty"] = np.zeros((3, 0), np.float32)
np.savez_compressed(pathlib.Path(__file__).with_name("dtypes.npz"), **arrays)
