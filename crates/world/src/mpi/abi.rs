//! The three binary interfaces of MPI libraries: the standard's interface (since MPI-5), MPICH's and Open MPI's. These
//! interfaces differ only in the values of constants, which are defined here. Each value comes from the library's own
//! `mpi.h`.

use super::{
    functions::{Ptr, Word},
    launcher::Family,
};
use crate::{DType, Join};
use libloading::Library;
use std::ffi::{c_int, c_void};

/// The constants of a binary interface.
pub(super) struct Abi {
    /// The name of the interface.
    pub name: &'static str,
    /// `MPI_COMM_WORLD`
    pub world: Word,
    /// `MPI_INFO_NULL`
    pub no_info: Word,
    /// `MPI_ERRORS_RETURN`
    pub errors_return: Word,
    /// `MPI_IN_PLACE`
    in_place: Word,
    /// `MPI_THREAD_SERIALIZED`
    pub serialized: c_int,
    /// `MPI_COMM_TYPE_SHARED`
    pub shared_memory: c_int,
    /// `MPI_UNDEFINED`
    pub undefined: c_int,
    /// `MPI_ANY_TAG`
    pub any_tag: c_int,
    /// `MPI_ERR_TRUNCATE`
    pub truncated: c_int,
    /// The index of a message's tag in its `MPI_Status`, if the status is read as an array of C ints.
    pub tag: usize,
    /// The MPI datatype of each dtype in [`NAMED`], in the same order.
    types: [Word; NAMED.len()],
    /// `MPI_SUM`, `MPI_PROD`, `MPI_MAX`, `MPI_MIN`
    joins: [Word; 4],
}

/// The dtypes that have a datatype in MPI, with the name of the datatype.
const NAMED: [(DType, &str); 12] = [
    (DType::Int8, "int8_t"),
    (DType::Int16, "int16_t"),
    (DType::Int32, "int32_t"),
    (DType::Int64, "int64_t"),
    (DType::UInt8, "uint8_t"),
    (DType::UInt16, "uint16_t"),
    (DType::UInt32, "uint32_t"),
    (DType::UInt64, "uint64_t"),
    (DType::Float32, "float"),
    (DType::Float64, "double"),
    (DType::Complex64, "c_float_complex"),
    (DType::Complex128, "c_double_complex"),
];

impl Abi {
    /// The interface of the MPI-5 standard, chapter "Application Binary Interface".
    fn standard() -> Abi {
        Abi {
            name: "standard",
            world: 0x101,
            no_info: 0x130,
            errors_return: 0x143,
            in_place: 1,
            serialized: 2048,
            shared_memory: 221,
            undefined: -32766,
            any_tag: -2,
            truncated: 15,
            tag: 1,
            types: [0x240, 0x248, 0x250, 0x258, 0x241, 0x249, 0x251, 0x259, 0x210, 0x214, 0x212, 0x216],
            joins: [0x21, 0x24, 0x23, 0x22],
        }
    }

    /// The interface that MPICH (since 3.1), Intel MPI, Cray MPICH and MVAPICH share.
    fn mpich() -> Abi {
        Abi {
            name: "MPICH",
            world: 0x4400_0000,
            no_info: 0x1c00_0000,
            errors_return: 0x5400_0001,
            in_place: usize::MAX,
            serialized: 2,
            shared_memory: 1,
            undefined: -32766,
            any_tag: -1,
            truncated: 14,
            tag: 3,
            types: [
                0x4c00_0137,
                0x4c00_0238,
                0x4c00_0439,
                0x4c00_083a,
                0x4c00_013b,
                0x4c00_023c,
                0x4c00_043d,
                0x4c00_083e,
                0x4c00_040a,
                0x4c00_080b,
                0x4c00_0840,
                0x4c00_1041,
            ],
            joins: [0x5800_0003, 0x5800_0004, 0x5800_0001, 0x5800_0002],
        }
    }

    /// The interface of Open MPI up to version 5, whose handles are addresses of objects that the library exports.
    fn open_mpi(library: &Library) -> Result<Abi, String> {
        let at = |name: &str| {
            let name = format!("ompi_mpi_{name}\0");
            // SAFETY: only the address of the object is taken, and nothing is read from it.
            let found = unsafe { library.get::<*const c_void>(name.as_bytes()) };
            found.map(|object| *object as Word).map_err(|_| format!("has no {}", name.trim_end_matches('\0')))
        };
        let (mut types, mut joins) = ([0; NAMED.len()], [0; 4]);
        for (to, (_, name)) in types.iter_mut().zip(NAMED) {
            *to = at(name)?;
        }
        for (to, name) in joins.iter_mut().zip(["op_sum", "op_prod", "op_max", "op_min"]) {
            *to = at(name)?;
        }
        Ok(Abi {
            name: "Open MPI",
            world: at("comm_world")?,
            no_info: at("info_null")?,
            errors_return: at("errors_return")?,
            in_place: 1,
            serialized: 2,
            shared_memory: 0,
            undefined: -32766,
            any_tag: -1,
            truncated: 15,
            tag: 1,
            types,
            joins,
        })
    }

    /// Determines the binary interface of a library. `standard` is the version of the standard's interface that the
    /// library reports, and `version` is the library's version text. The file name is not used, because one package
    /// may contain libraries with different interfaces.
    pub fn of(library: &Library, standard: Option<(c_int, c_int)>, version: &str) -> Result<Abi, String> {
        if let Some((1, _)) = standard {
            return Ok(Abi::standard());
        }
        if let Some((major, minor)) = standard.filter(|(major, _)| *major > 0) {
            return Err(format!(
                "has version {major}.{minor} of the standard's binary interface, but only versions 1.x are supported"
            ));
        }
        let first = version.lines().next().unwrap_or_default();
        match family(version) {
            // without `MPI_Abi_get_version`, the library may be an MPICH older than 3.1, whose interface differs;
            // versions 3.1 to 5 share one interface
            Some(Family::Mpich) if mpich_is_older(version) => {
                Err(format!("is {first}, but only MPICH 3.1 and newer are supported"))
            }
            // a handle is an int in the low half of a word, and on big-endian machines the low half has another address
            Some(Family::Mpich) if cfg!(target_endian = "big") => {
                Err("has the binary interface of MPICH, which is not supported on big-endian machines".into())
            }
            Some(Family::Mpich) => Ok(Abi::mpich()),
            Some(Family::OpenMpi) => Abi::open_mpi(library),
            None => Err(format!(
                "is {first:?}, but only the binary interfaces of the standard, MPICH and Open MPI are supported"
            )),
        }
    }

    /// `MPI_IN_PLACE`
    pub fn in_place(&self) -> Ptr {
        self.in_place as Ptr
    }

    /// The MPI datatype with which elements of a dtype are moved. Bools and 16-bit floats move as integers of the same
    /// size.
    pub fn moved(&self, dtype: DType) -> Word {
        let stands_for = match dtype {
            DType::Bool => DType::UInt8,
            DType::Float16 | DType::BFloat16 => DType::UInt16,
            other => other,
        };
        let at = NAMED.iter().position(|(named, _)| *named == stands_for);
        self.types[at.unwrap_or_default()]
    }

    /// The MPI datatype and operation of a reduction; `None` if MPI does not define the reduction.
    pub fn joined(&self, dtype: DType, join: Join) -> Option<(Word, Word)> {
        let as_dtype = match (dtype, join) {
            // MPI does not define the maximum and minimum of NaN
            (DType::Float32 | DType::Float64, Join::Max | Join::Min) => return None,
            (DType::Bool | DType::Float16 | DType::BFloat16, _) | (_, Join::And | Join::Or) => return None,
            // wrapping sums have the same bits in unsigned arithmetic, while signed overflow is undefined in C
            (DType::Int8, Join::Sum | Join::Prod) => DType::UInt8,
            (DType::Int16, Join::Sum | Join::Prod) => DType::UInt16,
            (DType::Int32, Join::Sum | Join::Prod) => DType::UInt32,
            (DType::Int64, Join::Sum | Join::Prod) => DType::UInt64,
            _ => dtype,
        };
        Some((self.moved(as_dtype), self.joins[join as usize]))
    }
}

/// The family of a library, determined from its version text.
pub(super) fn family(version: &str) -> Option<Family> {
    if version.starts_with("Open MPI") {
        return Some(Family::OpenMpi);
    }
    let of_mpich = ["MPICH", "Intel(R) MPI", "MVAPICH"];
    of_mpich.iter().any(|name| version.contains(name)).then_some(Family::Mpich)
}

/// Returns whether the version text belongs to an MPICH older than 3.1.
fn mpich_is_older(version: &str) -> bool {
    let Some((_, after)) = version.split_once("MPICH Version:") else { return false };
    let mut numbers =
        after.trim_start().split(|c: char| !c.is_ascii_digit()).map_while(|part| part.parse::<u32>().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) < (3, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_known_by_their_texts() {
        let known = [
            ("Open MPI v5.0.11, package: Open MPI conda", Family::OpenMpi),
            ("MPICH Version:      5.0.2\nMPICH Release date: unreleased", Family::Mpich),
            ("Intel(R) MPI Library 2021.13 for Linux* OS", Family::Mpich),
            ("MPI VERSION    : CRAY MPICH version 8.1.28.15", Family::Mpich),
            ("MVAPICH Version:      3.0", Family::Mpich),
        ];
        for (text, of) in known {
            assert_eq!(family(text), Some(of), "{text}");
        }
        assert_eq!(family("Microsoft MPI 10.1"), None);
    }

    #[test]
    fn versions_of_mpich_are_read() {
        assert!(mpich_is_older("MPICH Version:\t3.0.4"));
        assert!(mpich_is_older("MPICH Version:"));
        for text in ["MPICH Version:\t3.1", "MPICH Version:      5.0.2", "Intel(R) MPI Library 2019"] {
            assert!(!mpich_is_older(text), "{text}");
        }
    }

    #[test]
    fn every_kind_moves_as_a_type_of_its_size() {
        for abi in [Abi::standard(), Abi::mpich()] {
            for dtype in DType::ALL {
                let datatype = abi.moved(dtype);
                let at = abi.types.iter().position(|of| *of == datatype).unwrap();
                assert_eq!(NAMED[at].0.size(), dtype.size(), "{dtype}");
            }
            assert!(abi.types.iter().all(|of| abi.types.iter().filter(|other| *other == of).count() == 1));
        }
        assert_eq!(Abi::standard().joined(DType::Int32, Join::Sum), Some((0x251, 0x21)));
        assert_eq!(Abi::standard().joined(DType::Int32, Join::Min), Some((0x250, 0x22)));
        assert_eq!(Abi::standard().joined(DType::Float64, Join::Max), None);
        assert_eq!(Abi::standard().joined(DType::Bool, Join::Sum), None);
    }

    /// Checks that the second byte of each datatype in MPICH's interface is its size.
    #[test]
    fn the_types_of_mpich_have_the_sizes_of_their_kinds() {
        let abi = Abi::mpich();
        for dtype in DType::ALL {
            assert_eq!(abi.moved(dtype) >> 8 & 0xff, dtype.size(), "{dtype}");
        }
    }
}
