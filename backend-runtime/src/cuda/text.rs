//! Translation of a formula to CUDA C++: a struct like that of a row's expression, whose members are the formula's
//! numbers.

use super::{
    kernel::Bytes,
    program::{Expression, c_type},
};
use crate::{
    DType, EachSource, Element,
    formula::{Numbers, Writer},
};
use std::fmt::Write;

/// The name of the struct that the kernels take.
pub(super) const STRUCT: &str = "k_row";

/// The C++ text of a formula, while it is written: each of its rows becomes a struct, and each use a call of that
/// struct.
#[derive(Debug, Default)]
pub(super) struct Text {
    /// The text of each row's struct, without the name.
    rows: Vec<String>,
    /// The text of all structs.
    structs: String,
    /// The C++ type of each number.
    numbers: Vec<&'static str>,
}

impl Text {
    fn member(&mut self, c_type: &'static str) -> String {
        self.numbers.push(c_type);
        format!("n{}", self.numbers.len() - 1)
    }

    /// A call of an expression; adds its struct to the text once.
    fn used(&mut self, expression: Expression, out: DType, operands: &[String]) -> String {
        // two tables may have rows of the same name, so rows are distinguished by their text
        let text = expression.functor("");
        let at = self.rows.iter().position(|known| *known == text).unwrap_or_else(|| {
            self.structs += &expression.functor(&format!("row{}", self.rows.len()));
            self.rows.push(text);
            self.rows.len() - 1
        });
        let params: Vec<String> = expression.params.iter().map(|_| self.member("double")).collect();
        format!("row{at}{{{}}}.apply<{}>({})", params.join(", "), c_type(out), operands.join(", "))
    }

    /// The number of members so far.
    pub(super) fn numbers(&self) -> usize {
        self.numbers.len()
    }

    /// The text of all structs: those of the rows, then that of the formula `value` over `arrays` arrays.
    pub(super) fn structs(&self, value: &str, arrays: usize) -> String {
        let types: String = (0..arrays).map(|i| format!(", typename X{i}")).collect();
        let elements: Vec<String> = (0..arrays).map(|i| format!("X{i} x{i}")).collect();
        let mut members = String::new();
        for (i, c_type) in self.numbers.iter().enumerate() {
            // members are 16 bytes apart, whatever their dtypes
            let _ = write!(members, "alignas(16) {c_type} n{i}; ");
        }
        format!(
            "{}struct {STRUCT} {{ {members}template <typename U{types}> U apply({}) const {{ return {value}; }} }};\n",
            self.structs,
            elements.join(", "),
        )
    }
}

impl Writer for Text {
    type Part = String;

    fn element(&mut self, before: usize) -> String {
        format!("x{before}")
    }

    fn number(&mut self, dtype: DType) -> String {
        self.member(c_type(dtype))
    }

    fn call<F: EachSource>(&mut self, of: DType, out: DType, operands: &[String]) -> String {
        self.used(Expression::of::<F>(of), out, operands)
    }

    fn pull<F: EachSource>(&mut self, k: usize, of: DType, parts: &[String]) -> Option<String> {
        Some(self.used(Expression::of_gradient::<F>(k)?, of, parts))
    }

    fn sum(&mut self, a: String, b: String) -> String {
        format!("op_plus({a}, {b})")
    }
}

/// The numbers of a formula, in the order of the members in its text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Arguments(Vec<Bytes>);

impl Numbers for Arguments {
    fn number<T: Element>(&mut self, x: T) {
        self.0.push(Bytes::of(x));
    }

    fn params<F: EachSource>(&mut self, row: &F) {
        self.0.extend(row.params().into_iter().map(Bytes::of));
    }
}

impl Arguments {
    /// The members of the formula's struct.
    pub(super) fn members(&self) -> &[Bytes] {
        &self.0
    }
}
