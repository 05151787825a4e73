//! Translation of a formula to CUDA C++. The result is a struct that the elementwise kernels call. The numbers in the
//! formula are the members of the struct.

use super::program::{Expression, c_type};
use backend_core::{
    DType,
    formula::{Step, Steps},
};
use std::fmt::Write;

/// The name of the struct of a formula, which is a template argument of the kernels.
pub(super) const STRUCT: &str = "k_row";

/// The C++ text of a formula while it is written. Each op of the formula gets a struct, and each use of the op becomes
/// a call of this struct.
#[derive(Debug, Default)]
struct Text {
    /// For each op, the text of its struct, without the struct's name.
    rows: Vec<String>,
    /// The text of the structs of all ops.
    structs: String,
    /// The C++ type of each number in the formula.
    numbers: Vec<&'static str>,
}

impl Text {
    fn member(&mut self, c_type: &'static str) -> String {
        self.numbers.push(c_type);
        format!("n{}", self.numbers.len() - 1)
    }

    /// Returns the C++ text of a call of `expression` with these operands. If the expression is used for the first
    /// time, its struct is added to the text.
    fn used(&mut self, expression: Expression, out: DType, operands: &[String]) -> String {
        // two op tables may have ops of the same name, so ops are distinguished by their text
        let text = expression.functor("");
        let at = self.rows.iter().position(|known| *known == text).unwrap_or_else(|| {
            self.structs += &expression.functor(&format!("row{}", self.rows.len()));
            self.rows.push(text);
            self.rows.len() - 1
        });
        let params: Vec<String> = expression.params.iter().map(|_| self.member("double")).collect();
        format!("row{at}{{{}}}.apply<{}>({})", params.join(", "), c_type(out), operands.join(", "))
    }

    /// Returns the text of all structs: first the ops' structs, then the formula's struct. The formula's struct
    /// computes the expression `value` from one element of each array; `arrays` is the number of arrays.
    fn structs(&self, value: &str, arrays: usize) -> String {
        let types: String = (0..arrays).map(|i| format!(", typename X{i}")).collect();
        let elements: Vec<String> = (0..arrays).map(|i| format!("X{i} x{i}")).collect();
        let mut members = String::new();
        for (i, c_type) in self.numbers.iter().enumerate() {
            // members are 16 bytes apart, whatever their types are
            let _ = write!(members, "alignas(16) {c_type} n{i}; ");
        }
        format!(
            "{}struct {STRUCT} {{ {members}template <typename U{types}> U apply({}) const {{ return {value}; }} }};\n",
            self.structs,
            elements.join(", "),
        )
    }
}

/// Returns the text of a formula's structs, and the number of members of the formula's own struct. `arrays` is the
/// number of arrays in the formula.
pub(super) fn written(steps: &Steps, arrays: usize) -> (String, usize) {
    let mut text = Text::default();
    let mut parts: Vec<String> = Vec::with_capacity(steps.steps.len());
    for step in &steps.steps {
        let part = match step {
            Step::Element(before) => format!("x{before}"),
            Step::Number(dtype) => text.member(c_type(*dtype)),
            Step::Call { row, gradient, of, out, operands } => {
                let operands: Vec<String> = operands.iter().map(|&operand| parts[operand].clone()).collect();
                let expression = match gradient {
                    None => Expression::of_row(row, *of),
                    Some(operand) => Expression::of_gradient(row, *operand),
                };
                text.used(expression, *out, &operands)
            }
            Step::Sum(a, b) => format!("op_plus({}, {})", parts[*a], parts[*b]),
        };
        parts.push(part);
    }
    // `steps.value` is never `None`, because a formula has at least one array and is not a mere number
    let value = steps.value.map(|value| parts.swap_remove(value)).unwrap_or_default();
    (text.structs(&value, arrays), text.numbers.len())
}
