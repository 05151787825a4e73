//! Checks each memory access of a thread, and finds the bytes that it reads or writes.

use super::{machine::Machine, private::Private, window::resolve};
use crate::{
    fault::{Access as AccessKind, Fault},
    memory::Memory,
    ptx::step::{Access, Space},
};

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
