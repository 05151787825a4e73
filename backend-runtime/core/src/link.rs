//! Links between ranks (processes): transfers from device to device that bypass host memory.
//!
//! If a backend supports links, each rank makes an offer, compares the offers of all ranks, and opens the link together
//! with the other ranks. This module does not depend on a communication library, because the caller passes a [`Peers`],
//! which communicates through the host.

use crate::Result;
use std::{any::Any, fmt, sync::Arc};

/// The ranks that open a link together. They communicate through the host until the link is open.
pub trait Peers {
    /// Returns the index of this rank among the ranks.
    fn rank(&self) -> usize;

    /// Returns the number of ranks.
    fn size(&self) -> usize;

    /// Sends the bytes `mine` of every rank to every rank, and returns the bytes of all ranks, in rank order. Every
    /// rank must call this method, with the same number of bytes.
    ///
    /// # Errors
    /// Returns an error if the ranks cannot communicate.
    fn all_gather(&self, mine: &[u8]) -> Result<Vec<u8>>;
}

/// A function that sends the bytes of its first argument to other ranks, and fills its second argument with bytes from
/// them. The code that provides the function determines the number of bytes for each rank.
pub type Through<'a> = dyn FnMut(&[u8], &mut [u8]) -> Result<()> + 'a;

/// The offer of a rank for a link: a library and a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Name of the library, such as `"nccl"`, padded with zeros.
    library: [u8; 8],
    version: u64,
    /// Identifies the rank's device across all machines.
    device: [u8; 16],
}

impl Offer {
    /// Number of bytes of an encoded offer.
    pub const BYTES: usize = 32;

    /// Makes an offer from a library, its version, and the device that would use the link.
    pub fn new(library: [u8; 8], version: u64, device: [u8; 16]) -> Offer {
        Offer { library, version, device }
    }

    /// Encodes an offer as bytes. The bytes are all 0 if there is no offer.
    pub fn to_bytes(offer: Option<&Offer>) -> [u8; Offer::BYTES] {
        let mut bytes = [0; Offer::BYTES];
        if let Some(Offer { library, version, device }) = offer {
            bytes[..8].copy_from_slice(library);
            bytes[8..16].copy_from_slice(&version.to_ne_bytes());
            bytes[16..].copy_from_slice(device);
        }
        bytes
    }

    /// Splits an encoded offer into library, version and device.
    fn parts(bytes: &[u8]) -> (&[u8], &[u8], &[u8]) {
        (&bytes[..8], &bytes[8..16], &bytes[16..Offer::BYTES])
    }

    /// Checks whether a link is possible between ranks with these offers, which are encoded and concatenated in rank
    /// order. The result is the same on all ranks.
    ///
    /// # Errors
    /// Returns the reason why a link is impossible.
    pub fn fit(all: &[u8]) -> std::result::Result<(), String> {
        let all: Vec<_> = all.chunks_exact(Offer::BYTES).map(Offer::parts).collect();
        if let Some(rank) = all.iter().position(|(library, ..)| library.iter().all(|&byte| byte == 0)) {
            return Err(format!("rank {rank} has none"));
        }
        for (rank, (library, version, device)) in all.iter().enumerate() {
            let (first_library, first_version, _) = all[0];
            if (*library, *version) != (first_library, first_version) {
                return Err(format!("rank {rank} has another version than rank 0"));
            }
            if let Some(other) = all[..rank].iter().position(|(.., other)| other == device) {
                return Err(format!("ranks {other} and {rank} share a GPU"));
            }
        }
        Ok(())
    }
}

/// A rank's handle of an open link. Clones share the link, which is closed with the last clone.
#[derive(Clone)]
pub struct Link {
    name: Arc<str>,
    open: Arc<dyn Any + Send + Sync>,
}

impl Link {
    /// Returns name and version of the library, such as `NCCL 2.27.3`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Makes a rank's handle of a link that a backend has opened.
    pub fn new(name: String, open: impl Any + Send + Sync) -> Link {
        Link { name: name.into(), open: Arc::new(open) }
    }

    /// Returns the backend's handle of the link; `None` if the handle does not have the type `L`.
    pub fn open<L: Any>(&self) -> Option<&L> {
        self.open.downcast_ref()
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Link({})", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(offers: &[Option<Offer>]) -> Vec<u8> {
        offers.iter().flat_map(|offer| Offer::to_bytes(offer.as_ref())).collect()
    }

    #[test]
    fn offers_fit_where_all_have_one_library_and_devices_of_their_own() {
        let offer = |version, device| Some(Offer::new(*b"nccl\0\0\0\0", version, [device; 16]));
        assert_eq!(Offer::fit(&all(&[offer(1, 1), offer(1, 2)])), Ok(()));
        let why = |offers: &[Option<Offer>]| Offer::fit(&all(offers)).unwrap_err();
        assert_eq!(why(&[offer(1, 1), None]), "rank 1 has none");
        assert_eq!(why(&[offer(1, 1), offer(2, 2)]), "rank 1 has another version than rank 0");
        assert_eq!(why(&[offer(1, 1), offer(1, 2), offer(1, 1)]), "ranks 0 and 2 share a GPU");
    }
}
