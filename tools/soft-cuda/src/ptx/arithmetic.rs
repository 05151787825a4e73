//! Decodes instructions that use only registers. Most instructions become one step, an operation that [`crate::exec`]
//! runs; with some modifiers, an instruction becomes several steps.

use super::{
    body::{Body, Operand},
    cursor::{Read, width},
    step::{Slot, Special, Step},
};
use crate::exec::{
    alu::{self, Function, Pure, Two, bits, compare, float, integer},
    window::{PARAM, SHARED},
};

impl Body<'_, '_> {
    pub(super) fn arithmetic(&mut self, name: &str, modifiers: &[&str]) -> Read<()> {
        match name {
            "mov" => self.copy(modifiers),
            "cvta" => self.address_of(modifiers),
            "setp" => self.set_predicate(modifiers),
            "set" => self.set(modifiers),
            "addc" | "subc" | "madc" => self.carried(name, modifiers),
            "add" | "sub" | "mad" if modifiers.contains(&"cc") => self.carried(name, modifiers),
            _ => self.pure(name, modifiers),
        }
    }

    /// Returns `pure`, or an error if the instruction is unknown.
    fn known(&self, pure: Option<Pure>) -> Read<Pure> {
        match pure {
            Some(pure) => Ok(pure),
            None => self.unknown(),
        }
    }

    /// Appends a step that computes `pure` of the registers `inputs`, and stores the result in the register `to`.
    pub(super) fn compute(&mut self, pure: Pure, to: Slot, inputs: &[Slot]) {
        let input = |i: usize| inputs.get(i).copied().unwrap_or(inputs[0]);
        self.emit(match pure.function {
            Function::Two(function) => Step::Two { function, to, a: input(0), b: input(1) },
            Function::Four(function) => Step::Four { function, to, operands: [input(0), input(1), input(2), input(3)] },
        });
    }

    /// Like [`Body::compute`], but writes to a new register, which it returns.
    fn computed(&mut self, pure: Pure, inputs: &[Slot]) -> Read<Slot> {
        let to = self.temporary()?;
        self.compute(pure, to, inputs);
        Ok(to)
    }

    fn of_two(&mut self, function: Two, to: Slot, a: Slot, b: Slot) {
        self.emit(Step::Two { function, to, a, b });
    }

    fn pure(&mut self, name: &str, modifiers: &[&str]) -> Read<()> {
        let ty = modifiers.last().copied().unwrap_or("");
        let (mut result, mut source) = (ty, ty);
        if let ("cvt", [.., to, from]) = (name, modifiers) {
            (result, source) = (*to, *from);
        }
        let mut kept = modifiers.to_vec();
        // the modifiers `ftz` and `sat` become separate steps
        let mut asks = |modifier: &str| {
            let before = kept.len();
            kept.retain(|kept| *kept != modifier);
            kept.len() < before
        };
        let flush = (result == "f32" || source == "f32") && asks("ftz");
        let saturate = matches!(result, "f32" | "f64") && asks("sat");
        if saturate && !matches!(name, "add" | "sub" | "mul" | "fma" | "mad" | "cvt") {
            return self.unknown();
        }
        let rounded = modifiers.iter().any(|modifier| matches!(*modifier, "rni" | "rzi" | "rmi" | "rpi"));
        if rounded && !matches!(result, "f32" | "f64") {
            // conversions of floats to integers always saturate, so the modifier `sat` changes nothing
            asks("sat");
        }
        let pure = self.known(alu::find(name, &kept))?;
        let to = self.target()?;
        let mut inputs = [0; 4];
        for input in &mut inputs[..pure.inputs] {
            *input = self.source()?;
        }
        if !flush && !saturate {
            self.compute(pure, to, &inputs[..pure.inputs]);
            return Ok(());
        }
        if flush && source == "f32" {
            for input in &mut inputs[..pure.inputs] {
                let flushed = self.temporary()?;
                self.of_two(float::flush, flushed, *input, *input);
                *input = flushed;
            }
        }
        let value = self.computed(pure, &inputs[..pure.inputs])?;
        if flush && result == "f32" {
            self.of_two(float::flush, value, value, value);
        }
        match float::saturate(result).filter(|_| saturate) {
            Some(pure) => self.compute(pure, to, &[value]),
            None => self.emit(Step::Copy { to, from: value }),
        }
        Ok(())
    }

    /// Parses the modifiers of a comparison, such as `lt.and.s32`. Returns the comparison, the operation that combines
    /// the comparison's result with a condition, whether subnormal operands become 0 (`ftz`), and the type of the
    /// operands.
    fn comparison<'m>(&mut self, modifiers: &[&'m str]) -> Read<(Pure, Option<Pure>, bool, &'m str)> {
        let (flush, rest): (bool, Vec<&str>) =
            (modifiers.contains(&"ftz"), modifiers.iter().copied().filter(|modifier| *modifier != "ftz").collect());
        let (comparison, with, ty) = match rest[..] {
            [comparison, ty] => (comparison, None, ty),
            [comparison, with @ ("and" | "or" | "xor"), ty] => (comparison, bits::find(with, &["pred"]), ty),
            _ => return self.unknown(),
        };
        if flush && ty != "f32" {
            return self.unknown();
        }
        let pure = self.known(compare::find(comparison, ty))?;
        Ok((pure, with, flush, ty))
    }

    /// Compares the next two operands, and combines the result with a condition if the modifiers request it. With
    /// `opposite`, also returns the opposite result, combined with the same condition.
    fn compared(&mut self, modifiers: &[&str], opposite: bool) -> Read<(Slot, Option<Slot>)> {
        let (pure, with, flush, _) = self.comparison(modifiers)?;
        let (mut a, mut b) = (self.source()?, self.source()?);
        if flush {
            for operand in [&mut a, &mut b] {
                let flushed = self.temporary()?;
                self.of_two(float::flush, flushed, *operand, *operand);
                *operand = flushed;
            }
        }
        let mut holds = self.computed(pure, &[a, b])?;
        let not = self.known(bits::find("not", &["pred"]))?;
        let mut fails = if opposite { Some(self.computed(not, &[holds])?) } else { None };
        if let Some(with) = with {
            self.parser.cursor.expect(",")?;
            let condition = match self.operand()? {
                Operand::Register(slot) => slot,
                Operand::Not(slot) => self.computed(not, &[slot])?,
                _ => return self.unknown(),
            };
            holds = self.computed(with, &[holds, condition])?;
            if let Some(fails) = &mut fails {
                *fails = self.computed(with, &[*fails, condition])?;
            }
        }
        Ok((holds, fails))
    }

    fn set_predicate(&mut self, modifiers: &[&str]) -> Read<()> {
        let to = self.target()?;
        let opposite = if self.parser.cursor.take("|") { Some(self.target()?) } else { None };
        if opposite.is_none() && modifiers.len() == 2 {
            // the most common case needs only one step
            let (pure, ..) = self.comparison(modifiers)?;
            let inputs = [self.source()?, self.source()?];
            self.compute(pure, to, &inputs);
            return Ok(());
        }
        let (holds, fails) = self.compared(modifiers, opposite.is_some())?;
        self.emit(Step::Copy { to, from: holds });
        if let (Some(to), Some(from)) = (opposite, fails) {
            self.emit(Step::Copy { to, from });
        }
        Ok(())
    }

    /// Decodes instructions such as `set.lt.u32.f32`. If the comparison holds, the result has all bits set, or is 1.0
    /// in the case of a float; otherwise it is 0.
    fn set(&mut self, modifiers: &[&str]) -> Read<()> {
        let [comparison @ .., result, source] = modifiers else { return self.unknown() };
        let yes = match *result {
            "u32" | "s32" => 0xffff_ffff,
            "f32" => u64::from(1.0_f32.to_bits()),
            _ => return self.unknown(),
        };
        let mut comparison = comparison.to_vec();
        comparison.push(source);
        let to = self.target()?;
        let (holds, _) = self.compared(&comparison, false)?;
        let (yes, no) = (self.constant(yes)?, self.constant(0)?);
        let choose = self.known(bits::find("selp", &["b32"]))?;
        self.compute(choose, to, &[yes, no, holds]);
        Ok(())
    }

    /// Decodes sums and differences with a carry in or out, such as `add.cc`, `addc` and `madc.hi.cc`.
    fn carried(&mut self, name: &str, modifiers: &[&str]) -> Read<()> {
        let leaves = modifiers.contains(&"cc");
        let rest: Vec<&str> = modifiers.iter().copied().filter(|modifier| *modifier != "cc").collect();
        let takes = name.ends_with('c');
        let (product, ty) = match (name.starts_with("mad"), &rest[..]) {
            (false, [ty]) => (None, *ty),
            (true, [half @ ("lo" | "hi"), ty]) => (integer::find("mul", &[half, ty]), *ty),
            _ => return self.unknown(),
        };
        let subtracts = name.starts_with("sub");
        let value = self.known(if subtracts { integer::sub_borrow(ty) } else { integer::add_carry(ty) })?;
        let carry_of = self.known(if subtracts { integer::borrow(ty) } else { integer::carry(ty) })?;
        let to = self.target()?;
        let mut a = self.source()?;
        if let Some(product) = product {
            let b = self.source()?;
            a = self.computed(product, &[a, b])?;
        }
        let b = self.source()?;
        let carry = if takes { self.carry()? } else { self.constant(0)? };
        // the new carry is computed first, because the result may overwrite an operand
        let new_carry = if leaves { Some(self.computed(carry_of, &[a, b, carry])?) } else { None };
        self.compute(value, to, &[a, b, carry]);
        if let Some(from) = new_carry {
            let to = self.carry()?;
            self.emit(Step::Copy { to, from });
        }
        Ok(())
    }

    /// Decodes `mov`, which copies a register, packs two or four registers into one, or unpacks one register into two
    /// or four.
    fn copy(&mut self, modifiers: &[&str]) -> Read<()> {
        let &[ty] = modifiers else { return self.unknown() };
        let Some(size) = width(ty).map(|(size, _)| size).or((ty == "pred").then_some(1)) else {
            return self.unknown();
        };
        if self.parser.cursor.take("{") {
            let mut parts = Vec::new();
            while !self.parser.cursor.take("}") {
                parts.push(self.target()?);
                self.parser.cursor.take(",");
            }
            let from = self.source()?;
            return self.unpack(8 * size, &parts, from);
        }
        let to = self.target()?;
        self.parser.cursor.expect(",")?;
        match self.operand()? {
            Operand::Register(from) => self.emit(Step::Copy { to, from }),
            Operand::Vector(parts) => return self.pack(8 * size, to, &parts),
            _ => return self.unknown(),
        }
        Ok(())
    }

    fn unpack(&mut self, bits: usize, parts: &[Slot], from: Slot) -> Read<()> {
        if !matches!((bits, parts.len()), (16 | 32 | 64, 2) | (32 | 64, 4)) {
            return self.unknown();
        }
        if let (64, &[low, high]) = (bits, parts) {
            self.of_two(|a, _| a & 0xffff_ffff, low, from, from);
            self.of_two(|a, _| a >> 32, high, from, from);
            return Ok(());
        }
        let field = self.known(bits::find("bfe", &["u64"]))?;
        let length = (bits / parts.len()) as u64;
        for (i, &part) in (0..).zip(parts) {
            let (place, length) = (self.constant(i * length)?, self.constant(length)?);
            self.compute(field, part, &[from, place, length]);
        }
        Ok(())
    }

    fn pack(&mut self, bits: usize, to: Slot, parts: &[Slot]) -> Read<()> {
        if !matches!((bits, parts.len()), (16 | 32 | 64, 2) | (32 | 64, 4)) {
            return self.unknown();
        }
        if let (64, &[low, high]) = (bits, parts) {
            self.of_two(|a, b| a & 0xffff_ffff | b << 32, to, low, high);
            return Ok(());
        }
        let insert = self.known(bits::find("bfi", &["b64"]))?;
        let mut whole = self.constant(0)?;
        let length = (bits / parts.len()) as u64;
        for (i, &part) in (0..).zip(parts) {
            let (place, length) = (self.constant(i * length)?, self.constant(length)?);
            whole = self.computed(insert, &[part, whole, place, length])?;
        }
        self.emit(Step::Copy { to, from: whole });
        Ok(())
    }

    /// Decodes `cvta`, which converts between the addresses of a memory space and generic addresses.
    fn address_of(&mut self, modifiers: &[&str]) -> Read<()> {
        let (back, space) = match modifiers {
            ["to", space, "u64"] => (true, *space),
            [space, "u64"] => (false, *space),
            _ => return self.unknown(),
        };
        let to = self.target()?;
        let from = self.source()?;
        let window = match space {
            "global" | "const" => {
                self.emit(Step::Copy { to, from });
                return Ok(());
            }
            "shared" | "shared::cta" => self.constant(SHARED)?,
            "local" => self.special(Special::LocalWindow)?,
            "param" | "param::entry" => self.constant(PARAM)?,
            _ => return self.unknown(),
        };
        let shift: Two = if back { |a, b| a.wrapping_sub(b) } else { |a, b| a.wrapping_add(b) };
        self.of_two(shift, to, from, window);
        Ok(())
    }
}
