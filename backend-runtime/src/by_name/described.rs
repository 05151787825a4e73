//! Describes the arguments of a call by name to backends that watch calls.

use super::{Args, Value, literal::ToLiteral};
use crate::{
    Arg, Arrays, Call, DType, ElementInfo, HostArray, IndexArg, Number, PlainInfo, Result, dispatch,
    info::{ParamInfo, ParamKind},
    wrap::AnyTyped,
};

/// A parameter and its value in a call. The value is written as text only if a watcher asks for the text.
struct Given<'a, B: Arrays> {
    param: &'static ParamInfo,
    value: Option<&'a Value<B>>,
}

/// A function that makes an array from the numbers that a call gives. Its arguments are the call, the parameter's
/// index and the dtype.
type MakeArray<'m, B> = dyn Fn(&Args<'_, B>, usize, DType) -> Result<Value<B>> + 'm;

impl<'a, B: Arrays> Args<'a, B> {
    /// Calls `pass` with a description of the call in the dtype `dtype`. The description contains all arguments, and
    /// the defaults of omitted options.
    pub fn described<R>(&self, dtype: DType, pass: impl FnOnce(&Call<'_>) -> Result<R>) -> Result<R> {
        let given: Vec<Given<'_, B>> = self.op.params.iter().zip(&self.values).map(Given::new).collect();
        let args: Vec<(&'static str, Arg<'_>)> =
            given.iter().map(|given| (given.param.name, given.arg(dtype))).collect();
        let to = if self.op.to_dtypes.is_empty() { None } else { Some(self.to_dtype()?) };
        pass(&Call { info: Some(self.op), op: self.op.name, formula: None, dtype, to, is_composed: false, args: &args })
    }

    /// Returns the values of all parameters that the call gives, with the parameters' names. If the op takes an array
    /// and the call gives a number or a list of numbers, `make` makes an array of this dtype from the numbers.
    pub fn with_arrays_made(&self, dtype: DType, make: &MakeArray<B>) -> Result<Vec<(&'static str, Value<B>)>> {
        let mut all = Vec::with_capacity(self.values.len() + 1);
        for (place, (param, value)) in self.op.params.iter().zip(&self.values).enumerate() {
            let Some(value) = value else { continue };
            let is_made = |e: ElementInfo| {
                match value {
                    Value::List(_) => true,
                    Value::Bool(_) | Value::Integer(_) | Value::Float(_) | Value::Complex(_) => {
                        matches!(param.kind, ParamKind::Array(_) | ParamKind::Target(_))
                    }
                    _ => false,
                }
                .then_some(e.dtype(dtype))
            };
            let made = match param.kind {
                ParamKind::Array(e) | ParamKind::Target(e) | ParamKind::Operand(e) | ParamKind::Bound(e) => is_made(e),
                _ => None,
            };
            let value = match made {
                Some(of) => make(self, place, of)?,
                None => (*value).clone(),
            };
            all.push((param.name, value));
        }
        if let Some(dtype) = self.dtype {
            all.push(("dtype", Value::Text(dtype.name().into())));
        }
        Ok(all)
    }

    /// Makes a host array from the value of a parameter, which is a number or nested lists of numbers.
    pub fn host_elements<T: crate::Element>(&self, param: usize) -> Result<HostArray<T>> {
        self.elements_of(param, self.values[param].unwrap_or(&Value::None))
    }
}

impl<'a, B: Arrays> Given<'a, B> {
    fn new((param, value): (&'static ParamInfo, &Option<&'a Value<B>>)) -> Given<'a, B> {
        // `none` counts as an omitted argument if the parameter has a default
        let value = value.filter(|value| param.default.is_none() || !matches!(value, Value::None));
        Given { param, value }
    }

    fn arg(&self, dtype: DType) -> Arg<'_> {
        use ParamKind::*;
        match (self.param.kind, self.value) {
            (Array(_), None) | (Bound(_), None | Some(Value::None | Value::All)) => Arg::Absent,
            (Host, Some(Value::Array(x))) => Arg::Host(x.erased()),
            (Index, Some(Value::List(items))) => Arg::Index(items.iter().map(item).collect()),
            (Index, Some(one)) => Arg::Index(vec![item(one)]),
            (_, Some(Value::Array(x))) => Arg::Array(x.erased()),
            (Arrays(_), Some(Value::List(items))) => {
                let erased = |item: &'a Value<B>| item.as_array().map(|x| x.erased());
                match items.iter().map(erased).collect::<Option<Vec<&dyn AnyTyped>>>() {
                    Some(arrays) => Arg::Arrays(arrays),
                    None => Arg::Plain(self),
                }
            }
            (Operand(e) | Bound(e), Some(value)) => number(value, e.dtype(dtype)).map_or(Arg::Plain(self), Arg::Number),
            (Scalar, Some(value)) => number(value, dtype).map_or(Arg::Plain(self), Arg::Number),
            _ => Arg::Plain(self),
        }
    }
}

impl<B: Arrays> ToLiteral for Given<'_, B> {
    /// Writes the argument, or its default, as text, in the form of an argument of the op's method.
    fn text(&self) -> String {
        use ParamKind::*;
        let is_real = matches!(self.param.kind, Plain(PlainInfo::F64) | Maybe(PlainInfo::F64));
        match (self.param.kind, self.value) {
            (AxisOrAll, Some(Value::All)) => "none".into(),
            (AxisOrAll, None) => self.param.default_text().unwrap_or_else(|| "none".into()),
            (_, None) => self.param.default_text().unwrap_or_else(|| "..".into()),
            (Axes, Some(Value::None)) => "..".into(),
            (Axes | Lengths | Shape | Signed | Widths, Some(Value::Integer(x))) => format!("[{x}]"),
            (Widths, Some(Value::List(items))) => {
                let flat = items.iter().flat_map(|item| match item {
                    Value::List(pair) => &pair[..],
                    one => std::slice::from_ref(one),
                });
                list(flat)
            }
            (_, Some(Value::Integer(x))) if is_real => (*x as f64).text(),
            (_, Some(value)) => literal(value),
        }
    }
}

fn item<B: Arrays>(value: &Value<B>) -> IndexArg<'_> {
    match value {
        Value::Array(x) => IndexArg::Array(x.erased()),
        other => IndexArg::Plain(literal(other)),
    }
}

/// Converts a value to an element of the dtype; `None` if it is no number, or if the dtype cannot represent it.
fn number<B: Arrays>(value: &Value<B>, dtype: DType) -> Option<Number> {
    let number: Result<Option<Number>> = dispatch!(dtype, T => Ok(value.element::<T>().map(Number::of)));
    number.ok().flatten()
}

fn list<'a, B: Arrays>(items: impl Iterator<Item = &'a Value<B>>) -> String {
    format!("[{}]", items.map(literal).collect::<Vec<_>>().join(", "))
}

fn literal<B: Arrays>(value: &Value<B>) -> String {
    match value {
        Value::Array(x) => format!("{:?}", x.erased()),
        Value::Bool(x) => x.text(),
        Value::Integer(x) => x.to_string(),
        Value::Float(x) => x.text(),
        Value::Complex(x) => x.text(),
        Value::Text(x) => x.as_str().text(),
        Value::List(items) => list(items.iter()),
        Value::Slice(x) => x.text(),
        Value::Bytes(x) => x.as_slice().text(),
        Value::All => "..".into(),
        Value::New => "NewAxis".into(),
        Value::Rest => "...".into(),
        Value::None => "none".into(),
    }
}
