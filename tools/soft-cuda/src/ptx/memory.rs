//! Decodes instructions that read and write memory.

use super::{
    body::{Body, Operand},
    cursor::{Read, width},
    step::{Access, Slot, Space, Step},
};
use crate::exec::alu::{Four, atomic};

/// The parsed modifiers of a memory access.
struct Form<'m> {
    space: Space,
    count: usize,
    strong: bool,
    rest: Vec<&'m str>,
}

/// Parses the modifiers that give the memory space, the number of values, and whether other threads may access the
/// memory at the same time (`strong`). All other modifiers are in `rest` of the result.
fn form<'m>(modifiers: &[&'m str]) -> Form<'m> {
    let mut form = Form { space: Space::Generic, count: 1, strong: false, rest: Vec::new() };
    for &modifier in modifiers {
        match modifier {
            "global" | "const" => form.space = Space::Global,
            "shared" | "shared::cta" => form.space = Space::Shared,
            "local" => form.space = Space::Local,
            "param" | "param::entry" | "param::func" => form.space = Space::Param,
            "v2" => form.count = 2,
            "v4" => form.count = 4,
            "volatile" | "relaxed" | "acquire" | "release" | "acq_rel" => form.strong = true,
            // modifiers for memory ordering and caching are ignored, because here all threads see all writes
            // immediately
            "weak" | "cta" | "cluster" | "gpu" | "sys" | "nc" | "ca" | "cg" | "cs" | "lu" | "cv" | "wb" | "wt" => {}
            _ if modifier.starts_with("L1::") => {}
            "L2::64B" | "L2::128B" | "L2::256B" => {}
            other => form.rest.push(other),
        }
    }
    form
}

impl Body<'_, '_> {
    /// Parses the modifiers of a load or store. Returns the memory space, the number of values, the flag `strong`, the
    /// size of a value in bytes, and whether a loaded value is sign-extended.
    fn moved(&self, modifiers: &[&str]) -> Read<(Space, usize, bool, usize, bool)> {
        let form = form(modifiers);
        match form.rest[..] {
            [ty] => match width(ty) {
                Some((size, signed)) if size * form.count <= 16 => {
                    Ok((form.space, form.count, form.strong, size, signed))
                }
                _ => self.unknown(),
            },
            _ => self.unknown(),
        }
    }

    pub(super) fn load(&mut self, modifiers: &[&str]) -> Read<()> {
        let (space, count, strong, size, signed) = self.moved(modifiers)?;
        let mut to: [Slot; 4] = [0; 4];
        if count == 1 {
            to[0] = self.target()?;
        } else {
            self.parser.cursor.expect("{")?;
            for slot in &mut to[..count] {
                *slot = self.target()?;
                self.parser.cursor.take(",");
            }
            self.parser.cursor.expect("}")?;
        }
        let place = self.place(false)?;
        let access = Access { strong, ..self.access(space, place, size, count) };
        self.emit(Step::Load { access, to, signed });
        Ok(())
    }

    pub(super) fn store(&mut self, modifiers: &[&str]) -> Read<()> {
        let (space, count, strong, size, _) = self.moved(modifiers)?;
        let place = self.place(true)?;
        self.parser.cursor.expect(",")?;
        let mut from: [Slot; 4] = [0; 4];
        match self.operand()? {
            Operand::Register(slot) if count == 1 => from[0] = slot,
            Operand::Vector(slots) if slots.len() == count && count > 1 => from[..count].copy_from_slice(&slots),
            _ => return Err(self.parser.cursor.error(format!("expected {count} values"))),
        }
        let access = Access { strong, ..self.access(space, place, size, count) };
        self.emit(Step::Store { access, from });
        Ok(())
    }

    /// Decodes `atom`, and `red`, which has no result.
    pub(super) fn atomic(&mut self, name: &str, modifiers: &[&str]) -> Read<()> {
        let form = form(modifiers);
        let (operation, ty) = match form.rest[..] {
            [operation, ty] => (operation, ty),
            _ => return self.unknown(),
        };
        let (Some(function), Some((size, _))) = (atomic::find(operation, ty), width(ty)) else {
            return self.unknown();
        };
        if form.count != 1 || matches!(form.space, Space::Param | Space::Local) {
            return self.unknown();
        }
        let (to, place) =
            if name == "atom" { (self.target()?, self.place(false)?) } else { (self.temporary()?, self.place(true)?) };
        let first = self.source()?;
        let second = if operation == "cas" { self.source()? } else { first };
        let access = Access { strong: true, ..self.access(form.space, place, size, 1) };
        let function = self.function_number(function);
        self.emit(Step::Atomic { access, function, to, operands: [first, second] });
        Ok(())
    }

    fn function_number(&mut self, function: Four) -> u32 {
        self.parser.module.atomics.push(function);
        self.parser.module.atomics.len() as u32 - 1
    }
}
