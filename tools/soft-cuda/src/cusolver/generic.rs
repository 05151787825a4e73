//! Stand-ins for cuSOLVER's generic functions, which take dtypes as arguments.

use super::{Result, Room, Status, answer, require, submit, with_params};
use crate::dense::{
    C, Columns, DenseDtype, Place, cholesky, eig, eigh, lu, qr, read_integers, solve, svd, write_integers,
};
use std::ffi::{c_char, c_int, c_void};

/// Returns the dtype of a call, from its storage type `of` and its compute type, which must be equal.
fn dtype(of: u32, compute: u32) -> Result<DenseDtype> {
    require(of == compute)?;
    DenseDtype::of(of).ok_or(Status::NOT_SUPPORTED)
}

/// Checks a matrix argument: the lengths must not be negative, and the columns must not overlap.
fn matrix(dtype: DenseDtype, address: u64, rows: i64, columns: i64, leading: i64) -> Result<Place> {
    require(rows >= 0 && columns >= 0 && leading >= rows.max(1))?;
    require(address != 0 || rows == 0 || columns == 0)?;
    Ok(Place { dtype, address, rows: rows as usize, columns: columns as usize, leading: leading as usize })
}

/// Replaces one triangle of a Hermitian matrix by its Cholesky factor. Returns the error code of [`cholesky`].
fn factor_triangle(a: &mut Columns, upper: bool) -> usize {
    if !upper {
        return cholesky(a);
    }
    let mut turned = a.adjoint();
    let code = cholesky(&mut turned);
    for j in 0..a.columns {
        (0..=j).for_each(|i| a[(i, j)] = turned[(j, i)].conj());
    }
    code
}

/// Overwrites a matrix in device memory with its Cholesky factor, and writes the error code to the address `code`.
pub(super) fn potrf_in_place(
    memory: &mut crate::memory::Memory,
    place: Place,
    upper: bool,
    code: u64,
) -> std::result::Result<(), crate::fault::Fault> {
    let mut a = place.read(memory)?;
    let failed = factor_triangle(&mut a, upper);
    place.write(memory, &a)?;
    write_integers(memory, code, 4, &[failed as i64])
}

/// Writes the sizes in bytes of the work memory for a Cholesky factorization.
///
/// # Safety
/// `device` and `host` must be null or valid for writing a number.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn cusolverDnXpotrf_bufferSize(
    handle: *mut c_void,
    params: *mut c_void,
    fill: u32,
    n: i64,
    of: u32,
    a: *const c_void,
    lda: i64,
    compute: u32,
    device: *mut usize,
    host: *mut usize,
) -> u32 {
    with_params(handle, params, |_| {
        require(fill <= 1)?;
        let a = matrix(dtype(of, compute)?, a as u64, n, n, lda)?;
        // SAFETY: the caller guarantees that `device` and `host` are null or valid for writing a number.
        unsafe { answer(of_potrf(a), device, host) }
    })
}

fn of_potrf(a: Place) -> [usize; 2] {
    [a.rows * a.dtype.size(), 0]
}

/// Overwrites one triangle of a matrix with its Cholesky factor.
///
/// # Safety
/// The host memory must have `host_bytes` bytes.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn cusolverDnXpotrf(
    handle: *mut c_void,
    params: *mut c_void,
    fill: u32,
    n: i64,
    of: u32,
    a: *mut c_void,
    lda: i64,
    compute: u32,
    work: *mut c_void,
    bytes: usize,
    host: *mut c_void,
    host_bytes: usize,
    code: *mut c_int,
) -> u32 {
    with_params(handle, params, |handle| {
        require(fill <= 1 && !code.is_null())?;
        let a = matrix(dtype(of, compute)?, a as u64, n, n, lda)?;
        // SAFETY: the caller guarantees that the host memory has `host_bytes` bytes.
        let room = unsafe { Room::of(of_potrf(a), work, bytes, host, host_bytes)? };
        let code = code as u64;
        submit(handle, format!("potrf n {n}"), move |memory| {
            potrf_in_place(memory, a, fill == 1, code)?;
            room.spoil(memory)
        })
    })
}

fn of_getrf(a: Place) -> [usize; 2] {
    [a.rows * a.columns * a.dtype.size(), 8 * a.rows]
}

/// Writes the sizes in bytes of the work memory for an LU factorization.
///
/// # Safety
/// `device` and `host` must be null or valid for writing a number.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn cusolverDnXgetrf_bufferSize(
    handle: *mut c_void,
    params: *mut c_void,
    m: i64,
    n: i64,
    of: u32,
    a: *const c_void,
    lda: i64,
    compute: u32,
    device: *mut usize,
    host: *mut usize,
) -> u32 {
    with_params(handle, params, |_| {
        let a = matrix(dtype(of, compute)?, a as u64, m, n, lda)?;
        // SAFETY: the caller guarantees that `device` and `host` are null or valid for writing a number.
        unsafe { answer(of_getrf(a), device, host) }
    })
}

/// Computes the LU factors of a matrix, with row exchanges. Only square matrices are supported here.
///
/// # Safety
/// The host memory must have `host_bytes` bytes.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn cusolverDnXgetrf(
    handle: *mut c_void,
    params: *mut c_void,
    m: i64,
    n: i64,
    of: u32,
    a: *mut c_void,
    lda: i64,
    pivots: *mut i64,
    compute: u32,
    work: *mut c_void,
    bytes: usize,
    host: *mut c_void,
    host_bytes: usize,
    code: *mut c_int,
) -> u32 {
    with_params(handle, params, |handle| {
        let a = matrix(dtype(of, compute)?, a as u64, m, n, lda)?;
        require(!code.is_null())?;
        if m != n || pivots.is_null() {
            return Err(Status::NOT_SUPPORTED);
        }
        // SAFETY: the caller guarantees that the host memory has `host_bytes` bytes.
        let room = unsafe { Room::of(of_getrf(a), work, bytes, host, host_bytes)? };
        let (pivots, code) = (pivots as u64, code as u64);
        submit(handle, format!("getrf n {n}"), move |memory| {
            let mut factors = a.read(memory)?;
            let (exchanged, singular) = lu(&mut factors);
            a.write(memory, &factors)?;
            write_integers(memory, pivots, 8, &exchanged)?;
            write_integers(memory, code, 4, &[singular as i64])?;
            room.spoil(memory)
        })
    })
}

/// Solves systems with LU factors, and overwrites the right-hand sides with the solutions.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)]
pub extern "C" fn cusolverDnXgetrs(
    handle: *mut c_void,
    params: *mut c_void,
    operation: u32,
    n: i64,
    k: i64,
    of: u32,
    a: *const c_void,
    lda: i64,
    pivots: *const i64,
    of_b: u32,
    b: *mut c_void,
    ldb: i64,
    code: *mut c_int,
) -> u32 {
    with_params(handle, params, |handle| {
        let dtype = dtype(of, of_b)?;
        let (a, b) = (matrix(dtype, a as u64, n, n, lda)?, matrix(dtype, b as u64, n, k, ldb)?);
        require(operation <= 2 && !pivots.is_null() && !code.is_null())?;
        if operation != 0 {
            return Err(Status::NOT_SUPPORTED);
        }
        let (pivots, code) = (pivots as u64, code as u64);
        submit(handle, format!("getrs n {n} k {k}"), move |memory| {
            let (factors, mut x) = (a.read(memory)?, b.read(memory)?);
            solve(&factors, &read_integers(memory, pivots, 8, a.rows)?, &mut x);
            b.write(memory, &x)?;
            write_integers(memory, code, 4, &[0])
        })
    })
}

fn of_geqrf(a: Place) -> [usize; 2] {
    [a.columns * 32 * a.dtype.size(), 16]
}

/// Writes the sizes in bytes of the work memory for a QR factorization.
///
/// # Safety
/// `device` and `host` must be null or valid for writing a number.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn cusolverDnXgeqrf_bufferSize(
    handle: *mut c_void,
    params: *mut c_void,
    m: i64,
    n: i64,
    of: u32,
    a: *const c_void,
    lda: i64,
    of_tau: u32,
    _: *const c_void,
    compute: u32,
    device: *mut usize,
    host: *mut usize,
) -> u32 {
    with_params(handle, params, |_| {
        require(of_tau == of)?;
        let a = matrix(dtype(of, compute)?, a as u64, m, n, lda)?;
        // SAFETY: the caller guarantees that `device` and `host` are null or valid for writing a number.
        unsafe { answer(of_geqrf(a), device, host) }
    })
}

/// Computes the QR factors of a matrix: the triangular factor R, and the Householder reflections whose product is Q.
///
/// # Safety
/// The host memory must have `host_bytes` bytes.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn cusolverDnXgeqrf(
    handle: *mut c_void,
    params: *mut c_void,
    m: i64,
    n: i64,
    of: u32,
    a: *mut c_void,
    lda: i64,
    of_tau: u32,
    tau: *mut c_void,
    compute: u32,
    work: *mut c_void,
    bytes: usize,
    host: *mut c_void,
    host_bytes: usize,
    code: *mut c_int,
) -> u32 {
    with_params(handle, params, |handle| {
        require(of_tau == of && !tau.is_null() && !code.is_null())?;
        let a = matrix(dtype(of, compute)?, a as u64, m, n, lda)?;
        // SAFETY: the caller guarantees that the host memory has `host_bytes` bytes.
        let room = unsafe { Room::of(of_geqrf(a), work, bytes, host, host_bytes)? };
        let (tau, code) = (Place::list(a.dtype, tau as u64, a.rows.min(a.columns)), code as u64);
        submit(handle, format!("geqrf m {m} n {n}"), move |memory| {
            let mut factors = a.read(memory)?;
            let reflections = qr(&mut factors);
            a.write(memory, &factors)?;
            tau.write_list(memory, &reflections)?;
            write_integers(memory, code, 4, &[0])?;
            room.spoil(memory)
        })
    })
}

/// The arguments of a singular value decomposition.
struct Gesvd {
    jobs: [c_char; 2],
    m: i64,
    n: i64,
    types: [u32; 5],
    a: u64,
    lda: i64,
    s: u64,
    u: u64,
    ldu: i64,
    vt: u64,
    ldvt: i64,
}

/// The arrays that a singular value decomposition reads and writes.
#[derive(Clone, Copy)]
struct Decomposed {
    a: Place,
    s: Place,
    vectors: Option<[Place; 2]>,
}

impl Gesvd {
    fn check(&self) -> Result<Decomposed> {
        let [of, of_s, of_u, of_vt, compute] = self.types;
        let dtype = dtype(of, compute)?;
        require(of_u == of && of_vt == of && DenseDtype::of(of_s) == Some(dtype.real()))?;
        // as in the real library, a matrix with more columns than rows is rejected
        require(self.m >= self.n && self.s != 0)?;
        let a = matrix(dtype, self.a, self.m, self.n, self.lda)?;
        let s = Place::list(dtype.real(), self.s, a.columns);
        let [job, other] = self.jobs.map(|job| job as u8);
        require([job, other].iter().all(|job| b"ASON".contains(job)))?;
        if job != other || job == b'O' {
            return Err(Status::NOT_SUPPORTED);
        }
        require(self.ldu >= self.m.max(1) && self.ldvt >= self.n.max(1))?;
        if job == b'N' {
            return Ok(Decomposed { a, s, vectors: None });
        }
        let columns = if job == b'A' { self.m } else { self.n };
        let u = matrix(dtype, self.u, self.m, columns, self.ldu)?;
        let vt = matrix(dtype, self.vt, self.n, self.n, self.ldvt)?;
        Ok(Decomposed { a, s, vectors: Some([u, vt]) })
    }
}

impl Decomposed {
    fn needs(&self) -> [usize; 2] {
        [(self.a.rows + self.a.columns * self.a.columns) * self.a.dtype.size(), 8 * self.a.columns]
    }
}

/// Writes the sizes in bytes of the work memory for a singular value decomposition.
///
/// # Safety
/// `device` and `host` must be null or valid for writing a number.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn cusolverDnXgesvd_bufferSize(
    handle: *mut c_void,
    params: *mut c_void,
    job_u: c_char,
    job_vt: c_char,
    m: i64,
    n: i64,
    of: u32,
    a: *const c_void,
    lda: i64,
    of_s: u32,
    s: *const c_void,
    of_u: u32,
    u: *const c_void,
    ldu: i64,
    of_vt: u32,
    vt: *const c_void,
    ldvt: i64,
    compute: u32,
    device: *mut usize,
    host: *mut usize,
) -> u32 {
    with_params(handle, params, |_| {
        let (jobs, types) = ([job_u, job_vt], [of, of_s, of_u, of_vt, compute]);
        let (a, s, u, vt) = (a as u64, s as u64, u as u64, vt as u64);
        let call = Gesvd { jobs, m, n, types, a, lda, s, u, ldu, vt, ldvt };
        // SAFETY: the caller guarantees that `device` and `host` are null or valid for writing a number.
        unsafe { answer(call.check()?.needs(), device, host) }
    })
}

/// Computes singular values and vectors of a matrix.
///
/// # Safety
/// The host memory must have `host_bytes` bytes.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn cusolverDnXgesvd(
    handle: *mut c_void,
    params: *mut c_void,
    job_u: c_char,
    job_vt: c_char,
    m: i64,
    n: i64,
    of: u32,
    a: *mut c_void,
    lda: i64,
    of_s: u32,
    s: *mut c_void,
    of_u: u32,
    u: *mut c_void,
    ldu: i64,
    of_vt: u32,
    vt: *mut c_void,
    ldvt: i64,
    compute: u32,
    work: *mut c_void,
    bytes: usize,
    host: *mut c_void,
    host_bytes: usize,
    code: *mut c_int,
) -> u32 {
    with_params(handle, params, |handle| {
        let (jobs, types) = ([job_u, job_vt], [of, of_s, of_u, of_vt, compute]);
        let (a, s, u, vt) = (a as u64, s as u64, u as u64, vt as u64);
        let call = Gesvd { jobs, m, n, types, a, lda, s, u, ldu, vt, ldvt }.check()?;
        require(!code.is_null())?;
        // SAFETY: the caller guarantees that the host memory has `host_bytes` bytes.
        let room = unsafe { Room::of(call.needs(), work, bytes, host, host_bytes)? };
        let code = code as u64;
        submit(handle, format!("gesvd m {m} n {n}"), move |memory| {
            let Decomposed { a, s, vectors } = call;
            let found = svd(&a.read(memory)?);
            write_integers(memory, code, 4, &[i64::from(found.is_none())])?;
            if let Some((values, left, right)) = found {
                s.write_reals(memory, &values)?;
                if let Some([u, vt]) = vectors {
                    u.write(memory, &Columns::made(u.rows, u.columns, |i, j| left[(i, j)]))?;
                    vt.write(memory, &right.adjoint())?;
                }
            }
            // the call destroys the matrix, as in the real library
            a.write(memory, &Columns::made(a.rows, a.columns, |_, _| f64::NAN.into()))?;
            room.spoil(memory)
        })
    })
}

/// The arguments of an eigenvalue decomposition of Hermitian matrices.
struct Syev {
    mode: u32,
    fill: u32,
    n: i64,
    types: [u32; 3],
    a: u64,
    lda: i64,
    w: u64,
    batch: i64,
}

/// The arrays that an eigenvalue decomposition of Hermitian matrices reads and writes.
#[derive(Clone, Copy)]
struct Hermitian {
    a: Place,
    w: Place,
    upper: bool,
    vectors: bool,
    batch: usize,
}

impl Syev {
    fn check(&self) -> Result<Hermitian> {
        let [of, of_w, compute] = self.types;
        let dtype = dtype(of, compute)?;
        require(DenseDtype::of(of_w) == Some(dtype.real()))?;
        // as in the real library, batches of 2^15 or more matrices are rejected; the manual does not mention this limit
        require(self.mode <= 1 && self.fill <= 1 && (0..1 << 15).contains(&self.batch) && self.w != 0)?;
        let a = matrix(dtype, self.a, self.n, self.n, self.lda)?;
        let w = Place::list(dtype.real(), self.w, a.rows);
        Ok(Hermitian { a, w, upper: self.fill == 1, vectors: self.mode == 1, batch: self.batch as usize })
    }
}

impl Hermitian {
    fn needs(&self) -> [usize; 2] {
        [2 * self.batch * self.a.rows * self.a.rows * self.a.dtype.size(), 16]
    }

    fn run(&self, memory: &mut crate::memory::Memory, code: u64) -> std::result::Result<(), crate::fault::Fault> {
        for i in 0..self.batch {
            let (a, w) = (self.a.next(i), self.w.next(i));
            let stored = a.read(memory)?;
            let whole = Columns::made(a.rows, a.rows, |i, j| match (i == j, (i < j) == self.upper) {
                (true, _) => stored[(i, i)].re.into(),
                (_, true) => stored[(i, j)],
                _ => stored[(j, i)].conj(),
            });
            let found = eigh(&whole);
            write_integers(memory, code + 4 * i as u64, 4, &[i64::from(found.is_none())])?;
            if let Some((values, vectors)) = found {
                w.write_reals(memory, &values)?;
                // if no vectors are requested, the call destroys the matrix, as in the real library
                let lost = Columns::made(a.rows, a.rows, |_, _| f64::NAN.into());
                a.write(memory, if self.vectors { &vectors } else { &lost })?;
            }
        }
        Ok(())
    }
}

macro_rules! hermitian {
    ($query:ident $run:ident ($($batch:ident: $t:ty)?) $batches:expr) => {
        /// Writes the sizes in bytes of the work memory for eigenvalues of Hermitian matrices.
        ///
        /// # Safety
        /// `device` and `host` must be null or valid for writing a number.
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments)]
        pub unsafe extern "C" fn $query(
            handle: *mut c_void,
            params: *mut c_void,
            mode: u32,
            fill: u32,
            n: i64,
            of: u32,
            a: *const c_void,
            lda: i64,
            of_w: u32,
            w: *const c_void,
            compute: u32,
            device: *mut usize,
            host: *mut usize,
            $($batch: $t,)?
        ) -> u32 {
            with_params(handle, params, |_| {
                let (types, a, w) = ([of, of_w, compute], a as u64, w as u64);
                let call = Syev { mode, fill, n, types, a, lda, w, batch: $batches }.check()?;
                // SAFETY: the caller guarantees that `device` and `host` are null or valid for writing a number.
                unsafe { answer(call.needs(), device, host) }
            })
        }

        /// Computes eigenvalues of Hermitian matrices. Eigenvectors, if requested, replace the matrices.
        ///
        /// # Safety
        /// The host memory must have `host_bytes` bytes.
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments)]
        pub unsafe extern "C" fn $run(
            handle: *mut c_void,
            params: *mut c_void,
            mode: u32,
            fill: u32,
            n: i64,
            of: u32,
            a: *mut c_void,
            lda: i64,
            of_w: u32,
            w: *mut c_void,
            compute: u32,
            work: *mut c_void,
            bytes: usize,
            host: *mut c_void,
            host_bytes: usize,
            code: *mut c_int,
            $($batch: $t,)?
        ) -> u32 {
            with_params(handle, params, |handle| {
                let (types, a, w) = ([of, of_w, compute], a as u64, w as u64);
                let call = Syev { mode, fill, n, types, a, lda, w, batch: $batches }.check()?;
                require(!code.is_null())?;
                // SAFETY: the caller guarantees that the host memory has `host_bytes` bytes.
                let room = unsafe { Room::of(call.needs(), work, bytes, host, host_bytes)? };
                let code = code as u64;
                submit(handle, format!("syev n {n} batches {}", call.batch), move |memory| {
                    call.run(memory, code)?;
                    room.spoil(memory)
                })
            })
        }
    };
}
hermitian!(cusolverDnXsyevd_bufferSize cusolverDnXsyevd () 1);
hermitian!(cusolverDnXsyevBatched_bufferSize cusolverDnXsyevBatched (batch: i64) batch);

/// The arguments of an eigenvalue decomposition of a general square matrix.
struct Geev {
    modes: [u32; 2],
    n: i64,
    types: [u32; 5],
    a: u64,
    lda: i64,
    w: u64,
    ldvl: i64,
    vr: u64,
    ldvr: i64,
}

/// The arrays that an eigenvalue decomposition of a general matrix reads and writes.
#[derive(Clone, Copy)]
struct General {
    a: Place,
    w: Place,
    vectors: Option<Place>,
}

impl Geev {
    fn check(&self) -> Result<General> {
        let [of, of_w, of_vl, of_vr, compute] = self.types;
        let dtype = dtype(of, compute)?;
        require(of_vl == of && of_vr == of)?;
        if DenseDtype::of(of_w) != Some(dtype.complex()) {
            // the real library can also write real and imaginary parts to a list of twice the length; this stand-in
            // does not
            return Err(if of_w == of { Status::NOT_SUPPORTED } else { Status::INVALID_VALUE });
        }
        // left eigenvectors are rejected, because the real library does not compute them
        require(self.modes[0] == 0 && self.modes[1] <= 1 && self.w != 0 && self.ldvl >= 1)?;
        let a = matrix(dtype, self.a, self.n, self.n, self.lda)?;
        let vectors = match self.modes[1] {
            1 => Some(matrix(dtype, self.vr, self.n, self.n, self.ldvr)?),
            _ => None,
        };
        Ok(General { a, w: Place::list(dtype.complex(), self.w, a.rows), vectors })
    }
}

impl General {
    fn needs(&self) -> [usize; 2] {
        [self.a.rows * self.a.dtype.size(), self.a.rows * self.a.rows * self.a.dtype.size()]
    }
}

/// Converts the eigenvalues and eigenvectors of a real matrix to LAPACK's form. Complex eigenvalues form conjugate
/// pairs. In each pair, the eigenvalue with the positive imaginary part is first, and the pair's two columns contain
/// the real and the imaginary parts of its eigenvector. An imaginary part counts as 0 if it is at most 1e-10 times
/// `scale`. `None` if the complex eigenvalues do not form pairs.
fn in_pairs(values: &[C], vectors: &Columns, scale: f64) -> Option<(Vec<C>, Columns)> {
    let n = values.len();
    let (mut w, mut columns) = (Vec::new(), Vec::new());
    for (k, &value) in values.iter().enumerate() {
        let column = vectors.column(k);
        if value.im.abs() <= 1e-10 * scale {
            // a real eigenvalue has a real eigenvector, so the computed eigenvector is multiplied by a phase that makes
            // it real
            let largest = column.iter().copied().max_by(|x, y| x.norm().total_cmp(&y.norm()))?;
            let turned: Vec<f64> = column.iter().map(|x| (x * largest.conj() / largest.norm()).re).collect();
            let length = turned.iter().map(|x| x * x).sum::<f64>().sqrt();
            w.push(value.re.into());
            columns.push(turned.iter().map(|x| C::from(x / length)).collect::<Vec<_>>());
        } else if value.im > 0.0 {
            w.extend([value, value.conj()]);
            columns.push(column.iter().map(|x| x.re.into()).collect());
            columns.push(column.iter().map(|x| x.im.into()).collect());
        }
    }
    (w.len() == n).then(|| (w, Columns::made(n, n, |i, j| columns[j][i])))
}

/// Writes the sizes in bytes of the work memory for eigenvalues of a general square matrix.
///
/// # Safety
/// `device` and `host` must be null or valid for writing a number.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn cusolverDnXgeev_bufferSize(
    handle: *mut c_void,
    params: *mut c_void,
    mode_left: u32,
    mode_right: u32,
    n: i64,
    of: u32,
    a: *const c_void,
    lda: i64,
    of_w: u32,
    w: *const c_void,
    of_vl: u32,
    _: *const c_void,
    ldvl: i64,
    of_vr: u32,
    vr: *const c_void,
    ldvr: i64,
    compute: u32,
    device: *mut usize,
    host: *mut usize,
) -> u32 {
    with_params(handle, params, |_| {
        let (modes, types) = ([mode_left, mode_right], [of, of_w, of_vl, of_vr, compute]);
        let call = Geev { modes, n, types, a: a as u64, lda, w: w as u64, ldvl, vr: vr as u64, ldvr };
        // SAFETY: the caller guarantees that `device` and `host` are null or valid for writing a number.
        unsafe { answer(call.check()?.needs(), device, host) }
    })
}

/// Computes eigenvalues and eigenvectors of a general square matrix.
///
/// # Safety
/// The host memory must have `host_bytes` bytes.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn cusolverDnXgeev(
    handle: *mut c_void,
    params: *mut c_void,
    mode_left: u32,
    mode_right: u32,
    n: i64,
    of: u32,
    a: *mut c_void,
    lda: i64,
    of_w: u32,
    w: *mut c_void,
    of_vl: u32,
    _: *mut c_void,
    ldvl: i64,
    of_vr: u32,
    vr: *mut c_void,
    ldvr: i64,
    compute: u32,
    work: *mut c_void,
    bytes: usize,
    host: *mut c_void,
    host_bytes: usize,
    code: *mut c_int,
) -> u32 {
    with_params(handle, params, |handle| {
        let (modes, types) = ([mode_left, mode_right], [of, of_w, of_vl, of_vr, compute]);
        let call = Geev { modes, n, types, a: a as u64, lda, w: w as u64, ldvl, vr: vr as u64, ldvr };
        let call = call.check()?;
        require(!code.is_null())?;
        // SAFETY: the caller guarantees that the host memory has `host_bytes` bytes.
        let room = unsafe { Room::of(call.needs(), work, bytes, host, host_bytes)? };
        let code = code as u64;
        submit(handle, format!("geev n {n}"), move |memory| {
            let General { a, w, vectors } = call;
            let read = a.read(memory)?;
            let found = eig(&read).and_then(|(values, vectors)| match a.dtype.is_complex() {
                true => Some((values, vectors)),
                false => in_pairs(&values, &vectors, read.largest()),
            });
            write_integers(memory, code, 4, &[i64::from(found.is_none())])?;
            if let Some((values, columns)) = found {
                w.write_list(memory, &values)?;
                vectors.map_or(Ok(()), |place| place.write(memory, &columns))?;
            }
            // the call destroys the matrix, as in the real library
            a.write(memory, &Columns::made(a.rows, a.rows, |_, _| f64::NAN.into()))?;
            room.spoil(memory)
        })
    })
}
