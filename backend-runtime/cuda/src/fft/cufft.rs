//! cuFFT plans, which are cached by kind and memory layout.

use super::layout::{Layout, Side};
use crate::{Cuda, array::RawArray, device::Device, error::Checked, library::Library};
use backend_core::{DType, Result};
use cudarc::cufft::sys;
use std::sync::{Arc, Mutex, PoisonError};

/// The kind of a transform: whether its input and its result are complex, and its direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TransformKind {
    /// Complex to complex, exponent `-2 pi i jk / n`.
    Forward,
    /// Complex to complex, exponent `+2 pi i jk / n`.
    Inverse,
    /// Real input to its non-negative frequencies, exponent `-2 pi i jk / n`.
    ToHalf,
    /// Non-negative frequencies to real output, exponent `+2 pi i jk / n`.
    FromHalf,
}

/// The properties that distinguish one plan from another.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Key {
    kind: sys::cufftType,
    layout: Layout,
}

struct CufftPlan {
    key: Key,
    device: Arc<Device>,
    raw: sys::cufftHandle,
    /// Size of the work area for one run, in bytes.
    work: usize,
}

/// Maximum number of cached plans. If there are more, the least recently used plan is destroyed.
const MAX_CACHED_PLANS: usize = 64;

/// The cached plans, most recently used last.
static PLANS: Mutex<Vec<CufftPlan>> = Mutex::new(Vec::new());

/// Transforms `from` and writes the result to `to`, which must not overlap `from`. The layout describes both arrays.
pub(super) fn run(
    b: &Cuda,
    op: &'static str,
    kind: TransformKind,
    layout: Layout,
    from: &RawArray,
    to: &RawArray,
) -> Result<()> {
    Library::Cufft.load()?;
    let double = matches!(to.dtype, DType::Float64 | DType::Complex128);
    let key = Key { kind: cufft_type(kind, double), layout };
    let mut plans = PLANS.lock().unwrap_or_else(PoisonError::into_inner);
    b.device.bind(op)?;
    let known = plans.iter().position(|plan| plan.key == key && Arc::ptr_eq(&plan.device, &b.device));
    let plan = match known {
        Some(place) => plans.remove(place),
        None => CufftPlan::new(b, op, key)?,
    };
    let raw = plan.raw;
    // the work area returns to the pool of free memory when this function returns; kernels run in order, so a later
    // kernel that gets the same memory cannot disturb this transform
    let work = b.scratch(op, plan.work, 1)?;
    plans.push(plan);
    if plans.len() > MAX_CACHED_PLANS {
        let oldest = plans.remove(0);
        // SAFETY: the handle was removed from the list, and destroying it waits for its work.
        unsafe { sys::cufftDestroy(oldest.raw) }.result().checked(op)?;
    }
    // SAFETY: the work area is as large as the plan requires; the layout describes both arrays.
    unsafe {
        if work.size() > 0 {
            sys::cufftSetWorkArea(raw, work.pointer() as _).result().checked(op)?;
        }
        execute(raw, kind, double, from.pointer(), to.pointer()).result().checked(op)?;
    }
    b.device.after_put(op)
}

/// Destroys the plans of a device after their work has finished.
pub(crate) fn forget_plans(device: &Arc<Device>, op: &'static str) -> Result<()> {
    let mut plans = PLANS.lock().unwrap_or_else(PoisonError::into_inner);
    if !plans.iter().any(|plan| Arc::ptr_eq(&plan.device, device)) {
        return Ok(());
    }
    // this thread holds the lock, so no other thread can set a plan's work area; queued transforms run to their end
    device.synchronize(op)?;
    let ended = plans.extract_if(.., |plan| Arc::ptr_eq(&plan.device, device)).map(|plan| {
        // SAFETY: the handle was removed from the list, the device is current, and the plan's work has finished.
        unsafe { sys::cufftDestroy(plan.raw) }.result().checked(op)
    });
    // destroys all plans, even after one fails
    ended.collect::<Vec<_>>().into_iter().collect()
}

fn cufft_type(kind: TransformKind, double: bool) -> sys::cufftType {
    use sys::cufftType::*;
    match (kind, double) {
        (TransformKind::Forward | TransformKind::Inverse, false) => CUFFT_C2C,
        (TransformKind::Forward | TransformKind::Inverse, true) => CUFFT_Z2Z,
        (TransformKind::ToHalf, false) => CUFFT_R2C,
        (TransformKind::ToHalf, true) => CUFFT_D2Z,
        (TransformKind::FromHalf, false) => CUFFT_C2R,
        (TransformKind::FromHalf, true) => CUFFT_Z2D,
    }
}

impl CufftPlan {
    fn new(b: &Cuda, op: &'static str, key: Key) -> Result<CufftPlan> {
        let mut plan = CufftPlan { key, device: b.device.clone(), raw: 0, work: 0 };
        // SAFETY: the library is loaded, the device current and the stream alive.
        unsafe {
            sys::cufftCreate(&mut plan.raw).result().checked(op)?;
            let ready = plan.make(b.device.stream().cast());
            if ready.is_err() {
                sys::cufftDestroy(plan.raw);
            }
            ready.checked(op)?;
        }
        Ok(plan)
    }

    /// # Safety
    /// `cufftCreate` has created the handle of the plan, and this method was not called before; the stream is alive.
    unsafe fn make(&mut self, stream: sys::cudaStream_t) -> std::result::Result<(), cudarc::cufft::result::CufftError> {
        let Layout { points, batches, from, to } = &self.key.layout;
        let mut points = points.clone();
        let [mut from_embed, mut to_embed] = [from, to].map(|side: &Side| side.embed.clone());
        // SAFETY: the caller guarantees that the plan is created and the stream is alive; each list has one length per
        // axis.
        unsafe {
            sys::cufftSetAutoAllocation(self.raw, 0).result()?;
            sys::cufftMakePlanMany64(
                self.raw,
                points.len() as i32,
                points.as_mut_ptr(),
                from_embed.as_mut_ptr(),
                from.stride,
                from.distance,
                to_embed.as_mut_ptr(),
                to.stride,
                to.distance,
                self.key.kind,
                *batches,
                &mut self.work,
            )
            .result()?;
            sys::cufftSetStream(self.raw, stream).result()
        }
    }
}

/// # Safety
/// The pointers refer to device memory, and all accesses of the plan's layout stay within it.
unsafe fn execute(plan: sys::cufftHandle, kind: TransformKind, double: bool, from: u64, to: u64) -> sys::cufftResult {
    const FORWARD: i32 = -1;
    const INVERSE: i32 = 1;
    let direction = if kind == TransformKind::Forward { FORWARD } else { INVERSE };
    // SAFETY: the caller guarantees that all accesses stay within device memory; the element types are those of the
    // plan.
    unsafe {
        match (kind, double) {
            (TransformKind::Forward | TransformKind::Inverse, false) => {
                sys::cufftExecC2C(plan, from as _, to as _, direction)
            }
            (TransformKind::Forward | TransformKind::Inverse, true) => {
                sys::cufftExecZ2Z(plan, from as _, to as _, direction)
            }
            (TransformKind::ToHalf, false) => sys::cufftExecR2C(plan, from as _, to as _),
            (TransformKind::ToHalf, true) => sys::cufftExecD2Z(plan, from as _, to as _),
            (TransformKind::FromHalf, false) => sys::cufftExecC2R(plan, from as _, to as _),
            (TransformKind::FromHalf, true) => sys::cufftExecZ2D(plan, from as _, to as _),
        }
    }
}
