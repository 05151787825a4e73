//! Conversion of array elements to bytes and back, for files, messages and shared memory.

use crate::{
    DType, Element, Error, HostArray, Result,
    numpyish::{buffer::Buffer, raw::RawArray, typed::copied},
    rules,
};
use ndarray::{ArrayD, IxDyn};

/// Returns the memory of the elements, as bytes.
pub fn as_bytes<T: Element>(x: &[T]) -> &[u8] {
    // SAFETY: an element consists of one number or two adjacent numbers without padding, so every byte is initialised,
    // and every byte is a valid u8.
    unsafe { std::slice::from_raw_parts(x.as_ptr().cast(), size_of_val(x)) }
}

/// Appends elements that are read from bytes in the machine's byte order, at any alignment. The bytes of an incomplete
/// last element are ignored.
///
/// # Errors
/// [`Error::Argument`] if a bool is neither 0 nor 1, [`Error::Memory`] if memory cannot be allocated. After an error,
/// nothing is appended.
pub fn extend<T: Element>(op: &'static str, to: &mut Vec<T>, bytes: &[u8]) -> Result<()> {
    let count = bytes.len() / size_of::<T>();
    let bytes = &bytes[..count * size_of::<T>()];
    check_bools(op, T::DTYPE, bytes)?;
    to.try_reserve(count).map_err(|_| Error::memory(op, bytes.len()))?;
    // SAFETY: memory for `count` more elements is reserved, and the copy writes all of their bytes. Any bytes are a
    // valid number, and the bytes of bools were checked above.
    unsafe {
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), to.as_mut_ptr().add(to.len()).cast::<u8>(), bytes.len());
        to.set_len(to.len() + count);
    }
    Ok(())
}
/// Makes `count` elements from bytes that a function writes, for example from a file, a device or another process.
///
/// The function receives zeroed memory, and writes the bytes in the machine's byte order.
///
/// # Errors
/// Errors of the function; [`Error::Argument`] if it wrote a bool that is neither 0 nor 1, [`Error::Memory`] if memory
/// cannot be allocated.
pub fn written<T: Element>(
    op: &'static str,
    count: usize,
    write: impl FnOnce(&mut [u8]) -> Result<()>,
) -> Result<Vec<T>> {
    let too_many = || Error::memory(op, count.saturating_mul(size_of::<T>()));
    let len = count.checked_mul(size_of::<T>()).ok_or_else(too_many)?;
    let mut elements: Vec<T> = Vec::new();
    elements.try_reserve_exact(count).map_err(|_| too_many())?;
    let memory = elements.as_mut_ptr().cast::<u8>();
    // SAFETY: memory for `count` elements, which are `len` bytes, is reserved, and all bytes are zeroed before the
    // slice is made.
    let bytes = unsafe {
        std::ptr::write_bytes(memory, 0, len);
        std::slice::from_raw_parts_mut(memory, len)
    };
    write(bytes)?;
    check_bools(op, T::DTYPE, bytes)?;
    // SAFETY: all bytes are initialised. Any bytes are a valid number, and the bytes of bools were checked above.
    unsafe { elements.set_len(count) };
    Ok(elements)
}

/// Swaps elements between little and big endian, in place. The two parts of a complex number are swapped separately.
pub fn reverse(dtype: DType, bytes: &mut [u8]) {
    let width = dtype.to_real().size();
    if width > 1 {
        bytes.chunks_exact_mut(width).for_each(<[u8]>::reverse);
    }
}

/// Copies the elements of an array in C order, as bytes in the machine's byte order.
pub(crate) fn of_array<T: Element>(op: &'static str, x: &HostArray<T>) -> Result<Vec<u8>> {
    let packed;
    let elements = match x.as_slice() {
        Some(elements) => elements,
        None => {
            packed = copied(op, x.view())?;
            packed.as_slice().ok_or_else(|| Error::shape(op, x.shape(), "must have a copy in C order"))?
        }
    };
    let bytes = as_bytes(elements);
    let mut out = Vec::new();
    out.try_reserve_exact(bytes.len()).map_err(|_| Error::memory(op, bytes.len()))?;
    out.extend_from_slice(bytes);
    Ok(out)
}

/// Checks that `bytes` has the length of an array of this dtype and shape. Returns the number of elements.
pub fn check(op: &'static str, dtype: DType, shape: &[usize], bytes: &[u8]) -> Result<usize> {
    let count = rules::count(op, shape, dtype.size())?;
    if count.checked_mul(dtype.size()) != Some(bytes.len()) {
        return Err(Error::shape(op, shape, format!("does not match {} bytes of {dtype}", bytes.len())));
    }
    check_bools(op, dtype, bytes)?;
    Ok(count)
}

fn check_bools(op: &'static str, dtype: DType, bytes: &[u8]) -> Result<()> {
    let right = dtype != DType::Bool || bytes.iter().all(|&byte| byte <= 1);
    if right { Ok(()) } else { Err(Error::argument(op, "a byte of a bool must be 0 or 1")) }
}

/// Makes an array of this shape from the bytes of its elements in C order, in the machine's byte order.
///
/// # Errors
/// [`Error::Shape`] if the number of bytes does not match, [`Error::Argument`] if a bool is neither 0 nor 1. Both
/// checks precede the allocation of memory.
pub fn to_array<T: Element>(op: &'static str, shape: &[usize], bytes: &[u8]) -> Result<HostArray<T>> {
    let count = check(op, T::DTYPE, shape, bytes)?;
    let mut elements = Vec::new();
    elements.try_reserve_exact(count).map_err(|_| Error::memory(op, bytes.len()))?;
    extend(op, &mut elements, bytes)?;
    let array = ArrayD::from_shape_vec(IxDyn(shape), elements);
    Ok(array.map_err(|_| Error::shape(op, shape, "cannot be the shape of an array"))?.into_shared())
}

/// Copies `count` elements of a dtype from bytes, which may have any alignment, beginning at the byte `offset`. Without
/// `count`, all bytes after `offset` are copied.
pub fn from_buffer(dtype: DType, bytes: &[u8], count: Option<usize>, offset: usize) -> Result<RawArray> {
    const OP: &str = "frombuffer";
    let n = rules::items(OP, dtype, bytes.len(), count, offset)?;
    let rest = &bytes[offset..][..n * dtype.size()];
    if dtype == DType::Bool && rest.iter().any(|&byte| byte > 1) {
        return Err(Error::argument(OP, "a byte of a bool must be 0 or 1"));
    }
    let out = Buffer::new(OP, n, dtype)?;
    // SAFETY: the copy writes every byte of every element. Any bytes are a valid number, and the bytes of bools have
    // just been checked.
    unsafe {
        std::ptr::copy_nonoverlapping(rest.as_ptr(), out.start(), rest.len());
        RawArray::new(OP, vec![n], out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Complex, dispatch};
    use ndarray::arr2;

    #[test]
    fn elements_of_every_dtype_are_bytes_and_come_back() {
        for dtype in DType::ALL {
            let checked: Result<()> = dispatch!(dtype, T => {
                let x: Vec<T> = (0..5).map(|i| T::from_i64(i % 2)).collect();
                let bytes = as_bytes(&x);
                assert_eq!(bytes.len(), 5 * dtype.size());
                // reads bytes that begin at an odd address and end with an incomplete element, and appends the elements
                let odd = [&[1], bytes, &[1]].concat();
                let mut back = vec![T::from_i64(1)];
                extend("test", &mut back, &odd[1..1 + bytes.len()]).unwrap();
                assert_eq!(back[1..], x);
                back.clear();
                extend("test", &mut back, &bytes[..bytes.len() - 1]).unwrap();
                assert_eq!(back, x[..(5 * dtype.size() - 1) / dtype.size()]);
                let mut twice = bytes.to_vec();
                reverse(dtype, &mut twice);
                assert_eq!(twice == bytes, dtype.size() == 1);
                reverse(dtype, &mut twice);
                assert_eq!(twice, bytes);
                Ok(())
            });
            checked.unwrap();
        }
        let mut flags = vec![true];
        assert!(matches!(extend("test", &mut flags, &[0, 2]), Err(Error::Argument { op: "test", .. })));
        assert_eq!(flags, [true]);
    }

    #[test]
    fn elements_are_what_a_function_writes() {
        let numbers = written::<i16>("test", 3, |bytes| {
            assert_eq!(bytes, [0; 6]);
            bytes.copy_from_slice(as_bytes(&[1_i16, -2, 3]));
            Ok(())
        });
        assert_eq!(numbers.unwrap(), [1, -2, 3]);
        let bad = written::<bool>("test", 2, |bytes| {
            bytes[1] = 2;
            Ok(())
        });
        assert!(matches!(bad, Err(Error::Argument { op: "test", .. })));
        let many = written::<f64>("test", usize::MAX / 4, |_| Ok(()));
        assert!(matches!(many, Err(Error::Memory { op: "test", .. })));
        let failed = written::<f64>("test", 2, |_| Err(Error::argument("test", "the other side is gone")));
        assert!(failed.is_err());
    }

    #[test]
    fn each_part_of_a_complex_number_is_reversed() {
        let mut bytes = as_bytes(&[Complex::new(1.5_f32, -2.0)]).to_vec();
        reverse(DType::Complex64, &mut bytes);
        assert_eq!(
            bytes,
            if cfg!(target_endian = "little") {
                [1.5_f32.to_be_bytes(), (-2.0_f32).to_be_bytes()].concat()
            } else {
                [1.5_f32.to_le_bytes(), (-2.0_f32).to_le_bytes()].concat()
            }
        );
    }

    #[test]
    fn shapes_that_the_bytes_do_not_have_are_refused() {
        assert_eq!(to_array("test", &[2, 2], &[1, 2, 3, 4]), Ok(arr2(&[[1_u8, 2], [3, 4]]).into_dyn().into_shared()));
        assert_eq!(to_array::<f64>("test", &[3, 0], &[]).unwrap().shape(), [3, 0]);
        for shape in [&[2, 3][..], &[], &[1 << 62], &[usize::MAX, 2], &[usize::MAX, 0, 5]] {
            let refused = to_array::<f64>("test", shape, &[0; 32]);
            assert!(matches!(refused, Err(Error::Shape { .. } | Error::Memory { .. })), "{shape:?}: {refused:?}");
        }
        assert!(matches!(to_array::<bool>("test", &[2], &[1, 2]), Err(Error::Argument { .. })));
    }

    #[test]
    fn bytes_are_in_c_order() {
        let x = arr2(&[[1_u8, 2, 3], [4, 5, 6]]).into_dyn().into_shared();
        assert_eq!(of_array("test", &x), Ok(vec![1, 2, 3, 4, 5, 6]));
        assert_eq!(of_array("test", &x.clone().reversed_axes()), Ok(vec![1, 4, 2, 5, 3, 6]));
        let part = x.slice_move(ndarray::s![.., 1..]).into_dyn();
        assert_eq!(of_array("test", &part), Ok(vec![2, 3, 5, 6]));
    }
}
