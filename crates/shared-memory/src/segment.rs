//! A shared memory segment, which consists of a header that describes the contents, and the elements.

use crate::{
    descriptor::{Descriptor, Kind, Layout, new_id},
    system,
};
use backend_runtime::{Error, Result, rules};
use std::fs::File;

/// The first bytes of the memory, which begin the header. The length of the header (8 bytes) and the header's text
/// follow.
const MAGIC: &[u8; 8] = b"backends";

/// Alignment of the first element in bytes.
const ALIGNMENT: usize = 64;

/// Maximum length of a header in bytes. It is enough for some ten thousand axes.
const LONGEST: usize = 1 << 18;

/// Shared memory that this process holds.
#[derive(Debug)]
pub struct Segment {
    /// The file that keeps the memory alive, and on which the lock is taken.
    pub file: File,
    id: u128,
    pub layout: Layout,
    /// The offset of the elements in bytes.
    pub start: usize,
    /// The number of elements.
    pub count: usize,
}

/// Returns the header: the bytes that precede the elements.
fn head(op: &'static str, layout: &Layout) -> Result<Vec<u8>> {
    let text = layout.to_string();
    let length = (16 + text.len()).next_multiple_of(ALIGNMENT);
    if length > LONGEST {
        return Err(Error::argument(op, format!("{} axes are more than a shared array may have", layout.shape.len())));
    }
    let mut head = [&MAGIC[..], &(length as u64).to_ne_bytes(), text.as_bytes()].concat();
    head.resize(length, b' ');
    Ok(head)
}

/// The name that the system shows for the memory.
fn name(kind: Kind, id: u128) -> String {
    format!("backends-{}-{id:032x}", if kind == Kind::Array { "array" } else { "buffer" })
}

impl Segment {
    /// Creates memory for an array with this layout. `fill` writes the elements, or only allocates their memory. The
    /// memory is not sealed yet.
    pub fn create(
        op: &'static str,
        layout: Layout,
        fill: impl FnOnce(&mut File, u64) -> std::io::Result<()>,
    ) -> Result<Segment> {
        let count = rules::count(op, &layout.shape, layout.dtype.size())?;
        let head = head(op, &layout)?;
        let length = count * layout.dtype.size();
        let whole = length.checked_add(head.len()).ok_or_else(|| Error::memory(op, length))?;
        system::room(op, whole)?;
        let id = new_id();
        let mut file = system::create(op, &name(layout.kind, id))?;
        let filled = std::io::Write::write_all(&mut file, &head).and_then(|()| fill(&mut file, whole as u64));
        filled.map_err(|why| system::failed(op, whole, why))?;
        Ok(Segment { file, id, start: head.len(), count, layout })
    }

    /// Seals the length of the memory. If the memory is an array, also seals its elements.
    pub fn seal(&self, op: &'static str) -> Result<()> {
        system::seal(op, &self.file, self.layout.kind == Kind::Buffer)
    }

    /// Opens the memory that a descriptor identifies. Returns an error if the descriptor is of another kind.
    pub fn open(op: &'static str, descriptor: &Descriptor, kind: Kind) -> Result<Segment> {
        let Descriptor { process, file, id, layout } = descriptor;
        if layout.kind != kind {
            let [is, other] = if kind == Kind::Array { ["buffer", "SharedBuffer"] } else { ["array", "SharedArray"] };
            return Err(Error::argument(
                op,
                format!("the descriptor belongs to a shared {is}; open it by {other}::open"),
            ));
        }
        let count = rules::count(op, &layout.shape, layout.dtype.size())?;
        let head = head(op, layout)?;
        let file = system::open(op, *process, *file, &name(kind, *id), kind == Kind::Buffer)?;
        let found = system::head(op, &file, head.len())?;
        if found != head {
            return Err(Error::argument(op, differs(layout, &found)));
        }
        let length = file.metadata().map_err(|why| system::failed(op, 0, why))?.len();
        if Some(length) != (count * layout.dtype.size()).checked_add(head.len()).map(|n| n as u64) {
            let why = format!("the memory has {length} bytes, which does not match {layout}");
            return Err(Error::argument(op, why));
        }
        Ok(Segment { file, id: *id, start: head.len(), count, layout: layout.clone() })
    }

    /// The size of the memory in bytes.
    pub fn length(&self) -> usize {
        self.start + self.count * self.layout.dtype.size()
    }

    /// The descriptor with which another process can open the memory.
    pub fn descriptor(&self) -> Descriptor {
        let (process, file) = (std::process::id(), system::number(&self.file));
        Descriptor { process, file, id: self.id, layout: self.layout.clone() }
    }

    /// Returns an error if the elements are not of this dtype.
    pub fn holds(&self, op: &'static str, dtype: backend_runtime::DType) -> Result<()> {
        let is = self.layout.dtype;
        if is == dtype {
            Ok(())
        } else {
            Err(Error::argument(op, format!("the shared elements are {is}, but must be {dtype}")))
        }
    }
}

/// The reason why a header does not match the descriptor.
fn differs(said: &Layout, found: &[u8]) -> String {
    let text = found.strip_prefix(MAGIC).and_then(|rest| rest.get(8..)).and_then(|text| str::from_utf8(text).ok());
    match text {
        Some(text) => format!("the descriptor says {said}, the memory begins with {}", text.trim_end().escape_debug()),
        None => "the memory does not begin with the header of a shared array".into(),
    }
}
