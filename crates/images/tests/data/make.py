"""Makes the files of this folder by the Python packages of each format. The elements of every
file are those of the function `values`, which the tests compute, too.

    pip install numpy tifffile imagecodecs mrcfile nibabel && python make.py
"""

import pathlib
import struct

import mrcfile
import nibabel
import numpy as np
import tifffile

HERE = pathlib.Path(__file__).parent


def values(dtype, shape):
    """Numbers that every dtype holds: 0, 7, 14 and so on up to 119, and again; negative at odd places if possible."""
    dtype = np.dtype(dtype)
    i = np.arange(np.prod(shape))
    x = 7 * (i % 18)
    if dtype.kind == "b":
        x = i % 3 == 1
    if dtype.kind in "ifc":
        x = x * np.where(i % 2 == 1, -1, 1)
    if dtype.kind == "c":
        x = x + 1j * (i % 5)
    return x.reshape(shape).astype(dtype)


def mrc():
    for name in ["int8", "int16", "uint16", "float16", "float32", "complex64"]:
        with mrcfile.new(HERE / f"{name}.mrc", overwrite=True) as f:
            f.set_data(values(name, (2, 3, 4)))
            f.voxel_size = (1.5, 2.5, 4.0)  # x, y, z
            f.header.origin = (10, 20, 30)
            f.header.nxstart, f.header.nystart, f.header.nzstart = -1, -2, -3
            f.header.label[0] = "a label".ljust(80).encode()
            f.header.nlabl = 1
    with mrcfile.new(HERE / "stack.mrc", overwrite=True) as f:
        f.set_data(values("int16", (2, 2, 3, 4)))
    with mrcfile.new(HERE / "image.mrc", overwrite=True) as f:
        f.set_data(values("float32", (3, 4)))
    # big endian, with an extended header, and with the axes of the map in another order
    with mrcfile.open(HERE / "int16.mrc") as f:
        head = big_header(f.header)
    (HERE / "big_endian.mrc").write_bytes(head + b"extended" + values(">i2", (2, 3, 4)).tobytes())


def big_header(header):
    """The header with the numbers in the other byte order, 8 bytes of extended header, and the axes y, z, x."""
    big = header.astype(header.dtype.newbyteorder(">"))
    big.machst = [0x11, 0x11, 0, 0]
    big.nsymbt = 8
    big.mapc, big.mapr, big.maps = 2, 3, 1  # columns along y, rows along z, sections along x
    big.mx, big.my, big.mz = 2, 4, 3
    big.cella = (2 * 1.5, 4 * 2.5, 3 * 4.0)
    return big.tobytes()


def tiff():
    for name in "uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 float32 float64".split():
        tifffile.imwrite(HERE / f"{name}.tif", values(name, (2, 3, 4)), photometric="minisblack", metadata=None)
    x = values("int16", (2, 3, 4))
    options = dict(photometric="minisblack", metadata=None)
    tifffile.imwrite(HERE / "big_endian.tif", x, byteorder=">", **options)
    tifffile.imwrite(HERE / "bigtiff.tif", x, bigtiff=True, **options)
    large = values("uint16", (2, 40, 30))
    for name, more in {
        "deflate": dict(compression="zlib", predictor=True),
        "lzw": dict(compression="lzw", predictor=True),
        "packbits": dict(compression="packbits"),
        "tiles": dict(compression="zlib", tile=(16, 16)),
        "strips": dict(rowsperstrip=7),
        "zstd": dict(compression="zstd"),
    }.items():
        tifffile.imwrite(HERE / f"{name}.tif", large, **options, **more)
    x = values("float32", (1, 20, 30))
    tifffile.imwrite(HERE / "float_predictor.tif", x, compression="zlib", predictor=3, byteorder=">", **options)
    tifffile.imwrite(HERE / "rgb.tif", values("uint8", (2, 4, 5, 3)), photometric="rgb", metadata=None)
    planes = values("uint8", (3, 4, 5))
    tifffile.imwrite(HERE / "planes.tif", planes, photometric="rgb", planarconfig="separate", metadata=None)
    tifffile.imwrite(HERE / "bool.tif", values("bool", (2, 3, 11)), photometric="minisblack", metadata=None)
    tifffile.imwrite(HERE / "white_is_zero.tif", values("uint8", (1, 3, 4)), photometric="miniswhite", metadata=None)
    tifffile.imwrite(
        HERE / "resolution.tif",
        values("uint8", (3, 4)),
        resolution=(2000, 1000.5),  # x, y
        resolutionunit="CENTIMETER",
        description="a text",
        **options,
    )
    x = values("uint16", (3, 4, 5))
    tifffile.imwrite(HERE / "imagej.tif", x, imagej=True, metadata={"spacing": 0.5, "unit": "um"})
    with tifffile.TiffWriter(HERE / "mixed.tif") as f:
        for shape in [(3, 4), (3, 4), (2, 2)]:
            f.write(values("uint8", shape), contiguous=False, **options)


def nifti():
    affine = np.array([[-2.0, 0, 0, 90], [0, 2.5, 0, -126], [0, 0, 3, -72], [0, 0, 0, 1]])
    names = "uint8 int16 int32 float32 complex64 float64 int8 uint16 uint32 int64 uint64 complex128".split()
    for name in names:
        image = nibabel.Nifti1Image(values(name, (2, 3, 4)), affine, dtype=name)
        save(image, f"{name}.nii")
    x = values("int16", (2, 3, 4, 2))
    image = nibabel.Nifti1Image(x, affine, dtype="int16")
    image.header.set_xyzt_units("mm", "sec")
    image.header["pixdim"][4] = 1.5
    image.header["descrip"] = b"a text"
    save(image, "time.nii.gz")
    save(nibabel.Nifti2Image(values("int16", (2, 3, 4)), affine, dtype="int16"), "version_2.nii")
    header = nibabel.Nifti1Header(endianness=">")
    header.set_data_dtype("int16")
    save(nibabel.Nifti1Image(values("int16", (2, 3, 4)), affine, header), "big_endian.nii")
    header = nibabel.Nifti2Header(endianness=">")
    header.set_data_dtype("int16")
    save(nibabel.Nifti2Image(values("int16", (2, 3, 4)), affine, header), "big_endian_2.nii")
    # an affine by a quaternion, with an extension between the header and the elements
    rotated = affine.copy()
    c, s = np.cos(0.3), np.sin(0.3)
    rotated[:3, :3] = np.array([[c, -s, 0], [s, c, 0], [0, 0, -1]]) @ np.diag([2, 2.5, 3])
    image = nibabel.Nifti1Image(values("int16", (2, 3, 4)), None, dtype="int16")
    image.set_qform(rotated, code=1)
    image.set_sform(None, code=0)
    image.header.extensions.append(nibabel.nifti1.Nifti1Extension("comment", b"an extension"))
    save(image, "quaternion.nii")
    # values that are computed by a factor and an offset
    image = nibabel.Nifti1Image(values("int16", (2, 3, 4)), affine, dtype="int16")
    save(image, "scaled.nii")
    data = bytearray((HERE / "scaled.nii").read_bytes())
    data[112:120] = struct.pack("<ff", 0.5, 10.0)
    (HERE / "scaled.nii").write_bytes(data)


def save(image, name):
    nibabel.save(image, HERE / name)


mrc()
tiff()
nifti()
for path in sorted(HERE.iterdir()):
    print(path.stat().st_size, path.name)
