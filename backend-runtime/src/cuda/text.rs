//! A formula in CUDA C++: a struct as that of a row's expression, whose members are the numbers in it.

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

/// What a formula is in C++, as it is written: each of its rows is a struct, and a call of that where it is used.
#[derive(Debug, Default)]
pub(super) struct Text {
    /// The text of each row's struct, without its name.
    rows: Vec<String>,
    /// The structs.
    structs: String,
    /// The C++ type of each number.
    numbers: Vec<&'static str>,
}

impl Text {
    fn member(&mut self, c_type: &'static str) -> String {
        self.numbers.push(c_type);
        format!("n{}", self.numbers.len() - 1)
    }

    /// A call of an expression, whose struct is there once.
    fn used(&mut self, expression: Expression, out: DType, operands: &[String]) -> String {
        // two tables may have rows of one name: what tells them apart is the text
        let text = expression.functor("");
        let at = self.rows.iter().position(|known| *known == text).unwrap_or_else(|| {
            self.structs += &expression.functor(&format!("row{}", self.rows.len()));
            self.rows.push(text);
            self.rows.len() - 1
        });
        let params: Vec<String> = expression.params.iter().map(|_| self.member("double")).collect();
        format!("row{at}{{{}}}.apply<{}>({})", params.join(", "), c_type(out), operands.join(", "))
    }

    /// How many numbers there are so far.
    pub(super) fn numbers(&self) -> usize {
        self.numbers.len()
    }

    /// The structs: that of the formula `value` over `arrays` arrays, after those of its rows.
    pub(super) fn structs(&self, value: &str, arrays: usize) -> String {
        let types: String = (0..arrays).map(|i| format!(", typename X{i}")).collect();
        let elements: Vec<String> = (0..arrays).map(|i| format!("X{i} x{i}")).collect();
        let mut members = String::new();
        for (i, c_type) in self.numbers.iter().enumerate() {
            // the numbers are 16 bytes apart, whatever their dtypes
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

/// The numbers of a formula, in the order in which its text has them.
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
