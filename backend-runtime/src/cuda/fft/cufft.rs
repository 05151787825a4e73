//! Plans of cuFFT, made once for each layout.

use super::layout::{Layout, Side};
use crate::{
    DType, Result,
    cuda::{Cuda, array::Raw, device::Device, error::Checked, library::Library},
};
use cudarc::cufft::sys;
use std::sync::{Arc, Mutex, PoisonError};

/// What a transform makes of what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Complex to complex, exponent `-2 pi i jk / n`.
    Forward,
    /// Complex to complex, exponent `+2 pi i jk / n`.
    Inverse,
    /// Real to its non-negative frequencies, exponent `-2 pi i jk / n`.
    ToHalf,
    /// Non-negative frequencies to real, exponent `+2 pi i jk / n`.
    FromHalf,
}

/// What a plan is for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Key {
    kind: sys::cufftType,
    layout: Layout,
}

struct Plan {
    key: Key,
    device: Arc<Device>,
    raw: sys::cufftHandle,
    /// Bytes of work area that a run needs.
    work: usize,
}

/// Beyond this many plans the one that was not used for longest goes.
const MOST: usize = 64;

/// The plans in use, the latest last.
static PLANS: Mutex<Vec<Plan>> = Mutex::new(Vec::new());

/// Transforms every lane of `from`, along its last axis, into `to`; both are contiguous, and lie apart.
pub(super) fn run(
    b: &Cuda,
    op: &'static str,
    kind: Kind,
    points: usize,
    from: &Raw,
    to: &Raw,
) -> Result<()> {
    let lanes = to.shape[..to.shape.len() - 1].iter().product();
    if lanes == 0 || to.size() == 0 {
        return Ok(());
    }
    Library::Cufft.load()?;
    let double = matches!(to.dtype, DType::Float64 | DType::Complex128);
    let key = Key {
        kind: cufft_type(kind, double),
        points,
        lanes,
    };
    let mut plans = PLANS.lock().unwrap_or_else(PoisonError::into_inner);
    b.device.bind(op)?;
    let known = plans
        .iter()
        .position(|plan| plan.key == key && Arc::ptr_eq(&plan.device, &b.device));
    let plan = match known {
        Some(place) => plans.remove(place),
        None => Plan {
            key,
            device: b.device.clone(),
            raw: make(b, op, key)?,
        },
    };
    let raw = plan.raw;
    // the work area is the pool's: what runs after this on the stream may have it
    let work = b.scratch(op, plan.work, 1)?;
    plans.push(plan);
    if plans.len() > MOST {
        let oldest = plans.remove(0);
        // SAFETY: the handle is taken out of the list, and destroying it waits for its work.
        unsafe { sys::cufftDestroy(oldest.raw) }
            .result()
            .checked(op)?;
    }
    // SAFETY: the plan is for lanes of this length and number, which both arrays have.
    unsafe { execute(raw, kind, double, from.pointer(), to.pointer()) }
        .result()
        .checked(op)
}

fn cufft_type(kind: Kind, double: bool) -> sys::cufftType {
    use sys::cufftType::*;
    match (kind, double) {
        (Kind::Forward | Kind::Inverse, false) => CUFFT_C2C,
        (Kind::Forward | Kind::Inverse, true) => CUFFT_Z2Z,
        (Kind::ToHalf, false) => CUFFT_R2C,
        (Kind::ToHalf, true) => CUFFT_D2Z,
        (Kind::FromHalf, false) => CUFFT_C2R,
        (Kind::FromHalf, true) => CUFFT_Z2D,
    }
}

/// A plan for lanes that follow each other.
fn make(b: &Cuda, op: &'static str, key: Key) -> Result<sys::cufftHandle> {
    let (mut raw, mut work) = (0, 0);
    let mut points = key.points as i64;
    let none = std::ptr::null_mut();
    // SAFETY: the library is loaded, the device current and the stream alive; without embeddings the strides are those of
    // lanes that follow each other, whatever is given for them.
    unsafe {
        sys::cufftCreate(&mut raw).result().checked(op)?;
        let made = sys::cufftMakePlanMany64(
            raw,
            1,
            &mut points,
            none,
            1,
            0,
            none,
            1,
            0,
            key.kind,
            key.lanes as i64,
            &mut work,
        );
        let ready = made
            .result()
            .and_then(|()| sys::cufftSetStream(raw, b.device.stream().cast()).result());
        if ready.is_err() {
            sys::cufftDestroy(raw);
        }
    }
}

/// # Safety
/// The pointers are to memory of the device as large as the plan's lanes.
unsafe fn execute(
    plan: sys::cufftHandle,
    kind: Kind,
    double: bool,
    from: u64,
    to: u64,
) -> sys::cufftResult {
    const FORWARD: i32 = -1;
    const INVERSE: i32 = 1;
    let direction = if kind == Kind::Forward {
        FORWARD
    } else {
        INVERSE
    };
    // SAFETY: as the caller promises; the element types are those of the plan.
    unsafe {
        match (kind, double) {
            (Kind::Forward | Kind::Inverse, false) => {
                sys::cufftExecC2C(plan, from as _, to as _, direction)
            }
            (Kind::Forward | Kind::Inverse, true) => {
                sys::cufftExecZ2Z(plan, from as _, to as _, direction)
            }
            (Kind::ToHalf, false) => sys::cufftExecR2C(plan, from as _, to as _),
            (Kind::ToHalf, true) => sys::cufftExecD2Z(plan, from as _, to as _),
            (Kind::FromHalf, false) => sys::cufftExecC2R(plan, from as _, to as _),
            (Kind::FromHalf, true) => sys::cufftExecZ2D(plan, from as _, to as _),
        }
    }
}
