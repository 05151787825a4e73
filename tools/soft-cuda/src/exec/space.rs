//! Resolves addresses to the memory spaces of a thread, and checks each access.

use super::{machine::Machine, thread::Private};
use crate::{
    fault::{Access as AccessKind, Fault},
    memory::Memory,
    ptx::step::{Access, Space},
};

/// The generic address of shared memory, which is below all device memory and above all host memory.
pub(crate) const SHARED: u64 = 0x0100_0000_0000_0000;

/// The generic address of a kernel's parameters.
pub(crate) const PARAM: u64 = 0x0140_0000_0000_0000;

/// The generic address of the threads' local memory.
pub(crate) const LOCAL: u64 = 0x0180_0000_0000_0000;

/// Shared memory, parameters, and the local memory of each thread each have an address window of this size, in bytes.
const WINDOW: u64 = 1 << 32;

/// The generic address of a thread's local memory.
pub(crate) fn local_window(thread: u32) -> u64 {
    LOCAL + u64::from(thread) * WINDOW
}

/// The memory space of a generic address, and the address within it.
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

/// Returns the bytes that an access reads or writes, if the access is allowed.
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
        // parameters are read-only
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
