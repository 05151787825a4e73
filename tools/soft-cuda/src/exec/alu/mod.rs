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
pub(crate) mod integer;
pub(crate) mod rounding;
pub(crate) mod value;

/// A function of the values of at most two registers.
pub(crate) type Two = fn(u64, u64) -> u64;

/// A function of the values of at most four registers.
pub(crate) type Four = fn(u64, u64, u64, u64) -> u64;

/// The function that computes the result of an instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Function {
    Two(Two),
    Four(Four),
}

/// An instruction whose result depends only on its operands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pure {
    /// The number of operands.
    pub inputs: usize,
    pub function: Function,
}

pub(crate) fn one(function: Two) -> Option<Pure> {
    Some(Pure { inputs: 1, function: Function::Two(function) })
}

pub(crate) fn two(function: Two) -> Option<Pure> {
    Some(Pure { inputs: 2, function: Function::Two(function) })
}

pub(crate) fn three(function: Four) -> Option<Pure> {
    Some(Pure { inputs: 3, function: Function::Four(function) })
}

pub(crate) fn four(function: Four) -> Option<Pure> {
    Some(Pure { inputs: 4, function: Function::Four(function) })
}

/// Finds the function of an instruction by its name and its modifiers; the last modifier is the type. `None` if the
/// name, a modifier or the type is unknown.
pub(crate) fn find(name: &str, modifiers: &[&str]) -> Option<Pure> {
    bits::find(name, modifiers)
        .or_else(|| integer::find(name, modifiers))
        .or_else(|| float::find(name, modifiers))
        .or_else(|| convert::find(name, modifiers))
        .or_else(|| approx::find(name, modifiers))
}

/// Instantiates a generic function for the PTX type whose name is in a string: `by_type!(ty, two, add; s32 u32)`.
macro_rules! by_type {
    ($type:expr, $arity:path, $function:ident; $($candidate:ident)+) => {{
        let wanted: &str = $type;
        match wanted {
            $(_ if wanted == stringify!($candidate) => {
                $arity($function::<$crate::exec::alu::value::$candidate>)
            })+
            _ => None,
        }
    }};
    ($type:expr, $arity:path, $function:ident::<$mode:tt, $source:ident>; $($candidate:ident)+) => {{
        use $crate::exec::alu::value;
        let wanted: &str = $type;
        match wanted {
            $(_ if wanted == stringify!($candidate) => {
                $arity($function::<$mode, value::$source, value::$candidate>)
            })+
            _ => None,
        }
    }};
}
pub(crate) use by_type;

#[cfg(test)]
pub(crate) mod testing {
    use super::{Function, find};

    /// The result of an instruction, such as `add.s32`, on these operands.
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
