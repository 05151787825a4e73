//! Iteration over the lanes of an array of any layout. A lane is a 1-D slice along an axis. The points of each lane are
//! passed to a function as contiguous numbers of one dtype.

use super::super::{
    buffer::Buffer,
    convert::convert,
    copy,
    layout::{self, Dim, Offsets},
    raw::View,
};
use backend_core::{DType, Result};

/// The lanes of an array along an axis. They are read in place if possible, and otherwise copied.
pub struct Contiguous<'a> {
    x: View<'a>,
    axes: Vec<Dim>,
    lane: Dim,
    dtype: DType,
    /// Buffer for one lane, if the points of a lane are not contiguous.
    gathered: Option<Buffer>,
    /// Buffer for one lane, used if the dtype or the length of lanes must change. Zeros follow the points of a shorter
    /// lane.
    converted: Option<Buffer>,
}

impl<'a> Contiguous<'a> {
    /// Prepares lanes of `points` points each, of dtype `dtype`. Longer lanes are cut, and zeros follow shorter lanes.
    pub fn new(op: &'static str, x: View<'a>, axis: usize, dtype: DType, points: usize) -> Result<Contiguous<'a>> {
        let mut axes = layout::dims(x);
        let Dim { len, stride } = axes.remove(axis);
        let lane = Dim { len: len.min(points), stride };
        let gathered = if stride == 1 || len == 1 { None } else { Some(Buffer::new(op, lane.len, x.dtype)?) };
        let converted = if x.dtype == dtype && len >= points { None } else { Some(Buffer::zeroed(op, points, dtype)?) };
        Ok(Contiguous { x, axes, lane, dtype, gathered, converted })
    }

    /// Calls `f` for each lane, with its index and the address of its points.
    pub fn each(&self, mut f: impl FnMut(usize, *const u8) -> Result<()>) -> Result<()> {
        let Contiguous { x, axes, lane, dtype, gathered, converted } = self;
        for (k, offset) in Offsets::at(axes, 0).take(layout::size(axes)).enumerate() {
            // SAFETY: a lane begins at this offset, and both buffers have room for its points.
            unsafe {
                let mut from = x.at(offset);
                if let Some(gathered) = gathered {
                    let axis = copy::Axis { len: lane.len, from: lane.stride, to: 1 };
                    copy::bits(x.dtype, vec![axis], from, gathered.start());
                    from = gathered.start();
                }
                if let Some(converted) = converted {
                    convert(x.dtype, *dtype, from, converted.start(), lane.len);
                    from = converted.start();
                }
                f(k, from)?;
            }
        }
        Ok(())
    }
}

/// Contiguous elements of any dtype.
#[derive(Clone, Copy)]
pub struct Elements {
    pub dtype: DType,
    pub start: *const u8,
    pub len: usize,
}

/// Converts the first `len` elements to another dtype. If there are fewer elements, zeros follow them.
///
/// # Safety
/// The elements must exist, `to` must have room for `len` elements, and source and target must not overlap.
pub unsafe fn pad(from: Elements, dtype: DType, to: *mut u8, len: usize) {
    let n = from.len.min(len);
    // SAFETY: the caller guarantees the elements and enough room, and an element whose bytes are all 0 is 0.
    unsafe {
        convert(from.dtype, dtype, from.start, to, n);
        to.add(n * dtype.size()).write_bytes(0, (len - n) * dtype.size());
    }
}
