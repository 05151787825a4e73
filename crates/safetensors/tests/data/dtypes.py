"""Makes dtypes.safetensors by the Python package: the same numbers in every dtype, and a note.

    pip install numpy ml_dtypes safetensors && python dtypes.py
"""

import pathlib

import ml_dtypes
import numpy as np
from safetensors.numpy import save_file

NAMES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64".split()
arrays = {}
for name in NAMES + ["bfloat16"]:
    dtype = np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)
    x = np.array([[0, 1, 2], [100, 5, 7]])
    x = x + 1j * x[::-1] if dtype.kind == "c" else x
    arrays[name] = np.ascontiguousarray(x.astype(dtype))
arrays["scalar"] = np.array(2.5)
arrays["empty"] = np.zeros((3, 0), np.float32)
save_file(arrays, pathlib.Path(__file__).with_name("dtypes.safetensors"), metadata={"format": "np"})
