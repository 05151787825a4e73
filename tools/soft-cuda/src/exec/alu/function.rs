//! The types of the Rust functions that compute instructions, and helpers to make values of these types.

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
