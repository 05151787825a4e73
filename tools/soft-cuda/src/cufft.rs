//! Stand-ins for the cuFFT functions that the backend calls, with cuFFT's conventions and errors.

mod plan;
mod transform;

use crate::driver::{Work, current, lock, put};
use plan::{Direction, Layout, Side, TransformKind};
use std::{
    collections::BTreeMap,
    ffi::{c_int, c_void},
    sync::{Mutex, PoisonError},
};

/// The result of a cuFFT function; the error is a `cufftResult`.
type Result<T> = std::result::Result<T, Status>;

/// An error code of cuFFT: a `cufftResult`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Status(u32);

impl Status {
    const INVALID_PLAN: Status = Status(1);
    const ALLOC_FAILED: Status = Status(2);
    const INVALID_TYPE: Status = Status(3);
    const INVALID_VALUE: Status = Status(4);
    const EXEC_FAILED: Status = Status(6);
    const SETUP_FAILED: Status = Status(7);
    const INVALID_SIZE: Status = Status(8);
    const NO_WORKSPACE: Status = Status(13);
}

/// A plan. `made` is `None` between [`cufftCreate`] and [`cufftMakePlanMany64`], which defines the transforms of the
/// plan.
struct CufftPlan {
    device: usize,
    stream: u64,
    /// Whether the caller provides the work area.
    brings_work: bool,
    made: Option<Layout>,
    /// The address of the work area, or 0.
    work: u64,
    /// Whether the plan has allocated the work area.
    owns_work: bool,
}

/// All plans by handle, and the handle that was assigned last.
struct Plans {
    plans: BTreeMap<c_int, CufftPlan>,
    last: c_int,
}

static PLANS: Mutex<Plans> = Mutex::new(Plans { plans: BTreeMap::new(), last: 0 });

fn with_plans(f: impl FnOnce(&mut Plans) -> Result<()>) -> u32 {
    f(&mut PLANS.lock().unwrap_or_else(PoisonError::into_inner)).map_or_else(|status| status.0, |()| 0)
}

fn with_plan(handle: c_int, f: impl FnOnce(&mut CufftPlan) -> Result<()>) -> u32 {
    with_plans(|plans| f(plans.plans.get_mut(&handle).ok_or(Status::INVALID_PLAN)?))
}

impl CufftPlan {
    /// Frees the work area if the plan has allocated it.
    fn drop_work(&mut self) -> Result<()> {
        if std::mem::take(&mut self.owns_work) {
            lock().free(self.work).map_err(|_| Status::EXEC_FAILED)?;
        }
        self.work = 0;
        Ok(())
    }
}

/// Creates a plan on the current device. [`cufftMakePlanMany64`] must define its transforms before they can run.
///
/// # Safety
/// `handle` must be null or valid for writing a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cufftCreate(handle: *mut c_int) -> u32 {
    with_plans(|plans| {
        let device = {
            let driver = lock();
            let device = driver.device_of(current()).map_err(|_| Status::SETUP_FAILED)?;
            driver.check(device).map_err(|_| Status::SETUP_FAILED)?;
            device
        };
        plans.last += 1;
        // SAFETY: the caller guarantees that `handle` is null or valid for writing a number.
        unsafe { put(handle, plans.last) }.map_err(|_| Status::INVALID_VALUE)?;
        let plan = CufftPlan { device, stream: 0, brings_work: false, made: None, work: 0, owns_work: false };
        plans.plans.insert(plans.last, plan);
        Ok(())
    })
}

/// Destroys a plan. Transforms already on its stream still run.
#[unsafe(no_mangle)]
pub extern "C" fn cufftDestroy(handle: c_int) -> u32 {
    with_plans(|plans| plans.plans.remove(&handle).ok_or(Status::INVALID_PLAN)?.drop_work())
}

/// Sets the stream on which transforms run.
#[unsafe(no_mangle)]
pub extern "C" fn cufftSetStream(handle: c_int, stream: *mut c_void) -> u32 {
    with_plan(handle, |plan| {
        lock().stream_on(plan.device, stream as u64).map_err(|_| Status::INVALID_VALUE)?;
        plan.stream = stream as u64;
        Ok(())
    })
}

/// Sets whether the plan allocates its own work area. Must be called before [`cufftMakePlanMany64`].
#[unsafe(no_mangle)]
pub extern "C" fn cufftSetAutoAllocation(handle: c_int, own: c_int) -> u32 {
    with_plan(handle, |plan| {
        plan.brings_work = own == 0;
        if plan.made.is_none() { Ok(()) } else { Err(Status::INVALID_PLAN) }
    })
}

/// Sets the work area for later transforms. It must have the size that [`cufftMakePlanMany64`] has returned.
#[unsafe(no_mangle)]
pub extern "C" fn cufftSetWorkArea(handle: c_int, work: *mut c_void) -> u32 {
    with_plan(handle, |plan| {
        if plan.made.is_none() {
            return Err(Status::INVALID_PLAN);
        }
        plan.drop_work()?;
        plan.work = work as u64;
        Ok(())
    })
}

/// Defines the transforms of a plan: `batches` transforms along `rank` axes, in cuFFT's advanced data layout. If
/// `from_embed` is null, the input is dense; if `to_embed` is null, the output is dense. Writes the size of the work
/// area in bytes to `work`.
///
/// # Safety
/// `lengths` must have `rank` numbers, and so must `from_embed` and `to_embed` unless they are null; `work` must be
/// null or valid for writing a number.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn cufftMakePlanMany64(
    handle: c_int,
    rank: c_int,
    lengths: *const i64,
    from_embed: *const i64,
    from_stride: i64,
    from_distance: i64,
    to_embed: *const i64,
    to_stride: i64,
    to_distance: i64,
    kind: u32,
    batches: i64,
    work: *mut usize,
) -> u32 {
    with_plan(handle, |plan| {
        if plan.made.is_some() {
            return Err(Status::INVALID_PLAN);
        }
        let kind = TransformKind::of(kind).ok_or(Status::INVALID_TYPE)?;
        if !(1..=3).contains(&rank) || lengths.is_null() || work.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: the caller guarantees that each list has `rank` numbers.
        let list = |at: *const i64| unsafe { std::slice::from_raw_parts(at, rank as usize) }.to_vec();
        let lengths = list(lengths);
        let side = |embed: *const i64, stride, distance, of: Vec<i64>| {
            if embed.is_null() { Side::dense(of) } else { Side { embed: list(embed), stride, distance, of } }
        };
        let from = side(from_embed, from_stride, from_distance, kind.lengths_before(&lengths));
        let to = side(to_embed, to_stride, to_distance, kind.lengths_after(&lengths));
        let layout = Layout { kind, lengths, batches, from, to };
        let bytes = layout.work().ok_or(Status::INVALID_SIZE)?;
        if !plan.brings_work && bytes > 0 {
            plan.work = lock().allocate(plan.device, bytes).map_err(|_| Status::ALLOC_FAILED)?;
            plan.owns_work = true;
        }
        plan.made = Some(layout);
        // SAFETY: the caller guarantees that `work` is null or valid for writing a number.
        unsafe { put(work, bytes) }.map_err(|_| Status::INVALID_VALUE)
    })
}

/// Enqueues a transform on the plan's stream.
fn execute(handle: c_int, kind: TransformKind, direction: c_int, from: u64, to: u64) -> u32 {
    with_plan(handle, |plan| {
        let layout = plan.made.clone().ok_or(Status::INVALID_PLAN)?;
        let direction = Direction::of(direction).ok_or(Status::INVALID_VALUE)?;
        if layout.kind != kind {
            return Err(Status::INVALID_TYPE);
        }
        if from == 0 || to == 0 {
            return Err(Status::INVALID_VALUE);
        }
        if layout.work() != Some(0) && plan.work == 0 {
            return Err(Status::NO_WORKSPACE);
        }
        let mut driver = lock();
        let stream = driver.stream_on(plan.device, plan.stream).map_err(|_| Status::EXEC_FAILED)?;
        let (work, what) = (plan.work, format!("fft {layout:?}"));
        let job = Work::On(plan.device, Box::new(move |memory| layout.run(direction, from, to, work, memory)));
        driver.put_on(stream, what, job, 0).map_err(|_| Status::EXEC_FAILED)
    })
}

/// Transforms complex numbers; `direction` is -1 or 1, the sign of the exponent.
#[unsafe(no_mangle)]
pub extern "C" fn cufftExecC2C(plan: c_int, from: *mut c_void, to: *mut c_void, direction: c_int) -> u32 {
    execute(plan, TransformKind::Complex64, direction, from as u64, to as u64)
}

/// Transforms complex numbers of double precision; `direction` is -1 or 1, the sign of the exponent.
#[unsafe(no_mangle)]
pub extern "C" fn cufftExecZ2Z(plan: c_int, from: *mut c_void, to: *mut c_void, direction: c_int) -> u32 {
    execute(plan, TransformKind::Complex128, direction, from as u64, to as u64)
}

/// Transforms real numbers. The results are only the values at the non-negative frequencies.
#[unsafe(no_mangle)]
pub extern "C" fn cufftExecR2C(plan: c_int, from: *mut c_void, to: *mut c_void) -> u32 {
    execute(plan, TransformKind::ToHalf32, -1, from as u64, to as u64)
}

/// Transforms real numbers of double precision. The results are only the values at the non-negative frequencies.
#[unsafe(no_mangle)]
pub extern "C" fn cufftExecD2Z(plan: c_int, from: *mut c_void, to: *mut c_void) -> u32 {
    execute(plan, TransformKind::ToHalf64, -1, from as u64, to as u64)
}

/// Transforms the values at the non-negative frequencies to real numbers.
#[unsafe(no_mangle)]
pub extern "C" fn cufftExecC2R(plan: c_int, from: *mut c_void, to: *mut c_void) -> u32 {
    execute(plan, TransformKind::FromHalf32, 1, from as u64, to as u64)
}

/// Transforms the values at the non-negative frequencies to real numbers of double precision.
#[unsafe(no_mangle)]
pub extern "C" fn cufftExecZ2D(plan: c_int, from: *mut c_void, to: *mut c_void) -> u32 {
    execute(plan, TransformKind::FromHalf64, 1, from as u64, to as u64)
}
