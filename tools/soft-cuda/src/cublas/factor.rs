//! Stand-ins for cuBLAS's LU factorizations and triangular solvers.

use super::{Handle, Result, Status, with_handle};
use crate::{
    dense::{C, Columns, DenseDtype, Place, lu, read_integers, solve, solve_triangle, write_integers},
    driver::{Work, lock},
    fault::Fault,
    memory::Memory,
};
use std::ffi::{c_int, c_void};

/// Enqueues work on the handle's stream.
fn put(
    handle: &Handle,
    what: String,
    job: impl FnOnce(&mut Memory) -> std::result::Result<(), Fault> + Send + 'static,
) -> Result<()> {
    let mut driver = lock();
    let stream = driver.stream_on(handle.device, handle.stream).map_err(|_| Status::EXECUTION_FAILED)?;
    driver.put_on(stream, what, Work::On(handle.device, Box::new(job)), 0).map_err(|_| Status::EXECUTION_FAILED)
}

fn require(valid: bool) -> Result<()> {
    if valid { Ok(()) } else { Err(Status::INVALID_VALUE) }
}

/// A batch of matrices of one shape. `addresses` is the address, in device memory, of the list of the matrices'
/// addresses.
#[derive(Clone, Copy)]
struct List {
    dtype: DenseDtype,
    addresses: u64,
    rows: usize,
    columns: usize,
    leading: usize,
}

impl List {
    fn place(&self, memory: &Memory, i: usize) -> std::result::Result<Place, Fault> {
        let List { dtype, rows, columns, leading, .. } = *self;
        let address = read_integers(memory, self.addresses + 8 * i as u64, 8, 1)?[0];
        Ok(Place { dtype, address, rows, columns, leading })
    }
}

#[allow(clippy::too_many_arguments)]
fn getrf(
    handle: *mut c_void,
    dtype: DenseDtype,
    n: c_int,
    a: u64,
    lda: c_int,
    pivots: u64,
    codes: u64,
    batch: c_int,
) -> u32 {
    with_handle(handle, |handle| {
        require(n >= 0 && batch >= 0 && lda >= n.max(1))?;
        if n == 0 || batch == 0 {
            return Ok(());
        }
        require(a != 0 && codes != 0)?;
        if pivots == 0 {
            // without pivots, cuBLAS computes factors without row exchanges; the backend makes no such call
            return Err(Status::NOT_SUPPORTED);
        }
        let (n, leading) = (n as usize, lda as usize);
        let list = List { dtype, addresses: a, rows: n, columns: n, leading };
        put(handle, format!("getrf n {n} batches {batch}"), move |memory| {
            (0..batch as usize).try_for_each(|i| {
                let place = list.place(memory, i)?;
                let mut a = place.read(memory)?;
                let (exchanged, singular) = lu(&mut a);
                place.write(memory, &a)?;
                write_integers(memory, pivots + (4 * i * n) as u64, 4, &exchanged)?;
                write_integers(memory, codes + 4 * i as u64, 4, &[singular as i64])
            })
        })
    })
}

/// # Safety
/// `info` must be null or valid for writing a number.
#[allow(clippy::too_many_arguments)]
unsafe fn getrs(
    handle: *mut c_void,
    dtype: DenseDtype,
    operation: u32,
    n: c_int,
    k: c_int,
    a: u64,
    lda: c_int,
    pivots: u64,
    b: u64,
    ldb: c_int,
    info: *mut c_int,
    batch: c_int,
) -> u32 {
    with_handle(handle, |handle| {
        require(!info.is_null())?;
        // `info` is the negated number of the first invalid argument, or 0
        let checks = [
            (operation <= 2, 2),
            (n >= 0, 3),
            (k >= 0, 4),
            (lda >= n.max(1), 6),
            (ldb >= n.max(1), 9),
            (batch >= 0, 11),
        ];
        let wrong = checks.iter().find(|(valid, _)| !valid).map_or(0, |(_, number)| -number);
        // SAFETY: `info` is not null, so the caller guarantees that it is valid for writing a number.
        unsafe { info.write(wrong) };
        require(wrong == 0)?;
        if n == 0 || k == 0 || batch == 0 {
            return Ok(());
        }
        require(a != 0 && b != 0 && pivots != 0)?;
        if operation != 0 {
            return Err(Status::NOT_SUPPORTED);
        }
        let (n, k) = (n as usize, k as usize);
        let list = List { dtype, addresses: a, rows: n, columns: n, leading: lda as usize };
        let sides = List { dtype, addresses: b, rows: n, columns: k, leading: ldb as usize };
        put(handle, format!("getrs n {n} k {k} batches {batch}"), move |memory| {
            (0..batch as usize).try_for_each(|i| {
                let (factors, place) = (list.place(memory, i)?.read(memory)?, sides.place(memory, i)?);
                let exchanged = read_integers(memory, pivots + (4 * i * n) as u64, 4, n)?;
                let mut x = place.read(memory)?;
                solve(&factors, &exchanged, &mut x);
                place.write(memory, &x)
            })
        })
    })
}

/// The settings of a triangular system: the triangle of the matrix to use, the operation on the matrix, a flag for a
/// diagonal of ones, and the factor `alpha` of the right-hand sides.
#[derive(Clone, Copy)]
struct Triangle {
    upper: bool,
    operation: u32,
    unit: bool,
    alpha: C,
}

impl Triangle {
    /// # Safety
    /// `alpha` must be null or point to a number of the dtype.
    unsafe fn of(
        dtype: DenseDtype,
        [side, fill, operation, diagonal]: [u32; 4],
        alpha: *const c_void,
    ) -> Result<Triangle> {
        require(side <= 1 && fill <= 1 && operation <= 2 && diagonal <= 1 && !alpha.is_null())?;
        if side != 0 {
            return Err(Status::NOT_SUPPORTED);
        }
        // SAFETY: the caller guarantees that `alpha` is null or points to a number of the dtype.
        let alpha = unsafe {
            match dtype {
                DenseDtype::Float32 => C::from(f64::from(alpha.cast::<f32>().read())),
                DenseDtype::Float64 => C::from(alpha.cast::<f64>().read()),
                DenseDtype::Complex64 => {
                    let [re, im] = alpha.cast::<[f32; 2]>().read();
                    C::new(f64::from(re), f64::from(im))
                }
                DenseDtype::Complex128 => {
                    let [re, im] = alpha.cast::<[f64; 2]>().read();
                    C::new(re, im)
                }
            }
        };
        Ok(Triangle { upper: fill == 1, operation, unit: diagonal == 1, alpha })
    }

    fn solve(&self, memory: &mut Memory, a: Place, b: Place) -> std::result::Result<(), Fault> {
        let (stored, mut x) = (a.read(memory)?, b.read(memory)?);
        let meant = match self.operation {
            0 => stored,
            1 => Columns::made(a.rows, a.rows, |i, j| stored[(j, i)]),
            _ => stored.adjoint(),
        };
        (0..x.columns).for_each(|j| x.column_mut(j).iter_mut().for_each(|x| *x *= self.alpha));
        solve_triangle(&meant, self.upper != (self.operation == 0), self.unit, &mut x);
        b.write(memory, &x)
    }
}

/// # Safety
/// `alpha` must be null or point to a number of the dtype.
#[allow(clippy::too_many_arguments)]
unsafe fn trsm(
    handle: *mut c_void,
    dtype: DenseDtype,
    modes: [u32; 4],
    m: i64,
    n: i64,
    alpha: *const c_void,
    a: u64,
    lda: i64,
    b: u64,
    ldb: i64,
) -> u32 {
    with_handle(handle, |handle| {
        // SAFETY: the caller guarantees that `alpha` is null or points to a number of the dtype.
        let triangle = unsafe { Triangle::of(dtype, modes, alpha) }?;
        require(m >= 0 && n >= 0 && lda >= m.max(1) && ldb >= m.max(1))?;
        if m == 0 || n == 0 {
            return Ok(());
        }
        require(a != 0 && b != 0)?;
        let (m, n) = (m as usize, n as usize);
        let a = Place { dtype, address: a, rows: m, columns: m, leading: lda as usize };
        let b = Place { dtype, address: b, rows: m, columns: n, leading: ldb as usize };
        put(handle, format!("trsm m {m} n {n}"), move |memory| triangle.solve(memory, a, b))
    })
}

/// # Safety
/// `alpha` must be null or point to a number of the dtype.
#[allow(clippy::too_many_arguments)]
unsafe fn trsm_batched(
    handle: *mut c_void,
    dtype: DenseDtype,
    modes: [u32; 4],
    [m, n]: [c_int; 2],
    alpha: *const c_void,
    a: u64,
    lda: c_int,
    b: u64,
    ldb: c_int,
    batch: c_int,
) -> u32 {
    with_handle(handle, |handle| {
        // SAFETY: the caller guarantees that `alpha` is null or points to a number of the dtype.
        let triangle = unsafe { Triangle::of(dtype, modes, alpha) }?;
        require(m >= 0 && n >= 0 && batch >= 0 && lda >= m.max(1) && ldb >= m.max(1))?;
        if m == 0 || n == 0 || batch == 0 {
            return Ok(());
        }
        require(a != 0 && b != 0)?;
        let (m, n) = (m as usize, n as usize);
        let matrices = List { dtype, addresses: a, rows: m, columns: m, leading: lda as usize };
        let sides = List { dtype, addresses: b, rows: m, columns: n, leading: ldb as usize };
        put(handle, format!("trsm m {m} n {n} batches {batch}"), move |memory| {
            (0..batch as usize).try_for_each(|i| {
                let (a, b) = (matrices.place(memory, i)?, sides.place(memory, i)?);
                triangle.solve(memory, a, b)
            })
        })
    })
}

macro_rules! exported {
    ($($dtype:ident $getrf:ident $getrs:ident $trsm:ident $trsm_batched:ident;)*) => {$(
        /// Overwrites many matrices with their LU factors.
        #[unsafe(no_mangle)]
        pub extern "C" fn $getrf(
            handle: *mut c_void,
            n: c_int,
            a: *const *mut c_void,
            lda: c_int,
            pivots: *mut c_int,
            codes: *mut c_int,
            batch: c_int,
        ) -> u32 {
            getrf(handle, DenseDtype::$dtype, n, a as u64, lda, pivots as u64, codes as u64, batch)
        }

        /// Solves many systems with LU factors, and overwrites their right-hand sides with the solutions.
        ///
        /// # Safety
        /// `info` must be null or valid for writing a number.
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments)]
        pub unsafe extern "C" fn $getrs(
            handle: *mut c_void,
            operation: u32,
            n: c_int,
            k: c_int,
            a: *const *const c_void,
            lda: c_int,
            pivots: *const c_int,
            b: *const *mut c_void,
            ldb: c_int,
            info: *mut c_int,
            batch: c_int,
        ) -> u32 {
            let (dtype, a, b) = (DenseDtype::$dtype, a as u64, b as u64);
            // SAFETY: the caller guarantees that `info` is null or valid for writing a number.
            unsafe { getrs(handle, dtype, operation, n, k, a, lda, pivots as u64, b, ldb, info, batch) }
        }

        /// Solves a triangular system, and overwrites its right-hand sides with the solutions.
        ///
        /// # Safety
        /// `alpha` must be null or point to a number of the dtype.
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments)]
        pub unsafe extern "C" fn $trsm(
            handle: *mut c_void,
            side: u32,
            fill: u32,
            operation: u32,
            diagonal: u32,
            m: i64,
            n: i64,
            alpha: *const c_void,
            a: *const c_void,
            lda: i64,
            b: *mut c_void,
            ldb: i64,
        ) -> u32 {
            let (dtype, modes) = (DenseDtype::$dtype, [side, fill, operation, diagonal]);
            // SAFETY: the caller guarantees that `alpha` is null or points to a number of the dtype.
            unsafe { trsm(handle, dtype, modes, m, n, alpha, a as u64, lda, b as u64, ldb) }
        }

        /// Solves many triangular systems, and overwrites their right-hand sides with the solutions.
        ///
        /// # Safety
        /// `alpha` must be null or point to a number of the dtype.
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments)]
        pub unsafe extern "C" fn $trsm_batched(
            handle: *mut c_void,
            side: u32,
            fill: u32,
            operation: u32,
            diagonal: u32,
            m: c_int,
            n: c_int,
            alpha: *const c_void,
            a: *const *const c_void,
            lda: c_int,
            b: *const *mut c_void,
            ldb: c_int,
            batch: c_int,
        ) -> u32 {
            let (dtype, modes) = (DenseDtype::$dtype, [side, fill, operation, diagonal]);
            // SAFETY: the caller guarantees that `alpha` is null or points to a number of the dtype.
            unsafe { trsm_batched(handle, dtype, modes, [m, n], alpha, a as u64, lda, b as u64, ldb, batch) }
        }
    )*};
}

exported! {
    Float32 cublasSgetrfBatched cublasSgetrsBatched cublasStrsm_v2_64 cublasStrsmBatched;
    Float64 cublasDgetrfBatched cublasDgetrsBatched cublasDtrsm_v2_64 cublasDtrsmBatched;
    Complex64 cublasCgetrfBatched cublasCgetrsBatched cublasCtrsm_v2_64 cublasCtrsmBatched;
    Complex128 cublasZgetrfBatched cublasZgetrsBatched cublasZtrsm_v2_64 cublasZtrsmBatched;
}
