//! Stand-ins for the cuSOLVER functions that exist once per dtype.

use super::{Room, Status, handles, require, submit, with_handle};
use crate::{
    dense::{DenseDtype, Place, orthonormal, read_integers, svd, write_integers},
    driver::put,
};
use std::ffi::{c_int, c_void};

#[allow(clippy::too_many_arguments)]
fn potrf_batched(
    handle: *mut c_void,
    dtype: DenseDtype,
    fill: u32,
    n: c_int,
    a: u64,
    lda: c_int,
    codes: u64,
    batch: c_int,
) -> u32 {
    with_handle(handle, |handle| {
        require(fill <= 1 && n >= 0 && batch >= 0 && lda >= n.max(1))?;
        if n == 0 || batch == 0 {
            return Ok(());
        }
        require(a != 0 && codes != 0)?;
        let (n, leading) = (n as usize, lda as usize);
        submit(handle, format!("potrf n {n} batches {batch}"), move |memory| {
            (0..batch as u64).try_for_each(|i| {
                let address = read_integers(memory, a + 8 * i, 8, 1)?[0];
                let place = Place { dtype, address, rows: n, columns: n, leading };
                super::generic::potrf_in_place(memory, place, fill == 1, codes + 4 * i)
            })
        })
    })
}

/// Checks the arguments of `orgqr`, which overwrites a matrix with the first columns of a product of reflections.
/// Returns this matrix, and the number of elements of work memory.
fn of_orgqr(dtype: DenseDtype, [m, n, k]: [c_int; 3], a: u64, lda: c_int, tau: u64) -> super::Result<(Place, usize)> {
    require(m >= 0 && n >= 0 && n <= m && k >= 0 && k <= n && lda >= m.max(1))?;
    require(a != 0 && tau != 0 || m == 0 || n == 0)?;
    let place = Place { dtype, address: a, rows: m as usize, columns: n as usize, leading: lda as usize };
    Ok((place, 8 * place.columns.max(1)))
}

/// # Safety
/// `size` must be null or valid for writing a number.
unsafe fn orgqr_size(
    handle: *mut c_void,
    dtype: DenseDtype,
    lengths: [c_int; 3],
    a: u64,
    lda: c_int,
    tau: u64,
    size: *mut c_int,
) -> u32 {
    with_handle(handle, |_| {
        let (_, needed) = of_orgqr(dtype, lengths, a, lda, tau)?;
        // SAFETY: the caller guarantees that `size` is null or valid for writing a number.
        unsafe { put(size, needed as c_int) }.map_err(|_| Status::INVALID_VALUE)
    })
}

#[allow(clippy::too_many_arguments)]
fn orgqr(
    handle: *mut c_void,
    dtype: DenseDtype,
    lengths: [c_int; 3],
    a: u64,
    lda: c_int,
    tau: u64,
    work: u64,
    size: c_int,
    code: u64,
) -> u32 {
    with_handle(handle, |handle| {
        let (place, needed) = of_orgqr(dtype, lengths, a, lda, tau)?;
        require(size >= needed as c_int && work != 0 && code != 0)?;
        let room = Room { device: work, bytes: size as usize * dtype.size() };
        let tau = Place::list(dtype, tau, lengths[2] as usize);
        submit(handle, format!("orgqr {lengths:?}"), move |memory| {
            let numbers = if tau.rows == 0 { Vec::new() } else { tau.read(memory)?.column(0).to_vec() };
            let q = orthonormal(&place.read(memory)?, &numbers);
            place.write(memory, &q)?;
            write_integers(memory, code, 4, &[0])?;
            room.spoil(memory)
        })
    })
}

/// The arguments of a singular value decomposition by Jacobi's method.
#[derive(Clone, Copy)]
struct Jacobi {
    dtype: DenseDtype,
    mode: u32,
    lengths: [c_int; 2],
    a: u64,
    lda: c_int,
    s: u64,
    u: u64,
    ldu: c_int,
    v: u64,
    ldv: c_int,
    settings: u64,
    batch: c_int,
}

impl Jacobi {
    /// The largest number of rows or columns that this method accepts.
    const MAX_SIZE: c_int = 32;

    /// Checks the arguments; returns the number of elements of work memory.
    fn check(&self) -> super::Result<usize> {
        let Jacobi { mode, lengths: [m, n], lda, ldu, ldv, batch, .. } = *self;
        require(handles().jacobi.contains(&self.settings))?;
        require(mode <= 1 && m >= 0 && n >= 0 && batch >= 0 && m.max(n) <= Jacobi::MAX_SIZE)?;
        require(lda >= m.max(1) && ldu >= m.max(1) && ldv >= n.max(1) && self.a != 0 && self.s != 0)?;
        require(mode == 0 || (self.u != 0 && self.v != 0))?;
        Ok(batch as usize * (m + n) as usize)
    }

    /// # Safety
    /// `size` must be null or valid for writing a number.
    unsafe fn size(&self, handle: *mut c_void, size: *mut c_int) -> u32 {
        with_handle(handle, |_| {
            let needed = self.check()?;
            // SAFETY: the caller guarantees that `size` is null or valid for writing a number.
            unsafe { put(size, needed as c_int) }.map_err(|_| Status::INVALID_VALUE)
        })
    }

    fn run(self, handle: *mut c_void, work: u64, size: c_int, codes: u64) -> u32 {
        with_handle(handle, |handle| {
            let needed = self.check()?;
            require(size >= needed as c_int && codes != 0 && (needed == 0 || work != 0))?;
            let Jacobi { dtype, mode, lengths: [m, n], lda, ldu, ldv, .. } = self;
            let [rows, columns] = [m as usize, n as usize];
            let matrix = |address, rows, columns, leading: c_int| Place {
                dtype,
                address,
                rows,
                columns,
                leading: leading as usize,
            };
            let a = matrix(self.a, rows, columns, lda);
            let s = Place::list(dtype.real(), self.s, rows.min(columns));
            let vectors = [matrix(self.u, rows, rows, ldu), matrix(self.v, columns, columns, ldv)];
            let room = Room { device: work, bytes: size as usize * dtype.size() };
            submit(handle, format!("gesvdj m {m} n {n} batches {}", self.batch), move |memory| {
                for i in 0..self.batch as usize {
                    let found = svd(&a.next(i).read(memory)?);
                    let code = if found.is_none() { s.rows as i64 + 1 } else { 0 };
                    write_integers(memory, codes + 4 * i as u64, 4, &[code])?;
                    if let Some((values, u, v)) = found {
                        s.next(i).write_reals(memory, &values)?;
                        if mode == 1 {
                            vectors[0].next(i).write(memory, &u)?;
                            vectors[1].next(i).write(memory, &v)?;
                        }
                    }
                }
                room.spoil(memory)
            })
        })
    }
}

macro_rules! exported {
    ($($dtype:ident $potrf:ident $orgqr_size:ident $orgqr:ident $gesvdj_size:ident $gesvdj:ident;)*) => {$(
        /// Overwrites many matrices with their Cholesky factors.
        #[unsafe(no_mangle)]
        pub extern "C" fn $potrf(
            handle: *mut c_void,
            fill: u32,
            n: c_int,
            a: *mut *mut c_void,
            lda: c_int,
            codes: *mut c_int,
            batch: c_int,
        ) -> u32 {
            potrf_batched(handle, DenseDtype::$dtype, fill, n, a as u64, lda, codes as u64, batch)
        }

        /// Writes the number of elements of work memory that `orgqr` (for complex numbers, `ungqr`) needs.
        ///
        /// # Safety
        /// `size` must be null or valid for writing a number.
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments)]
        pub unsafe extern "C" fn $orgqr_size(
            handle: *mut c_void,
            m: c_int,
            n: c_int,
            k: c_int,
            a: *const c_void,
            lda: c_int,
            tau: *const c_void,
            size: *mut c_int,
        ) -> u32 {
            // SAFETY: the caller guarantees that `size` is null or valid for writing a number.
            unsafe { orgqr_size(handle, DenseDtype::$dtype, [m, n, k], a as u64, lda, tau as u64, size) }
        }

        /// Computes the first columns of a product of Householder reflections. The vectors of the reflections are below
        /// the diagonal of the matrix `a`, which is overwritten with the result.
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments)]
        pub extern "C" fn $orgqr(
            handle: *mut c_void,
            m: c_int,
            n: c_int,
            k: c_int,
            a: *mut c_void,
            lda: c_int,
            tau: *const c_void,
            work: *mut c_void,
            size: c_int,
            code: *mut c_int,
        ) -> u32 {
            let (dtype, lengths) = (DenseDtype::$dtype, [m, n, k]);
            orgqr(handle, dtype, lengths, a as u64, lda, tau as u64, work as u64, size, code as u64)
        }

        /// Writes the number of elements of work memory that `gesvdj` (singular values by Jacobi's method) needs.
        ///
        /// # Safety
        /// `size` must be null or valid for writing a number.
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments)]
        pub unsafe extern "C" fn $gesvdj_size(
            handle: *mut c_void,
            mode: u32,
            m: c_int,
            n: c_int,
            a: *const c_void,
            lda: c_int,
            s: *const c_void,
            u: *const c_void,
            ldu: c_int,
            v: *const c_void,
            ldv: c_int,
            size: *mut c_int,
            settings: *mut c_void,
            batch: c_int,
        ) -> u32 {
            let (dtype, lengths, settings) = (DenseDtype::$dtype, [m, n], settings as u64);
            let (a, s, u, v) = (a as u64, s as u64, u as u64, v as u64);
            // SAFETY: the caller guarantees that `size` is null or valid for writing a number.
            unsafe { Jacobi { dtype, mode, lengths, a, lda, s, u, ldu, v, ldv, settings, batch }.size(handle, size) }
        }

        /// Computes singular values and vectors of many small matrices by Jacobi's method.
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments)]
        pub extern "C" fn $gesvdj(
            handle: *mut c_void,
            mode: u32,
            m: c_int,
            n: c_int,
            a: *mut c_void,
            lda: c_int,
            s: *mut c_void,
            u: *mut c_void,
            ldu: c_int,
            v: *mut c_void,
            ldv: c_int,
            work: *mut c_void,
            size: c_int,
            codes: *mut c_int,
            settings: *mut c_void,
            batch: c_int,
        ) -> u32 {
            let (dtype, lengths, settings) = (DenseDtype::$dtype, [m, n], settings as u64);
            let (a, s, u, v) = (a as u64, s as u64, u as u64, v as u64);
            let call = Jacobi { dtype, mode, lengths, a, lda, s, u, ldu, v, ldv, settings, batch };
            call.run(handle, work as u64, size, codes as u64)
        }
    )*};
}

exported! {
    Float32 cusolverDnSpotrfBatched cusolverDnSorgqr_bufferSize cusolverDnSorgqr cusolverDnSgesvdjBatched_bufferSize
        cusolverDnSgesvdjBatched;
    Float64 cusolverDnDpotrfBatched cusolverDnDorgqr_bufferSize cusolverDnDorgqr cusolverDnDgesvdjBatched_bufferSize
        cusolverDnDgesvdjBatched;
    Complex64 cusolverDnCpotrfBatched cusolverDnCungqr_bufferSize cusolverDnCungqr cusolverDnCgesvdjBatched_bufferSize
        cusolverDnCgesvdjBatched;
    Complex128 cusolverDnZpotrfBatched cusolverDnZungqr_bufferSize cusolverDnZungqr cusolverDnZgesvdjBatched_bufferSize
        cusolverDnZgesvdjBatched;
}
