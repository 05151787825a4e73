//! Lanes of an array of any layout, one after the other, as contiguous points of a dtype.

use super::super::{
    buffer::Buffer,
    convert::convert,
    copy,
    layout::{self, Dim, Offsets},
    raw::View,
};
use crate::{DType, Result};

/// The lanes along an axis: where they lie, or from copies.
pub struct Contiguous<'a> {
    x: View<'a>,
    axes: Vec<Dim>,
    lane: Dim,
    dtype: DType,
    /// Room for a lane whose points are not next to each other.
    gathered: Option<Buffer>,
    /// Room for the points of one of another dtype, or with fewer points; after them come zeros.
    converted: Option<Buffer>,
}

impl<'a> Contiguous<'a> {
    /// Of `points` each: lanes that are longer are cut, shorter ones are continued by zeros.
    pub fn new(op: &'static str, x: View<'a>, axis: usize, dtype: DType, points: usize) -> Result<Contiguous<'a>> {
        let mut axes = layout::dims(x);
        let Dim { len, stride } = axes.remove(axis);
        let lane = Dim { len: len.min(points), stride };
        let gathered = if stride == 1 || len == 1 { None } else { Some(Buffer::new(op, lane.len, x.dtype)?) };
        let converted = if x.dtype == dtype && len >= points { None } else { Some(Buffer::zeroed(op, points, dtype)?) };
        Ok(Contiguous { x, axes, lane, dtype, gathered, converted })
    }

    /// Calls `f` with the number of each lane and the address of its points.
    pub fn each(&self, mut f: impl FnMut(usize, *const u8) -> Result<()>) -> Result<()> {
        let Contiguous { x, axes, lane, dtype, gathered, converted } = self;
        for (k, offset) in Offsets::at(axes, 0).take(layout::size(axes)).enumerate() {
            // SAFETY: the offset is that of a lane; both buffers have room for its points.
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

/// Elements one after the other, of any dtype.
#[derive(Clone, Copy)]
pub struct Elements {
    pub dtype: DType,
    pub start: *const u8,
    pub len: usize,
}

/// The beginning of a lane in another dtype, continued by zeros.
///
/// # Safety
/// The elements are there, and room for `len`, apart from them.
pub unsafe fn pad(from: Elements, dtype: DType, to: *mut u8, len: usize) {
    let n = from.len.min(len);
    // SAFETY: the caller's promise; zero bytes are zeros.
    unsafe {
        convert(from.dtype, dtype, from.start, to, n);
        to.add(n * dtype.size()).write_bytes(0, (len - n) * dtype.size());
    }
}
