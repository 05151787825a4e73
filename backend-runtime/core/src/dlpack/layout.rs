//! Shape, strides and address of a DLPack tensor. They are checked when a [`Layout`] is made.

use super::abi::{DLDevice, DLTensor};
use crate::{DType, Error, Result, rules};
use std::slice;

/// Name of the op in errors about bad tensors.
pub(super) const OP: &str = "from_dlpack";

/// The memory layout of a tensor's elements. All elements lie within the address space, and lengths, strides and sizes
/// fit in their types.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// Dtype of the elements.
    pub dtype: DType,
    /// Device of the memory.
    pub device: DLDevice,
    /// Lengths of the axes.
    pub shape: Vec<usize>,
    /// Strides in elements. If there are no elements, these are the strides of C order.
    pub strides: Vec<isize>,
    /// Address of the element whose indices are all 0; null if there are no elements.
    pub first: *mut u8,
    /// Distance from the element with the lowest address to the element whose indices are all 0, in elements.
    pub before: usize,
    /// Number of elements in the memory from the lowest to the highest element, both included.
    pub span: usize,
}

fn bad(why: impl Into<String>) -> Error {
    Error::argument(OP, why)
}

impl Layout {
    /// Reads the layout of a tensor, and checks it.
    ///
    /// # Safety
    /// `shape` and `strides` of the tensor are null, or have one number for each axis.
    pub unsafe fn read(tensor: &DLTensor) -> Result<Layout> {
        let dtype = tensor.dtype.dtype().ok_or_else(|| {
            bad(format!("no dtype matches DLPack's {}; a dtype has whole bytes and one lane", tensor.dtype))
        })?;
        let ndim = usize::try_from(tensor.ndim).map_err(|_| bad(format!("a tensor of {} axes", tensor.ndim)))?;
        let list = |numbers: *mut i64| -> Result<Vec<i64>> {
            let mut list = rules::list(OP, ndim)?;
            // SAFETY: the pointer is not null, so the caller guarantees that it points to `ndim` numbers.
            list.extend_from_slice(unsafe { slice::from_raw_parts(numbers, ndim) });
            Ok(list)
        };
        let lengths = match tensor.shape {
            _ if ndim == 0 => Vec::new(),
            shape if shape.is_null() => return Err(bad(format!("a tensor of {ndim} axes without a shape"))),
            shape => list(shape)?,
        };
        let length = |&len: &i64| usize::try_from(len).map_err(|_| bad(format!("{lengths:?} is no shape")));
        let shape = lengths.iter().map(length).collect::<Result<Vec<usize>>>()?;
        let count = rules::count(OP, &shape, dtype.size())
            .map_err(|_| bad(format!("a tensor of shape {shape:?} is larger than any memory")))?;
        let mut strides = rules::c_strides(&shape);
        if !tensor.strides.is_null() && ndim > 0 && count > 0 {
            for ((stride, given), &len) in strides.iter_mut().zip(list(tensor.strides)?).zip(&shape) {
                // the stride of an axis of length 1 has no meaning
                if len > 1 {
                    *stride = isize::try_from(given).map_err(|_| bad(format!("the stride {given}")))?;
                }
            }
        }
        let mut layout =
            Layout { dtype, device: tensor.device, shape, strides, first: std::ptr::null_mut(), before: 0, span: 0 };
        if count > 0 {
            layout.place(tensor)?;
        }
        Ok(layout)
    }

    /// Computes the address and the memory range of a tensor that has elements. Returns an error if the range leaves
    /// the address space.
    fn place(&mut self, tensor: &DLTensor) -> Result<()> {
        if tensor.data.is_null() {
            return Err(bad(format!("a tensor of shape {:?} without memory", self.shape)));
        }
        let outside = || bad(format!("shape {:?} and strides {:?} exceed the address space", self.shape, self.strides));
        let (mut below, mut above) = (0_i128, 0_i128);
        for (&len, &stride) in self.shape.iter().zip(&self.strides) {
            // both factors have 64 bits, so the product fits `i128`
            let reach = (len as i128 - 1) * stride as i128;
            let side = if reach < 0 { &mut below } else { &mut above };
            *side = side.checked_add(reach).ok_or_else(outside)?;
        }
        let size = self.dtype.size() as i128;
        let span = above.checked_sub(below).and_then(|span| span.checked_add(1)?.checked_mul(size));
        let span = span.filter(|&bytes| bytes <= isize::MAX as i128).ok_or_else(outside)? / size;
        let first = tensor.data.addr() as i128 + i128::from(tensor.byte_offset);
        let inside = first + below * size > 0 && first + (above + 1) * size <= usize::MAX as i128;
        if !inside {
            return Err(outside());
        }
        self.first = tensor.data.cast::<u8>().wrapping_add(tensor.byte_offset as usize);
        self.before = (-below) as usize;
        self.span = span as usize;
        Ok(())
    }

    /// Returns the number of elements.
    pub fn count(&self) -> usize {
        self.shape.iter().product()
    }

    /// Returns the address of the element that is lowest in memory.
    pub fn lowest(&self) -> *mut u8 {
        self.first.wrapping_sub(self.before * self.dtype.size())
    }

    /// Returns whether the elements are aligned for their dtype.
    pub fn is_aligned(&self) -> bool {
        self.first.addr().is_multiple_of(self.dtype.align())
    }

    /// Returns whether different indices may refer to the same element.
    pub fn overlaps(&self) -> bool {
        rules::overlaps(&self.shape, &self.strides)
    }

    /// Returns an error if the tensor has a dtype other than `dtype`.
    pub fn expect(&self, dtype: DType) -> Result<()> {
        if self.dtype == dtype {
            return Ok(());
        }
        Err(bad(format!("the tensor has the dtype {}, but an array of {dtype} is requested", self.dtype)))
    }

    /// Returns an error unless `fits` is true. The error names the `expected` device and the tensor's device.
    pub fn expect_device(&self, fits: bool, expected: String) -> Result<()> {
        if fits { Ok(()) } else { Err(Error::device(OP, expected, self.device.to_string())) }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::abi::{DLDataType, DLDevice},
        *,
    };

    fn read(data: usize, dtype: DLDataType, shape: &[i64], strides: Option<&[i64]>) -> Result<Layout> {
        let pointer = |list: &[i64]| list.as_ptr().cast_mut();
        let tensor = DLTensor {
            data: std::ptr::without_provenance_mut(data),
            device: DLDevice::CPU,
            ndim: shape.len() as i32,
            dtype,
            shape: pointer(shape),
            strides: strides.map_or(std::ptr::null_mut(), pointer),
            byte_offset: 0,
        };
        // SAFETY: the two lists have `ndim` numbers.
        unsafe { Layout::read(&tensor) }
    }

    #[test]
    fn strides_and_spans() {
        let f64s = DLDataType::from(DType::Float64);
        let layout = read(800, f64s, &[2, 3], None).unwrap();
        assert_eq!((&layout.strides[..], layout.before, layout.span, layout.lowest().addr()), (&[3, 1][..], 0, 6, 800));
        let layout = read(800, f64s, &[2, 3], Some(&[-3, 1])).unwrap();
        assert_eq!((layout.before, layout.span, layout.lowest().addr(), layout.count()), (3, 6, 776, 6));
        let layout = read(804, f64s, &[1, 5], Some(&[i64::MIN, 0])).unwrap();
        assert!(!layout.is_aligned() && layout.overlaps() && layout.span == 1, "{layout:?}");
        assert_eq!(
            read(0, f64s, &[], None).unwrap_err().to_string(),
            "from_dlpack: a tensor of shape [] without memory"
        );
        assert_eq!(read(0, f64s, &[0, i64::MAX >> 4], Some(&[7, 7])).unwrap().count(), 0);
    }

    /// Tests that any shape and strides give either an error or a range within the address space.
    #[test]
    fn no_numbers_lead_out_of_memory() {
        let mut state = 7_u64;
        let mut next = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % n
        };
        const NUMBERS: [i64; 14] =
            [0, 1, 2, 3, -1, -2, 1 << 20, 1 << 31, -(1 << 40), 1 << 62, -(1 << 62), i64::MAX, i64::MIN, i64::MIN + 1];
        let mut good = 0;
        for _ in 0..20_000 {
            let ndim = next(4) as usize;
            let mut list = || -> Vec<i64> { (0..ndim).map(|_| NUMBERS[next(14) as usize]).collect() };
            let (shape, strides) = (list(), list());
            let data = [8, 4096, 1 << 45, usize::MAX - 64, usize::MAX][next(5) as usize];
            let dtype = DType::ALL[next(15) as usize];
            let Ok(layout) = read(data, dtype.into(), &shape, (next(3) > 0).then_some(&strides)) else { continue };
            good += 1;
            let last = layout.lowest().addr().checked_add(layout.span * dtype.size());
            assert!(layout.count() == 0 || last.is_some() && layout.lowest().addr() > 0 && layout.before < layout.span);
        }
        assert!(good > 1000, "{good} are layouts");
    }

    #[test]
    fn bad_tensors_are_errors() {
        let f64s = DLDataType::from(DType::Float64);
        for (given, why) in [
            (read(0, f64s, &[3], None), "a tensor of shape [3] without memory"),
            (read(8, f64s, &[2, -1], None), "[2, -1] is no shape"),
            (read(8, f64s, &[i64::MAX, 2], None), "larger than any memory"),
            (read(8, f64s, &[i64::MAX, 0, 9], None), "larger than any memory"),
            (read(8, f64s, &[2], Some(&[i64::MAX])), "exceed the address space"),
            (read(8, f64s, &[3, 3], Some(&[i64::MIN, i64::MIN])), "exceed the address space"),
            (read(8, f64s, &[2], Some(&[-1])), "exceed the address space"),
            (read(usize::MAX - 15, f64s, &[3], None), "exceed the address space"),
            (read(8, DLDataType { lanes: 2, ..f64s }, &[3], None), "float of 64 bits and 2 lanes"),
            (read(8, DLDataType { lanes: 0, ..f64s }, &[3], None), "float of 64 bits and 0 lanes"),
            (read(8, DLDataType { bits: 4, ..f64s }, &[3], None), "float of 4 bits"),
            (read(8, DLDataType { code: 3, ..f64s }, &[3], None), "handle of 64 bits"),
        ] {
            let error = given.unwrap_err().to_string();
            assert!(error.starts_with("from_dlpack: ") && error.contains(why), "{error}");
        }
        let mut tensor = DLTensor {
            data: std::ptr::without_provenance_mut(8),
            device: DLDevice::CPU,
            ndim: -1,
            dtype: f64s,
            shape: std::ptr::null_mut(),
            strides: std::ptr::null_mut(),
            byte_offset: 0,
        };
        // SAFETY: `shape` and `strides` are null.
        let mut error = |change: &dyn Fn(&mut DLTensor)| unsafe {
            change(&mut tensor);
            Layout::read(&tensor).unwrap_err().to_string()
        };
        assert!(error(&|_| {}).contains("a tensor of -1 axes"));
        assert!(error(&|t| t.ndim = 2).contains("2 axes without a shape"));
        let far = |t: &mut DLTensor| (t.ndim, t.byte_offset) = (0, u64::MAX - 7);
        assert!(error(&far).contains("exceed the address space"));
    }
}
