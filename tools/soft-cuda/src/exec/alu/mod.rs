//! Arithmetic. Each instruction whose result depends only on its operands is represented by a function of register
//! values.
//!
//! A register has 64 bits and holds a value in its low bits. A function reads as many low bits of each operand as the
//! instruction's type has, and ignores the higher bits.

pub(crate) mod approx;
pub(crate) mod atomic;
pub(crate) mod bits;
pub(crate) mod compare;
pub(crate) mod convert;
pub(crate) mod float;
mod function;
pub(crate) mod integer;
pub(crate) mod rounding;
pub(crate) mod value;

pub(crate) use function::{Four, Function, Pure, Two};

/// Finds the function of an instruction by its name and its modifiers; the last modifier is the type. `None` if the
/// name, a modifier or the type is unknown.
pub(crate) fn find(name: &str, modifiers: &[&str]) -> Option<Pure> {
    bits::find(name, modifiers)
        .or_else(|| integer::find(name, modifiers))
        .or_else(|| float::find(name, modifiers))
        .or_else(|| convert::find(name, modifiers))
        .or_else(|| approx::find(name, modifiers))
}

#[cfg(test)]
pub(crate) mod testing {
    use super::{Function, find};

    /// Applies an instruction, such as `add.s32`, to operands, and returns its result.
    pub fn apply(instruction: &str, operands: &[u64]) -> u64 {
        let (name, modifiers) = instruction.split_once('.').unwrap_or((instruction, ""));
        let modifiers: Vec<&str> = modifiers.split('.').collect();
        let pure = find(name, &modifiers).unwrap_or_else(|| panic!("there is no {instruction}"));
        assert_eq!(pure.inputs, operands.len(), "{instruction}");
        let operand = |i: usize| operands.get(i).copied().unwrap_or(0);
        match pure.function {
            Function::Two(function) => function(operand(0), operand(1)),
            Function::Four(function) => function(operand(0), operand(1), operand(2), operand(3)),
        }
    }

    /// Like [`apply`], for 32-bit floats.
    pub fn apply_f32(instruction: &str, operands: &[f32]) -> f32 {
        let bits: Vec<u64> = operands.iter().map(|x| u64::from(x.to_bits())).collect();
        f32::from_bits(apply(instruction, &bits) as u32)
    }

    /// Like [`apply`], for 64-bit floats.
    pub fn apply_f64(instruction: &str, operands: &[f64]) -> f64 {
        let bits: Vec<u64> = operands.iter().map(|x| x.to_bits()).collect();
        f64::from_bits(apply(instruction, &bits))
    }
}
