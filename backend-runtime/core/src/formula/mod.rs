//! Formulas: several ops over arrays as one value, which a backend may run in one pass.
//!
//! The macro `expr!` of an op table turns `expr!(b, (x + y) * 2.0)?` into a tree and a list of [leaves](Leaves). The
//! nodes of the tree are the scalar expressions of ops ([`op1`], [`op2`], [`op3`], [`op_of`]). The leaves are the
//! arrays and scalars that the formula names, each listed once. Tree and list are encoded in types, without work at run
//! time, and [`formula`](crate::Arrays::formula) runs them. A backend that fuses, which means that it runs a formula as
//! one kernel or loop, evaluates the tree for every element of the result ([`Node::at`]). For other backends, the
//! default body of `formula` calls the backend's own op for each node ([`Run`]).
//!
//! Every dtype is a type parameter of its node. If dtypes were derived from the types of the operands instead, the
//! compiler would derive them again at every mention, in time exponential in the depth of the formula.

mod complex;
mod expression;
mod gradient;
mod join;
mod leaf;
mod mixed;
mod node;
mod out;
mod product;
mod reduce;
mod reduction;
mod rolled;
mod run;
mod sides;
mod text;
mod values;
mod writer;

pub use crate::{Highest, Lowest};
pub use complex::in_complex;
pub use expression::{Call, Node, Row, Run, Sink, Typed, Valued};
pub use gradient::{Gradient, Kept, gradient_of, run_kept};
pub use join::{Fits, Join, Single};
pub use leaf::{
    Array, AsOperand, IntoLeaf, Layout, Leaves, Loaded, MAX_ARRAYS, Value, Visitor, array, leaf, leaf_kind, operand,
};
pub use mixed::{CallOf, OpOf, Operands, OperandsAt, Own, RunOperands, Shared, op_of};
pub use node::{Get, Head, Leaf, Op1, Op2, Op3, Tail, op1, op2, op3, place};
pub use out::{ErasedOperand, Input, Out};
pub use product::factors;
pub use reduce::{Reduce, axis_or_all, one_axis, reduce};
pub use reduction::{Reduction, ReductionKind};
pub use rolled::{Rolled, rolled, rolled_over, shifts};
pub use run::{Precomputed, part, run, run_over, same_shape, whole};
pub use sides::{Alone, Left, Lent, OnlyLeaf, Right};
pub use text::{
    FORMULA, KeptTold, Named, Prefixed, Told, begin_gradient, begin_on, ended, named, named_within, numbers, steps,
};
pub use values::{ComplexLiteral, Literal, Scalar, Whole};
pub use writer::{Numbers, RowSource, Step, Steps, Writer};

/// The op name in errors of formulas.
pub const NAME: &str = "expr";
