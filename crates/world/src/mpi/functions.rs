//! The functions of an MPI library. They are looked up once, when the library is loaded.
//!
//! All libraries have the same functions, but different types of handles: addresses in the binary interfaces of the
//! standard and of Open MPI, and ints in the interface of MPICH. A [`Word`] holds either type, and is passed in the
//! register in which a function expects its handle. Before a function writes a handle, the word is set to 0. An int is
//! then the low half of the word ([`super::abi`] rejects other machines).

use libloading::Library;
use std::ffi::{c_char, c_int, c_void};

/// A handle: a communicator, datatype, operation or request.
pub(super) type Word = usize;
/// The address of a buffer, or a special value such as `MPI_IN_PLACE`.
pub(super) type Ptr = *mut c_void;
/// A number of elements, in functions whose names end in `_c`.
pub(super) type Count = i64;
/// The offset of a part in a buffer, in elements, in functions whose names end in `_c`.
pub(super) type Aint = isize;
/// The status of a receive. It is longer than the status of any MPI library.
#[repr(C, align(16))]
pub(super) struct Status(pub [c_int; 64]);

type Ints = *const c_int;
type Counts = *const Count;
type Aints = *const Aint;
type Out = *mut c_int;

/// The signature of this crate's reduction functions, for MPI libraries that count elements in C ints.
pub(super) type Reduce = unsafe extern "C" fn(Ptr, Ptr, *mut c_int, *mut Word);
/// The signature of this crate's reduction functions, for MPI libraries with 64-bit element counts ([`Count`]).
pub(super) type LongReduce = unsafe extern "C" fn(Ptr, Ptr, *mut Count, *mut Word);

macro_rules! functions {
    ($(#[$doc:meta])* struct $table:ident { $($field:ident $name:literal ($($of:ty),*);)* }) => {
        $(#[$doc])*
        pub(super) struct $table {
            $(pub $field: unsafe extern "C" fn($($of),*) -> c_int,)*
        }

        impl $table {
            /// Looks up all functions. If a function is missing, returns its name as the error.
            fn load(library: &Library) -> Result<$table, &'static str> {
                // SAFETY: the MPI standard defines functions with these names and types.
                unsafe {
                    Ok($table {
                        $($field: *library.get(concat!($name, "\0").as_bytes()).map_err(|_| $name)?,)*
                    })
                }
            }
        }
    };
}

functions! {
    /// The functions that every library has since MPI-3.
    struct Functions {
        initialized "MPI_Initialized" (Out);
        finalized "MPI_Finalized" (Out);
        init_thread "MPI_Init_thread" (Ptr, Ptr, c_int, Out);
        query_thread "MPI_Query_thread" (Out);
        finalize "MPI_Finalize" ();
        abort "MPI_Abort" (Word, c_int);
        library_version "MPI_Get_library_version" (*mut c_char, Out);
        error_string "MPI_Error_string" (c_int, *mut c_char, Out);
        error_class "MPI_Error_class" (c_int, Out);
        rank "MPI_Comm_rank" (Word, Out);
        size "MPI_Comm_size" (Word, Out);
        dup "MPI_Comm_dup" (Word, *mut Word);
        split "MPI_Comm_split" (Word, c_int, c_int, *mut Word);
        split_type "MPI_Comm_split_type" (Word, c_int, c_int, Word, *mut Word);
        free "MPI_Comm_free" (*mut Word);
        set_errhandler "MPI_Comm_set_errhandler" (Word, Word);
        op_create "MPI_Op_create" (Reduce, c_int, *mut Word);
        get_count "MPI_Get_count" (*const Status, Word, Out);
        wait "MPI_Wait" (*mut Word, *mut Status);
        test "MPI_Test" (*mut Word, Out, *mut Status);
        barrier "MPI_Barrier" (Word);
        broadcast "MPI_Bcast" (Ptr, c_int, Word, c_int, Word);
        all_gather "MPI_Allgatherv" (Ptr, c_int, Word, Ptr, Ints, Ints, Word, Word);
        gather "MPI_Gatherv" (Ptr, c_int, Word, Ptr, Ints, Ints, Word, c_int, Word);
        scatter "MPI_Scatterv" (Ptr, Ints, Ints, Word, Ptr, c_int, Word, c_int, Word);
        all_to_all "MPI_Alltoallv" (Ptr, Ints, Ints, Word, Ptr, Ints, Ints, Word, Word);
        all_reduce "MPI_Allreduce" (Ptr, Ptr, c_int, Word, Word, Word);
        reduce "MPI_Reduce" (Ptr, Ptr, c_int, Word, Word, c_int, Word);
        reduce_scatter "MPI_Reduce_scatter" (Ptr, Ptr, Ints, Word, Word, Word);
        scan "MPI_Scan" (Ptr, Ptr, c_int, Word, Word, Word);
        exscan "MPI_Exscan" (Ptr, Ptr, c_int, Word, Word, Word);
        send "MPI_Send" (Ptr, c_int, Word, c_int, c_int, Word);
        recv "MPI_Recv" (Ptr, c_int, Word, c_int, c_int, Word, *mut Status);
        send_recv "MPI_Sendrecv" (Ptr, c_int, Word, c_int, c_int, Ptr, c_int, Word, c_int, c_int, Word, *mut Status);
        start_barrier "MPI_Ibarrier" (Word, *mut Word);
        start_broadcast "MPI_Ibcast" (Ptr, c_int, Word, c_int, Word, *mut Word);
        start_all_gather "MPI_Iallgatherv" (Ptr, c_int, Word, Ptr, Ints, Ints, Word, Word, *mut Word);
        start_all_to_all "MPI_Ialltoallv" (Ptr, Ints, Ints, Word, Ptr, Ints, Ints, Word, Word, *mut Word);
        start_all_reduce "MPI_Iallreduce" (Ptr, Ptr, c_int, Word, Word, Word, *mut Word);
        start_reduce_scatter "MPI_Ireduce_scatter" (Ptr, Ptr, Ints, Word, Word, Word, *mut Word);
        start_send "MPI_Isend" (Ptr, c_int, Word, c_int, c_int, Word, *mut Word);
        start_recv "MPI_Irecv" (Ptr, c_int, Word, c_int, c_int, Word, *mut Word);
    }
}

functions! {
    /// The functions with 64-bit element counts ([`Count`]), which libraries have since MPI-4.
    struct Long {
        op_create "MPI_Op_create_c" (LongReduce, c_int, *mut Word);
        get_count "MPI_Get_count_c" (*const Status, Word, *mut Count);
        broadcast "MPI_Bcast_c" (Ptr, Count, Word, c_int, Word);
        all_gather "MPI_Allgatherv_c" (Ptr, Count, Word, Ptr, Counts, Aints, Word, Word);
        gather "MPI_Gatherv_c" (Ptr, Count, Word, Ptr, Counts, Aints, Word, c_int, Word);
        scatter "MPI_Scatterv_c" (Ptr, Counts, Aints, Word, Ptr, Count, Word, c_int, Word);
        all_to_all "MPI_Alltoallv_c" (Ptr, Counts, Aints, Word, Ptr, Counts, Aints, Word, Word);
        all_reduce "MPI_Allreduce_c" (Ptr, Ptr, Count, Word, Word, Word);
        reduce "MPI_Reduce_c" (Ptr, Ptr, Count, Word, Word, c_int, Word);
        reduce_scatter "MPI_Reduce_scatter_c" (Ptr, Ptr, Counts, Word, Word, Word);
        scan "MPI_Scan_c" (Ptr, Ptr, Count, Word, Word, Word);
        exscan "MPI_Exscan_c" (Ptr, Ptr, Count, Word, Word, Word);
        send "MPI_Send_c" (Ptr, Count, Word, c_int, c_int, Word);
        recv "MPI_Recv_c" (Ptr, Count, Word, c_int, c_int, Word, *mut Status);
        start_broadcast "MPI_Ibcast_c" (Ptr, Count, Word, c_int, Word, *mut Word);
        start_all_gather "MPI_Iallgatherv_c" (Ptr, Count, Word, Ptr, Counts, Aints, Word, Word, *mut Word);
        start_all_to_all "MPI_Ialltoallv_c" (Ptr, Counts, Aints, Word, Ptr, Counts, Aints, Word, Word, *mut Word);
        start_all_reduce "MPI_Iallreduce_c" (Ptr, Ptr, Count, Word, Word, Word, *mut Word);
        start_reduce_scatter "MPI_Ireduce_scatter_c" (Ptr, Ptr, Counts, Word, Word, Word, *mut Word);
        start_send "MPI_Isend_c" (Ptr, Count, Word, c_int, c_int, Word, *mut Word);
        start_recv "MPI_Irecv_c" (Ptr, Count, Word, c_int, c_int, Word, *mut Word);
    }
}

/// Looks up the functions of a library. The functions with 64-bit element counts are included if the library has all of
/// them. If another function is missing, returns its name as the error.
pub(super) fn load(library: &Library) -> Result<(Functions, Option<Long>), &'static str> {
    Ok((Functions::load(library)?, Long::load(library).ok()))
}

/// The version (major and minor) of the standard's binary interface that a library implements. The numbers are
/// negative, or the result is `None`, if the library has only its own interface.
pub(super) fn abi_version(library: &Library) -> Option<(c_int, c_int)> {
    type Version = unsafe extern "C" fn(Out, Out) -> c_int;
    let (mut major, mut minor) = (-1, -1);
    // SAFETY: the standard defines this function with this name and type, and it may be called at any time.
    let code = unsafe {
        let version = library.get::<Version>(b"MPI_Abi_get_version\0").ok()?;
        version(&mut major, &mut minor)
    };
    (code == 0).then_some((major, minor))
}

/// Returns the text that a function of the library writes. `fill` calls this function with a buffer for the text and
/// with a pointer to the length of the text.
pub(super) fn text(fill: impl FnOnce(*mut c_char, *mut c_int) -> c_int) -> String {
    // the longest text that a library may write is its version; the MPI standard limits it to 8192 characters
    let mut buffer = [0 as c_char; 8192];
    let mut length = 0;
    if fill(buffer.as_mut_ptr(), &mut length) != 0 {
        return String::new();
    }
    let length = usize::try_from(length).unwrap_or(0).min(buffer.len());
    let bytes: Vec<u8> = buffer[..length].iter().map(|c| *c as u8).collect();
    String::from_utf8_lossy(&bytes).trim_end_matches('\0').trim().to_owned()
}
