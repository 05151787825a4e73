//! Device memory. No device address is an address of the host, no address is used twice, and there are gaps between
//! allocations. Every access outside of an allocation, after a free, or by host code is therefore detected.

use crate::fault::{Access, Fault};
use std::collections::BTreeMap;

/// The byte that fills new memory, so that floats are NaN and integers are -1.
pub const POISON: u8 = 0xff;

/// The start of device memory, which is above every host address.
const BASE: u64 = 0x0200_0000_0000_0000;

/// The alignment of allocations, as in the real driver.
const ALIGN: u64 = 512;

/// The memory of a device.
#[derive(Debug)]
pub struct Memory {
    blocks: Vec<Block>,
    /// The index in `blocks` of each live allocation, by the allocation's start address.
    alive: BTreeMap<u64, usize>,
    /// Indices in `blocks` that are not in use.
    vacant: Vec<usize>,
    /// The start and the size of each freed allocation, for error messages.
    freed: BTreeMap<u64, u64>,
    next: u64,
    used: u64,
    limit: u64,
}

#[derive(Debug, Default)]
struct Block {
    start: u64,
    bytes: Vec<u8>,
}

/// An allocation that [`Memory::hide`] has made inaccessible.
#[derive(Debug)]
pub struct Hidden {
    slot: usize,
    block: Block,
}

/// The index of the block that an instruction accessed last. The search for the next access begins with this block,
/// because the next access is likely to be in the same block.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hint(usize);

impl Memory {
    /// Creates the memory of the device with index `device`, for allocations of at most `limit` bytes in total. The
    /// addresses of different devices do not overlap.
    pub fn new(device: usize, limit: u64) -> Memory {
        let next = BASE + ((device as u64) << 48);
        Memory {
            blocks: vec![Block::default()],
            alive: BTreeMap::new(),
            vacant: Vec::new(),
            freed: BTreeMap::new(),
            next,
            used: 0,
            limit,
        }
    }

    /// Returns the number of allocated bytes.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Returns the size of the memory in bytes.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Allocates exactly `bytes` bytes, which are filled with [`POISON`]. Returns the address; `None` if `bytes` is 0
    /// or the device is full.
    pub fn allocate(&mut self, bytes: u64) -> Option<u64> {
        if bytes == 0 || bytes > self.limit - self.used {
            return None;
        }
        let mut content = Vec::new();
        content.try_reserve_exact(usize::try_from(bytes).ok()?).ok()?;
        content.resize(bytes as usize, POISON);
        let start = self.next;
        // the gap between two allocations is at least `ALIGN` bytes long
        self.next = (start + bytes).next_multiple_of(ALIGN) + ALIGN;
        self.used += bytes;
        let block = Block { start, bytes: content };
        let slot = match self.vacant.pop() {
            Some(slot) => {
                self.blocks[slot] = block;
                slot
            }
            None => {
                self.blocks.push(block);
                self.blocks.len() - 1
            }
        };
        self.alive.insert(start, slot);
        Some(start)
    }

    /// Frees an allocation. Returns false if no live allocation begins at the address.
    pub fn free(&mut self, address: u64) -> bool {
        let Some(slot) = self.alive.remove(&address) else {
            return false;
        };
        let block = std::mem::take(&mut self.blocks[slot]);
        self.used -= block.bytes.len() as u64;
        self.freed.insert(block.start, block.bytes.len() as u64);
        self.vacant.push(slot);
        true
    }

    /// Makes an allocation behave as if freed, until it is [shown](Memory::show) again.
    pub fn hide(&mut self, address: u64) -> Option<Hidden> {
        let slot = self.alive.remove(&address)?;
        let block = std::mem::take(&mut self.blocks[slot]);
        self.freed.insert(block.start, block.bytes.len() as u64);
        Some(Hidden { slot, block })
    }

    /// Makes a [hidden](Memory::hide) allocation usable again.
    pub fn show(&mut self, hidden: Hidden) {
        let Hidden { slot, block } = hidden;
        self.freed.remove(&block.start);
        self.alive.insert(block.start, slot);
        self.blocks[slot] = block;
    }

    /// Returns the start and the size of the live allocation that contains `address`.
    pub fn allocation(&self, address: u64) -> Option<(u64, u64)> {
        let (&start, &slot) = self.alive.range(..=address).next_back()?;
        let size = self.blocks[slot].bytes.len() as u64;
        (address - start < size).then_some((start, size))
    }

    /// Returns the starts and the sizes of all live allocations.
    pub fn allocations(&self) -> impl Iterator<Item = (u64, u64)> {
        self.alive.iter().map(|(&start, &slot)| (start, self.blocks[slot].bytes.len() as u64))
    }

    #[inline]
    fn locate(&self, hint: &mut Hint, access: Access, address: u64, bytes: usize) -> Result<(usize, usize), Fault> {
        let within = |slot: usize| {
            let block = &self.blocks[slot];
            let offset = address.wrapping_sub(block.start);
            let end = offset.checked_add(bytes as u64);
            end.is_some_and(|end| end <= block.bytes.len() as u64).then_some((slot, offset as usize))
        };
        if let Some(found) = within(hint.0) {
            return Ok(found);
        }
        let slot = self.alive.range(..=address).next_back().map(|(_, &slot)| slot);
        match slot.and_then(within) {
            Some(found) => {
                hint.0 = found.0;
                Ok(found)
            }
            None => Err(self.illegal(access, address, bytes)),
        }
    }

    /// Returns the `bytes` bytes at `address`, for reading.
    #[inline]
    pub fn read(&self, hint: &mut Hint, address: u64, bytes: usize) -> Result<&[u8], Fault> {
        let (slot, offset) = self.locate(hint, Access::Read, address, bytes)?;
        Ok(&self.blocks[slot].bytes[offset..offset + bytes])
    }

    /// Returns the `bytes` bytes at `address`, for writing.
    #[inline]
    pub fn write(&mut self, hint: &mut Hint, address: u64, bytes: usize) -> Result<&mut [u8], Fault> {
        let (slot, offset) = self.locate(hint, Access::Write, address, bytes)?;
        Ok(&mut self.blocks[slot].bytes[offset..offset + bytes])
    }

    /// Returns the `bytes` bytes at `address`, for an access of any kind.
    #[inline]
    pub(crate) fn bytes(
        &mut self,
        hint: &mut Hint,
        access: Access,
        address: u64,
        bytes: usize,
    ) -> Result<&mut [u8], Fault> {
        let (slot, offset) = self.locate(hint, access, address, bytes)?;
        Ok(&mut self.blocks[slot].bytes[offset..offset + bytes])
    }

    #[cold]
    fn illegal(&self, access: Access, address: u64, bytes: usize) -> Fault {
        let alive = self.alive.range(..=address).next_back();
        let alive = alive.map(|(&start, &slot)| (start, self.blocks[slot].bytes.len()));
        let freed = self.freed.range(..=address).next_back().map(|(&start, &size)| (start, size));
        let near = match (alive, freed) {
            (_, Some((start, size))) if address - start < size => {
                format!("{} bytes into an allocation of {size} bytes that was freed", address - start)
            }
            (Some((start, size)), _) if address - start < size as u64 + (1 << 16) => {
                format!("{} bytes into an allocation of {size} bytes", address - start)
            }
            _ if address < BASE => "no address of the device".to_string(),
            _ => "nothing was allocated there".to_string(),
        };
        Fault::Illegal { access, address, bytes, near }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> Memory {
        Memory::new(0, 1 << 20)
    }

    #[test]
    fn new_memory_is_poisoned_and_keeps_what_is_written() {
        let (mut memory, mut hint) = (memory(), Hint::default());
        let start = memory.allocate(10).unwrap();
        assert_eq!(memory.read(&mut hint, start, 10).unwrap(), [POISON; 10]);
        memory.write(&mut hint, start + 4, 2).unwrap().copy_from_slice(&[1, 2]);
        assert_eq!(memory.read(&mut hint, start + 3, 4).unwrap(), [POISON, 1, 2, POISON]);
    }

    #[test]
    fn an_access_beyond_either_end_is_illegal() {
        let (mut memory, mut hint) = (memory(), Hint::default());
        let (first, start) = (memory.allocate(10).unwrap(), memory.allocate(10).unwrap());
        assert!(memory.read(&mut hint, start, 10).is_ok());
        for (address, bytes) in [(start, 11), (start + 10, 1), (start - 1, 1), (start - 1, 4), (first + 10, 1), (0, 4)]
        {
            let fault = memory.read(&mut hint, address, bytes).unwrap_err();
            assert_eq!(fault.code(), 700, "{fault}");
        }
        assert!(memory.write(&mut hint, u64::MAX - 1, 4).is_err());
    }

    #[test]
    fn freed_memory_is_gone_for_good() {
        let (mut memory, mut hint) = (memory(), Hint::default());
        let start = memory.allocate(16).unwrap();
        memory.read(&mut hint, start, 16).unwrap();
        assert!(memory.free(start));
        assert!(!memory.free(start));
        assert_eq!(memory.used(), 0);
        let again = memory.allocate(16).unwrap();
        assert_ne!(start, again);
        let fault = memory.read(&mut hint, start + 4, 4).unwrap_err();
        assert!(fault.to_string().contains("was freed"), "{fault}");
    }

    #[test]
    fn hidden_memory_comes_back_as_it_was() {
        let (mut memory, mut hint) = (memory(), Hint::default());
        let start = memory.allocate(4).unwrap();
        memory.write(&mut hint, start, 4).unwrap().fill(3);
        let hidden = memory.hide(start).unwrap();
        let fault = memory.read(&mut hint, start, 4).unwrap_err();
        assert!(fault.to_string().contains("was freed"), "{fault}");
        assert!(memory.hide(start).is_none());
        memory.show(hidden);
        assert_eq!(memory.read(&mut hint, start, 4).unwrap(), [3; 4]);
        assert!(memory.free(start));
    }

    #[test]
    fn a_full_device_has_no_more() {
        let mut memory = memory();
        assert!(memory.allocate((1 << 20) + 1).is_none());
        let start = memory.allocate(1 << 20).unwrap();
        assert!(memory.allocate(1).is_none());
        memory.free(start);
        assert!(memory.allocate(1).is_some());
    }
}
