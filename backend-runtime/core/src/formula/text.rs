//! Reports formulas, with their text and their arrays, to backends that watch calls. Other backends get no reports.

use super::{
    expression::{Node, Run, Sink, Typed, Valued},
    gradient::Kept,
    leaf::{Layout, Leaves, Visitor},
    writer::{Numbers, Step, Steps, Writer},
};
use crate::{Arrays, Axes, DType, Element, Result, wrap::AnyTyped};
use ndarray::{Dimension, IxDyn};
use std::{any::Any, borrow::Cow, marker::PhantomData};

/// The op name of a formula in reports.
pub const FORMULA: &str = "expr!";

/// A report that one or several ops run as one call.
pub trait Told {
    /// The text of the formula; `None` if the report is about a single op.
    fn text(&self) -> Option<Cow<'static, str>>;

    /// The arrays that the ops use.
    fn arrays(&self) -> Vec<&dyn AnyTyped>;
}

/// A formula with the text that the user wrote for it, and the text of a reduction around it.
#[derive(Clone, Copy, Debug)]
pub struct Named<E> {
    tree: E,
    text: &'static str,
    reduced: Option<&'static str>,
}

/// Attaches to a formula the text that the user wrote for it.
#[inline(always)]
pub fn named<E>(text: &'static str, tree: E) -> Named<E> {
    Named { tree, text, reduced: None }
}

/// Attaches to a formula the text that the user wrote for it, and the text of the reduction around it.
#[inline(always)]
pub fn named_within<E>(text: &'static str, reduced: &'static str, tree: E) -> Named<E> {
    Named { tree, text, reduced: Some(reduced) }
}

impl<E: Typed> Typed for Named<E> {
    type Out = E::Out;
    const IS_LEAF: bool = E::IS_LEAF;
    const GAINS_FROM_AVX512: bool = E::GAINS_FROM_AVX512;

    #[inline(always)]
    fn whole(&self) -> Option<i64> {
        self.tree.whole()
    }

    #[inline(always)]
    fn check(&self) -> Result<()> {
        self.tree.check()
    }

    fn text(&self) -> Option<&'static str> {
        Some(self.text)
    }

    fn text_reduced(&self) -> Option<&'static str> {
        self.reduced
    }
}

impl<L, E: Node<L>> Node<L> for Named<E> {
    const NEEDS_RANGE_REDUCTION: bool = E::NEEDS_RANGE_REDUCTION;

    #[inline(always)]
    fn at(&self, leaves: &L) -> E::Out {
        self.tree.at(leaves)
    }

    #[inline(always)]
    fn needs_range_reduction(&self, leaves: &L) -> bool {
        self.tree.needs_range_reduction(leaves)
    }

    const PULLS: bool = E::PULLS;

    #[inline(always)]
    fn pull(&self, leaves: &L, g: E::Out, to: &mut impl Sink) {
        self.tree.pull(leaves, g, to);
    }

    fn write<W: Writer>(writer: &mut W) -> Option<W::Subexpression> {
        E::write(writer)
    }

    fn numbers(&self, leaves: &L, numbers: &mut Numbers) {
        self.tree.numbers(leaves, numbers);
    }

    fn has(array: usize) -> bool {
        E::has(array)
    }

    fn write_pull<W: Writer>(writer: &mut W, g: W::Subexpression, array: usize) -> Option<W::Subexpression> {
        E::write_pull(writer, g, array)
    }

    fn numbers_pull(&self, leaves: &L, array: usize, numbers: &mut Numbers) {
        self.tree.numbers_pull(leaves, array, numbers);
    }
}

impl<'a, B: Arrays, L: Leaves<'a, B>, E: Run<'a, B, L>> Run<'a, B, L> for Named<E> {
    #[inline(always)]
    fn run(&self, b: &B, leaves: &L) -> Result<<E::Out as Valued>::Val<'a, B>> {
        self.tree.run(b, leaves)
    }
}

/// Returns the text of a formula: the source text if it was recorded, and otherwise a text made from the ops, with the
/// names `x0`, `x1` and so on for the arrays.
pub fn text<L: Layout, E: Node<L::Elements>>(e: &E, scalars: &L::Scalars) -> Cow<'static, str> {
    e.text().map_or_else(|| words(&steps::<_, E>(), &numbers::<L, E>(e, scalars)), Cow::Borrowed)
}

/// Converts a formula to a list of steps.
pub fn steps<L, E: Node<L>>() -> Steps {
    let mut steps = Steps::default();
    steps.value = E::write(&mut steps);
    steps
}

/// Collects the numbers that the steps of a formula use.
pub fn numbers<L: Layout, E: Node<L::Elements>>(e: &E, scalars: &L::Scalars) -> Numbers {
    let mut numbers = Numbers::default();
    e.numbers(&L::numbers(scalars), &mut numbers);
    numbers
}

/// A subexpression as text, and the precedence of its outermost operator.
struct SubexpressionText {
    text: String,
    power: u8,
}

/// The precedence of a name or a call, which never needs parentheses.
const CLOSED: u8 = 20;
const PREFIX: u8 = 9;

impl SubexpressionText {
    /// Returns the text, in parentheses if its outermost operator has a lower precedence than `power`.
    fn within(&self, power: u8) -> String {
        if self.power < power { format!("({})", self.text) } else { self.text.clone() }
    }
}

/// The ops that have an infix operator in `expr!`: name of the op, operator, and precedence.
const OPERATORS: &[(&str, &str, u8)] = &[
    ("add", " + ", 7),
    ("subtract", " - ", 7),
    ("multiply", " * ", 8),
    ("divide", " / ", 8),
    ("remainder", " % ", 8),
    ("pow", "**", 10),
    ("bitwise_left_shift", " << ", 6),
    ("bitwise_right_shift", " >> ", 6),
    ("bitwise_and", " & ", 5),
    ("bitwise_xor", " ^ ", 4),
    ("bitwise_or", " | ", 3),
    ("less", " < ", 2),
    ("less_equal", " <= ", 2),
    ("greater", " > ", 2),
    ("greater_equal", " >= ", 2),
    ("equal", " == ", 2),
    ("not_equal", " != ", 2),
];

/// Makes the text of a formula from its ops. For a number without an op, and for a gradient, returns [`FORMULA`].
fn words(steps: &Steps, numbers: &Numbers) -> Cow<'static, str> {
    let mut numbers = numbers.texts().into_iter();
    let mut next = || numbers.next().unwrap_or_else(|| "..".into());
    let mut parts: Vec<SubexpressionText> = Vec::with_capacity(steps.steps.len());
    for step in &steps.steps {
        let part = match step {
            Step::Element(before) => SubexpressionText { text: format!("x{before}"), power: CLOSED },
            Step::Number(_) => {
                let text = next();
                let power = if text.starts_with('-') { PREFIX } else { CLOSED };
                SubexpressionText { text, power }
            }
            Step::Call { row, gradient: None, operands, .. } => {
                let params: String = row.params.iter().map(|_| format!(", {}", next())).collect();
                let operands: Vec<&SubexpressionText> = operands.iter().map(|&operand| &parts[operand]).collect();
                call_text(row.name, &operands, &params)
            }
            Step::Call { .. } | Step::Sum(..) => return Cow::Borrowed(FORMULA),
        };
        parts.push(part);
    }
    steps.value.map_or(Cow::Borrowed(FORMULA), |value| parts.swap_remove(value).text.into())
}

/// Writes an op and its operands as text: with the op's operator if it has one, and otherwise as a call.
fn call_text(name: &str, operands: &[&SubexpressionText], params: &str) -> SubexpressionText {
    let sign = match name {
        "negative" => Some("-"),
        "bitwise_invert" => Some("!"),
        _ => None,
    };
    match (operands, sign, OPERATORS.iter().find(|(known, ..)| *known == name)) {
        ([x], Some(sign), _) => SubexpressionText { text: format!("{sign}{}", x.within(PREFIX)), power: PREFIX },
        ([x, y], _, Some((_, operator, power))) => {
            // `**` is right-associative, comparisons do not chain, and all other operators are left-associative
            let is_power = *operator == "**";
            let left = power + u8::from(is_power || *power == 2);
            let right = power + u8::from(!is_power);
            SubexpressionText { text: format!("{}{operator}{}", x.within(left), y.within(right)), power: *power }
        }
        _ => {
            let operands: Vec<&str> = operands.iter().map(|part| part.text.as_str()).collect();
            SubexpressionText { text: format!("{name}({}{params})", operands.join(", ")), power: CLOSED }
        }
    }
}

/// The report of a formula over its leaves.
struct OfLeaves<'p, 'a, B, L, E>(&'p E, &'p L, PhantomData<fn() -> &'a B>);

impl<'a, B: Arrays, L: Leaves<'a, B>, E: Node<<L::Layout as Layout>::Elements>> Told for OfLeaves<'_, 'a, B, L, E> {
    fn text(&self) -> Option<Cow<'static, str>> {
        Some(text::<L::Layout, E>(self.0, &self.1.scalars()))
    }

    fn arrays(&self) -> Vec<&dyn AnyTyped> {
        let mut shown = Shown(Vec::with_capacity(L::Layout::ARRAYS));
        self.1.visit(&mut shown);
        shown.0
    }
}

/// A visitor that collects the arrays of a formula, to report their dtypes and shapes.
struct Shown<'a>(Vec<&'a dyn AnyTyped>);

impl<'a, B: Arrays> Visitor<'a, B> for Shown<'a> {
    fn array<T: Element>(&mut self, x: &'a B::Array<T>) {
        self.0.push(x);
    }
}

/// Reports the beginning of a formula to a backend that watches calls. The leaves may belong to another backend.
///
/// # Errors
/// Returns an error if the backend refuses the call.
#[inline]
pub fn begin_on<'a, C: Arrays, B: Arrays, L: Leaves<'a, B>, E>(
    b: &C,
    dtype: DType,
    e: &E,
    leaves: &L,
) -> Result<Option<Box<dyn Any>>>
where
    E: Node<<L::Layout as Layout>::Elements>,
{
    if const { C::WATCHES } {
        return b.begin_fused(FORMULA, dtype, &OfLeaves::<'_, 'a, B, L, E>(e, leaves, PhantomData));
    }
    Ok(None)
}

/// The report of a reduction of a formula.
struct OfReduction<'p, 'a, B, L, E> {
    op: &'static str,
    formula: OfLeaves<'p, 'a, B, L, E>,
    axis: &'p Axes,
    keepdims: bool,
}

impl<'a, B: Arrays, L: Leaves<'a, B>, E: Node<<L::Layout as Layout>::Elements>> Told for OfReduction<'_, 'a, B, L, E> {
    fn text(&self) -> Option<Cow<'static, str>> {
        if let Some(text) = self.formula.0.text_reduced() {
            return Some(Cow::Borrowed(text));
        }
        let formula = self.formula.text().unwrap_or_default();
        Some(reduction_text(self.op, &formula, self.axis, self.keepdims).into())
    }

    fn arrays(&self) -> Vec<&dyn AnyTyped> {
        self.formula.arrays()
    }
}

fn reduction_text(op: &str, formula: &str, axis: &Axes, keepdims: bool) -> String {
    let axis = match axis.as_list() {
        None => "..".into(),
        Some([axis]) => axis.to_string(),
        Some(list) => format!("{list:?}"),
    };
    format!("{op}({formula}, {axis}{})", if keepdims { ", keepdims = true" } else { "" })
}

/// Reports that a call has ended with the result `x`, if the beginning of the call was reported. Returns `x`.
///
/// # Errors
/// The errors of [`Arrays::end_fused`].
#[inline(never)]
pub fn ended<B: Arrays, T: Element>(b: &B, begun: Option<Box<dyn Any>>, x: B::Array<T>) -> Result<B::Array<T>> {
    if let Some(begun) = begun {
        b.end_fused(begun, &x)?;
    }
    Ok(x)
}

/// Reports the beginning of a reduction of a formula.
///
/// # Errors
/// Returns an error if the backend refuses the call.
#[inline]
pub(super) fn begin_reduction<'a, B: Arrays, L: Leaves<'a, B>, E>(
    b: &B,
    op: &'static str,
    dtype: DType,
    e: &E,
    leaves: &L,
    (axis, keepdims): (&Axes, bool),
) -> Result<Option<Box<dyn Any>>>
where
    E: Node<<L::Layout as Layout>::Elements>,
{
    if const { B::WATCHES } {
        let formula = OfLeaves(e, leaves, PhantomData);
        return b.begin_fused(op, dtype, &OfReduction::<'_, 'a, B, L, E> { op, formula, axis, keepdims });
    }
    Ok(None)
}

/// The report of the gradient of a formula over stored arrays.
struct OfGradient<'p, B> {
    text: Cow<'static, str>,
    g: &'p Kept<B>,
    arrays: Vec<&'p Kept<B>>,
}

impl<B: Arrays> Told for OfGradient<'_, B> {
    fn text(&self) -> Option<Cow<'static, str>> {
        Some(gradient_text(&self.text).into())
    }

    fn arrays(&self) -> Vec<&dyn AnyTyped> {
        std::iter::once(self.g).chain(self.arrays.iter().copied()).map(Kept::typed).collect()
    }
}

fn gradient_text(of: &str) -> String {
    format!("gradient of {of}")
}

/// Reports the beginning of the computation of a formula's gradient. The reported arrays are `g`, the gradient of the
/// formula's value, and all arrays of the formula.
///
/// # Errors
/// Returns an error if the backend refuses the call.
#[inline]
pub fn begin_gradient<'k, B: Arrays, L: Layout, E: Node<L::Elements>>(
    b: &B,
    dtype: DType,
    e: &E,
    scalars: &L::Scalars,
    g: &'k Kept<B>,
    arrays: impl Iterator<Item = &'k Kept<B>>,
) -> Result<Option<Box<dyn Any>>> {
    if const { B::WATCHES } {
        let told = OfGradient { text: text::<L, E>(e, scalars), g, arrays: arrays.collect() };
        return b.begin_fused(FORMULA, dtype, &told);
    }
    Ok(None)
}

/// The report of a formula's gradient that is computed op by op. The report is stored until the gradient is computed.
#[derive(Debug)]
pub struct KeptTold {
    text: String,
    dtype: DType,
    arrays: Vec<Attributes>,
}

#[derive(Debug)]
struct Attributes(DType, IxDyn);

impl AnyTyped for Attributes {
    fn lengths(&self) -> &[usize] {
        self.1.slice()
    }

    fn element(&self) -> DType {
        self.0
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Told for KeptTold {
    fn text(&self) -> Option<Cow<'static, str>> {
        Some(self.text.clone().into())
    }

    fn arrays(&self) -> Vec<&dyn AnyTyped> {
        self.arrays.iter().map(|x| x as &dyn AnyTyped).collect()
    }
}

impl KeptTold {
    /// Makes the report of the gradient of a formula. `shape` is the shape of the formula's value.
    pub fn gradient<'a, B: Arrays, L: Leaves<'a, B>, E>(dtype: DType, e: &E, leaves: &L, shape: &[usize]) -> KeptTold
    where
        E: Node<<L::Layout as Layout>::Elements>,
    {
        let told = OfLeaves::<'_, 'a, B, L, E>(e, leaves, PhantomData);
        let arrays = told.arrays().into_iter().map(|x| Attributes(x.element(), IxDyn(x.lengths())));
        let arrays = std::iter::once(Attributes(dtype, IxDyn(shape))).chain(arrays).collect();
        KeptTold { text: gradient_text(&told.text().unwrap_or_default()), dtype, arrays }
    }

    /// Reports the beginning of the computation of the gradient.
    ///
    /// # Errors
    /// Returns an error if the backend refuses the call.
    pub fn begin<B: Arrays>(&self, b: &B) -> Result<Option<Box<dyn Any>>> {
        b.begin_fused(FORMULA, self.dtype, self)
    }
}

/// A report whose text is a prefix followed by the text of another report.
#[allow(missing_debug_implementations)] // a report needs no `Debug`
pub struct Prefixed<'t>(pub &'static str, pub &'t dyn Told);

impl Told for Prefixed<'_> {
    fn text(&self) -> Option<Cow<'static, str>> {
        self.1.text().map(|text| format!("{}{text}", self.0).into())
    }

    fn arrays(&self) -> Vec<&dyn AnyTyped> {
        self.1.arrays()
    }
}

/// The report of a single op with these arrays. It has no text, because the op is not a formula.
pub(super) struct OfOp<'p>(pub(super) Vec<&'p dyn AnyTyped>);

impl Told for OfOp<'_> {
    fn text(&self) -> Option<Cow<'static, str>> {
        None
    }

    fn arrays(&self) -> Vec<&dyn AnyTyped> {
        self.0.clone()
    }
}
