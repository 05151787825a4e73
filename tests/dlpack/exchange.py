"""Exchanges arrays of this library and of NumPy by DLPack: `exchange.py LIBRARY BACKEND..`.

If PyTorch is installed, and `torch` is not among the backends, arrays are also exchanged with PyTorch. (A process can
load only one libtorch.)
"""

import ctypes
import gc
import sys

import numpy as np

C = ctypes.c_void_p
library = ctypes.CDLL(sys.argv[1])
for name, result, arguments in [
    ("error", ctypes.c_char_p, []),
    ("new", C, [ctypes.c_char_p] * 3),
    ("clone", C, [C]),
    ("drop", None, [C]),
    ("release_unused", None, []),
    ("what", ctypes.c_size_t, [C, ctypes.c_char_p, C]),
    ("elements", C, [C, C]),
    ("place", ctypes.c_size_t, [C, C]),
    ("into_dlpack", C, [C]),
    ("dlpack", C, [C, ctypes.c_int]),
    ("dlpack_legacy", C, [C, ctypes.c_int]),
    ("from", C, [ctypes.c_char_p, C, ctypes.c_int]),
    ("from_legacy", C, [ctypes.c_char_p, C, ctypes.c_int]),
    ("python", None, [C, C]),
]:
    function = getattr(library, "array_" + name)
    function.restype, function.argtypes = result, arguments
release_unused = library.array_release_unused


class Refused(Exception):
    """An error of the library."""


def checked(pointer):
    if not pointer:
        raise Refused(library.array_error().decode())
    return pointer


api = ctypes.pythonapi
library.array_python(*(ctypes.cast(f, C) for f in (api.PyCapsule_IsValid, api.PyCapsule_GetPointer)))
api.PyCapsule_New.restype, api.PyCapsule_New.argtypes = ctypes.py_object, [C, ctypes.c_char_p, C]
api.PyCapsule_GetPointer.restype, api.PyCapsule_GetPointer.argtypes = C, [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_IsValid.argtypes = [ctypes.py_object, ctypes.c_char_p]

NAMES = {False: b"dltensor_versioned", True: b"dltensor"}
USED = {False: b"used_dltensor_versioned", True: b"used_dltensor"}
DESTRUCTORS = {False: ctypes.cast(library.array_unused, C), True: ctypes.cast(library.array_unused_legacy, C)}


def capsule(pointer, legacy=False):
    return api.PyCapsule_New(checked(pointer), NAMES[legacy], DESTRUCTORS[legacy])


class Array:
    """An array of the library, with the methods that a Python binding would have."""

    def __init__(self, pointer):
        self.pointer = checked(pointer)

    def __del__(self):
        if getattr(self, "pointer", None):
            library.array_drop(self.pointer)

    @staticmethod
    def new(backend, dtype, layout):
        return Array(library.array_new(backend.encode(), dtype.encode(), layout.encode()))

    def clone(self):
        return Array(library.array_clone(self.pointer))

    def __dlpack_device__(self):
        device = (ctypes.c_int * 2)()
        library.array_place(self.pointer, device)
        return tuple(device)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if dl_device is not None and tuple(map(int, dl_device)) != self.__dlpack_device__():
            raise BufferError("the array is on another device")
        if max_version is not None and max_version[0] >= 1:
            return capsule(library.array_dlpack(self.pointer, -1 if copy is None else int(copy)))
        if copy is False:
            raise BufferError("a read-only array is exchanged from DLPack 1.0 on")
        return capsule(library.array_dlpack_legacy(self.pointer, 1), legacy=True)

    @staticmethod
    def from_dlpack(x, backend="numpyish", copy=None, old=False):
        given = x.__dlpack__() if old else x.__dlpack__(max_version=(1, 0))
        legacy = not api.PyCapsule_IsValid(given, NAMES[False])
        pointer = api.PyCapsule_GetPointer(given, NAMES[legacy])
        api.PyCapsule_SetName(given, USED[legacy])
        take = library.array_from_legacy if legacy else getattr(library, "array_from")
        return Array(take(backend.encode(), pointer, -1 if copy is None else int(copy)))

    def address(self):
        return library.array_place(self.pointer, (ctypes.c_int * 2)())

    def numpy(self):
        """Copies the elements without DLPack."""
        dtype, shape = ctypes.create_string_buffer(16), (ctypes.c_int64 * 8)()
        ndim = library.array_what(self.pointer, dtype, shape)
        shape = tuple(shape[:ndim])
        dtype = dtype.value.decode()
        copy = np.empty(shape, np.uint16 if dtype == "bfloat16" else dtype)
        checked(library.array_elements(self.pointer, copy.ctypes.data))
        return copy


class Old:
    """An object with the interface before DLPack 1.0, which has no versions."""

    def __init__(self, x):
        self.x = x

    def __dlpack__(self, stream=None):
        return self.x.__dlpack__()

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()


class Given:
    """An array that gives its memory to its first consumer, and has none afterwards."""

    def __init__(self, x):
        self.x = x

    def __dlpack__(self, **_):
        pointer, self.x.pointer = self.x.pointer, None
        return capsule(library.array_into_dlpack(pointer))

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()


DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()
LAYOUTS = {
    "c": lambda x: x,
    "fortran": lambda x: x.T,
    "steps": lambda x: x[1::2, ::3],
    "backward": lambda x: x[::-1, ::-1],
    "scalar": lambda x: x[3, 5, ...],
    "empty": lambda x: x[:0],
}


def numbers(dtype, layout):
    i = np.arange(4800).reshape(60, 80)
    x = i % 2 if dtype == "bool" else i % 113
    if dtype.startswith("complex"):
        x = x - 1j * (i % 7)
    return LAYOUTS[layout](x.astype(dtype))


def same(x, y):
    x, y = np.asarray(x), np.asarray(y)
    assert x.dtype == y.dtype and x.shape == y.shape, (x.dtype, y.dtype, x.shape, y.shape)
    np.testing.assert_array_equal(x, y)


def refused(call, *errors, says=""):
    try:
        call()
    except errors as why:
        assert says in str(why), why
    else:
        raise AssertionError("it was not refused")


def is_alone(x):
    """Returns whether only `x` uses its memory. Only then may NumPy write to it. `x` is empty afterwards."""
    release_unused()
    return np.from_dlpack(Given(x)).flags.writeable


def to_numpy(backend):
    for dtype in DTYPES:
        for layout in LAYOUTS:
            wanted = numbers(dtype, layout)
            x = Array.new(backend, dtype, layout)
            same(x.numpy(), wanted)
            # NumPy accepts negative strides, but other libraries may not
            backward = layout == "backward" and backend == "numpyish"
            y = np.from_dlpack(x)
            assert backward == (y.size > 0 and y.ctypes.data != x.address())
            same(y, wanted)
            y = np.from_dlpack(x, copy=False)
            same(y, wanted)
            assert not (y.size and y.flags.writeable), (dtype, layout, "others have the memory")
            assert not y.size or y.ctypes.data == x.address(), "no element is copied"
            z = np.from_dlpack(x, copy=True)
            same(z, wanted)
            assert z.flags.writeable or not z.size
            assert not z.size or z.ctypes.data != x.address()
            same(np.from_dlpack(Old(x)), wanted)
            # the array is dropped before NumPy's last view of it
            other = x.clone()
            del x, z
            same(y, wanted)
            view = y[...]
            del y
            gc.collect()
            same(view, wanted)
            if wanted.size:
                assert not is_alone(other.clone()), "NumPy has it, and so has `other`"
            del view
            if wanted.size:
                assert is_alone(other), (dtype, layout)
    x = Array.new(backend, "float64", "c")
    address = x.address()
    y = np.from_dlpack(Given(x))
    assert y.ctypes.data == address
    y[0, 0] = 7.5
    assert y[0, 0] == 7.5
    # capsules without a consumer
    x = Array.new(backend, "float64", "c")
    for given in x.__dlpack__(), x.__dlpack__(max_version=(1, 0)), x.__dlpack__(max_version=(2, 5), copy=True):
        del given
    # NumPy refuses a dtype that it lacks, and the capsule frees the tensor
    half = Array.new(backend, "bfloat16", "c")
    refused(lambda: np.from_dlpack(half), BufferError, RuntimeError)
    assert is_alone(x)
    refused(lambda: library.array_dlpack_legacy(half.pointer, -1) or checked(0), Refused, says="the memory is shared")


def from_numpy(backend):
    for dtype in DTYPES:
        for layout in LAYOUTS:
            for read_only in False, True:
                owner = numbers(dtype, layout).copy(order="K") if layout == "c" else numbers(dtype, layout)
                owner.setflags(write=not read_only)
                handles = sys.getrefcount(owner)
                for copy in None, True:
                    x = Array.from_dlpack(owner, backend, copy)
                    same(x.numpy(), owner)
                    if backend == "torch":
                        shares = layout != "backward" and owner.size > 0
                    else:
                        shares = owner.nbytes >= 4096
                    held = x.address() == owner.ctypes.data and sys.getrefcount(owner) > handles
                    assert held == (shares and copy is None), (dtype, layout, copy)
                    y = np.from_dlpack(x)
                    del x
                    same(y, owner)
                    del y
                    release_unused()
                    assert sys.getrefcount(owner) == handles, (dtype, layout, copy, "it is freed once")
                if not read_only:
                    x = Array.from_dlpack(owner, backend, old=True)
                    same(x.numpy(), owner)
                    del x
                    release_unused()
                    assert sys.getrefcount(owner) == handles
    # the memory is shared, and outlives NumPy's array
    owner = numbers("float32", "c").copy()
    wanted = owner.copy()
    x = Array.from_dlpack(owner, backend, copy=False)
    del owner
    gc.collect()
    same(x.numpy(), wanted)
    # elements that share memory, and elements at odd addresses
    row = np.broadcast_to(np.arange(800.0), (20, 800))
    same(Array.from_dlpack(row, backend).numpy(), row)
    odd = np.frombuffer(bytearray(8008), np.uint8)[1:8001].view(np.float64)
    odd[:] = np.arange(1000)
    assert not odd.flags.aligned
    same(Array.from_dlpack(odd, backend).numpy(), odd)
    handles = sys.getrefcount(odd)
    refused(lambda: Array.from_dlpack(odd, backend, copy=False), Refused, says="cannot be shared")
    assert sys.getrefcount(odd) == handles, "what is refused is freed"
    bools = np.full(5000, 3, np.uint8).view(bool)
    handles = sys.getrefcount(bools)
    for copy in None, True, False:
        refused(lambda: Array.from_dlpack(bools, backend, copy), Refused, says="a byte of a bool is 3, but must be 0 or 1")
        assert sys.getrefcount(bools) == handles
    refused(lambda: Array.from_dlpack(np.zeros(3, np.longdouble), backend), BufferError, Refused)


def on_a_gpu():
    x = Array.new("cuda", "float32", "fortran")
    same(x.numpy(), numbers("float32", "fortran"))
    refused(lambda: np.from_dlpack(x), BufferError, RuntimeError, ValueError)
    y = Array.from_dlpack(x, "cuda")
    assert y.address() == x.address() and y.__dlpack_device__() == (2, 0)
    del x
    same(y.numpy(), numbers("float32", "fortran"))
    host = np.ones(3)
    handles = sys.getrefcount(host)
    refused(lambda: Array.from_dlpack(host, "cuda"), Refused, says="the array is on cpu, but the backend is on cuda:0")
    assert sys.getrefcount(host) == handles


def with_torch(torch):
    for dtype in DTYPES + ["bfloat16"]:
        x = Array.new("numpyish", dtype, "steps")
        t = torch.from_dlpack(x)
        assert t.data_ptr() == x.address() and str(t.dtype) == "torch." + dtype
        y = Array.from_dlpack(t)
        same(y.numpy(), x.numpy())
        wanted = x.numpy()
        del x, t
        same(y.numpy(), wanted)
        assert Array.from_dlpack(Array.from_dlpack(torch.zeros(9000).to(getattr(torch, dtype)))).numpy().sum() == 0
    for layout in LAYOUTS:
        same(torch.from_dlpack(Array.new("numpyish", "int8", layout)).numpy(), numbers("int8", layout))
    x = Array.new("numpyish", "float64", "c")
    torch.from_dlpack(Given(x)).add_(1)
    x = Array.new("numpyish", "float64", "c")
    torch.from_dlpack(x).add_(1)
    kept = (x.numpy() == numbers("float64", "c")).all()
    print(f"PyTorch {torch.__version__}", "keeps to the flag read-only" if kept else "does not look at the flag read-only")


def main():
    backends = sys.argv[2:]
    for backend in backends:
        if backend == "cuda":
            on_a_gpu()
        else:
            to_numpy(backend)
            from_numpy(backend)
    if "torch" not in backends:
        try:
            import torch
        except ImportError:
            torch = None
        if torch:
            with_torch(torch)
    print(f"{', '.join(backends)} exchanged with NumPy {np.__version__}")


main()
