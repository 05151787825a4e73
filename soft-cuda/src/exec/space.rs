//! The kinds of memory a thread has, and the check of each access to them.

use super::{machine::Machine, thread::Private};
use crate::{
    fault::{Access as AccessKind, Fault},
    memory::Memory,
    ptx::step::{Access, Space},
};

/// Where shared memory lies among generic addresses: below all device memory, above all of a host.
pub(crate) const SHARED: u64 = 0x0100_0000_0000_0000;

/// Where a kernel's parameters lie among generic addresses.
pub(crate) const PARAM: u64 = 0x0140_0000_0000_0000;

/// Where the local memory of threads lies among generic addresses.
pub(crate) const LOCAL: u64 = 0x0180_0000_0000_0000;

/// Bytes of addresses that shared memory, parameters, and the local memory of each thread, have.
const WINDOW: u64 = 1 << 32;

/// Where the local memory of a thread lies.
pub(crate) fn local_window(thread: u32) -> u64 {
    LOCAL + u64::from(thread) * WINDOW
}

/// The kind of memory that a generic address is in, and the address there.
fn resolve(address: u64, thread: u32) -> (Space, u64) {
    if address.wrapping_sub(SHARED) < WINDOW {
        (Space::Shared, address - SHARED)
    } else if address.wrapping_sub(PARAM) < WINDOW {
        (Space::Kernel, address - PARAM)
    } else if address.wrapping_sub(local_window(thread)) < WINDOW {
        (Space::Local, address - local_window(thread))
    } else {
        (Space::Global, address)
    }
}

/// The bytes that an access is for, if it may be made.
#[inline]
pub(super) fn bytes<'m>(
    machine: &'m mut Machine<'_>,
    private: &'m mut Private,
    kind: AccessKind,
    access: &Access,
    base: u64,
) -> Result<&'m mut [u8], Fault> {
    let address = base.wrapping_add_signed(i64::from(access.offset));
    let bytes = usize::from(access.size) * usize::from(access.count);
    if address & (bytes as u64 - 1) != 0 {
        return Err(Fault::Misaligned { access: kind, address, bytes });
    }
    let (space, address) = match access.space {
        Space::Generic => resolve(address, private.thread),
        space => (space, address),
    };
    let hint = &mut machine.hints[usize::from(access.site)];
    let (content, what): (&mut [u8], &str) = match space {
        Space::Global | Space::Generic => return Memory::bytes(machine.memory, hint, kind, address, bytes),
        Space::Shared => {
            let end = address.saturating_add(bytes as u64);
            if end <= machine.shared.len() as u64 {
                let place = address as usize..end as usize;
                machine.races.check(kind, access.strong, place.clone(), private.thread)?;
                return Ok(&mut machine.shared[place]);
            }
            (&mut machine.shared, "the block's shared memory")
        }
        Space::Local => (&mut private.local, "the thread's local memory"),
        // they are read only
        Space::Kernel if kind != AccessKind::Read => (&mut [], "the kernel's parameters to write to"),
        Space::Kernel => (&mut private.params[..machine.kernel.info.param_bytes], "the kernel's parameters"),
        Space::Param => (&mut private.params[private.param_base..], "the function's space of parameters"),
    };
    let size = content.len();
    let place = usize::try_from(address).ok().and_then(|start| Some(start..start.checked_add(bytes)?));
    let near = || format!("{what} has {size} bytes");
    place.and_then(|place| content.get_mut(place)).ok_or_else(|| Fault::Illegal {
        access: kind,
        address,
        bytes,
        near: near(),
    })
}
