//! The arguments of a call by name, as watchers of calls see them.

use super::{Args, Value, literal::ToLiteral};
use crate::{
    Arg, Arrays, Call, DType, IndexArg, Number, PlainInfo, Result,
    info::{ParamInfo, ParamKind},
    wrap::AnyTyped,
};

/// An argument as text.
struct Text(String);

impl ToLiteral for Text {
    fn text(&self) -> String {
        self.0.clone()
    }
}

impl<B: Arrays> Args<'_, B> {
    /// Passes the call, in the dtype `dtype`, with all its arguments and the defaults of its options.
    pub fn described<R>(&self, dtype: DType, pass: impl FnOnce(&Call<'_>) -> Result<R>) -> Result<R> {
        let given = || self.op.params.iter().zip(&self.values);
        let texts: Vec<Text> = given().map(|(param, value)| Text(text_of(param, *value))).collect();
        let args: Vec<(&'static str, Arg<'_>)> =
            given().zip(&texts).map(|((param, value), text)| (param.name, arg(param, *value, text))).collect();
        let to = if self.op.to_dtypes.is_empty() { None } else { Some(self.to_dtype()?) };
        pass(&Call { info: Some(self.op), op: self.op.name, formula: None, dtype, to, is_composed: false, args: &args })
    }
}

fn arg<'a, B: Arrays>(param: &ParamInfo, value: Option<&'a Value<B>>, text: &'a Text) -> Arg<'a> {
    use ParamKind::*;
    match (param.kind, value) {
        (Array(_), None | Some(Value::None)) => Arg::Absent,
        (Host, Some(Value::Array(x))) => Arg::Host(x.typed()),
        (Index, Some(Value::List(items))) => Arg::Index(items.iter().map(item).collect()),
        (Index, Some(one)) => Arg::Index(vec![item(one)]),
        (_, Some(Value::Array(x))) => Arg::Array(x.typed()),
        (Arrays(_), Some(Value::List(items))) => {
            let typed = |item: &'a Value<B>| item.as_array().map(|x| x.typed());
            match items.iter().map(typed).collect::<Option<Vec<&dyn AnyTyped>>>() {
                Some(arrays) => Arg::Arrays(arrays),
                None => Arg::Plain(text),
            }
        }
        (Operand(_) | Bound(_) | Scalar, Some(value)) => number(value).map_or(Arg::Plain(text), Arg::Number),
        _ => Arg::Plain(text),
    }
}

fn item<B: Arrays>(value: &Value<B>) -> IndexArg<'_> {
    match value {
        Value::Array(x) => IndexArg::Array(x.typed()),
        Value::New => IndexArg::Plain("NewAxis".into()),
        Value::Rest => IndexArg::Plain("...".into()),
        other => IndexArg::Plain(literal(other)),
    }
}

fn number<B: Arrays>(value: &Value<B>) -> Option<Number> {
    Some(match value {
        Value::Bool(x) => Number::Bool(*x),
        Value::Integer(x) => Number::Integer(*x),
        Value::Float(x) => Number::Real(*x),
        Value::Complex(x) => Number::Complex(*x),
        _ => return None,
    })
}

/// The text of an argument or of its default, written as for the method of the op.
fn text_of<B: Arrays>(param: &ParamInfo, value: Option<&Value<B>>) -> String {
    let is_real = matches!(param.kind, ParamKind::Plain(PlainInfo::F64) | ParamKind::Maybe(PlainInfo::F64));
    match (param.kind, value) {
        (_, None) => param.default_text().unwrap_or_else(|| "..".into()),
        (ParamKind::Axes, Some(Value::Integer(axis))) => format!("[{axis}]"),
        (_, Some(Value::Integer(x))) if is_real => (*x as f64).text(),
        (_, Some(value)) => literal(value),
    }
}

fn literal<B: Arrays>(value: &Value<B>) -> String {
    match value {
        Value::Array(x) => format!("{:?}", x.typed()),
        Value::Bool(x) => x.text(),
        Value::Integer(x) => x.to_string(),
        Value::Float(x) => x.text(),
        Value::Complex(x) => x.text(),
        Value::Text(x) => x.as_str().text(),
        Value::List(items) => format!("[{}]", items.iter().map(literal).collect::<Vec<_>>().join(", ")),
        Value::Slice(x) => x.text(),
        Value::Bytes(x) => x.as_slice().text(),
        Value::All => "..".into(),
        Value::New => "NewAxis".into(),
        Value::Rest => "...".into(),
        Value::None => "none".into(),
    }
}
