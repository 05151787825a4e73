//! Describes a call of an entry to backends that watch calls.

use super::{Arg, ArrayRef, ArrayValue, Call, IndexItem};
use crate::{
    self as rt, Arrays, DynArray, IndexArg, Number, OpInfo, ParamInfo, ParamKind, PlainInfo, Result,
    by_name::{ToLiteral, to_array},
    dispatch,
    raw::RawElement,
};

/// An argument other than an array, as text.
struct Literal<'c, 'a> {
    param: &'static ParamInfo,
    arg: &'c Arg<'a>,
}

impl ToLiteral for Literal<'_, '_> {
    fn text(&self) -> String {
        match self.arg {
            Arg::Axes(x) => x.text(),
            Arg::Lengths(x) => x.text(),
            Arg::Usizes(x) => x.text(),
            Arg::Isizes(x) => x.text(),
            Arg::Number(x) => x.text(),
            Arg::Slices(x) => x.text(),
            Arg::Bytes(x) => x.text(),
            Arg::Text(x) => x.text(),
            Arg::Bool(x) => x.text(),
            Arg::Integer(x) => match self.param.kind {
                ParamKind::Plain(PlainInfo::Usize | PlainInfo::U64)
                | ParamKind::Maybe(PlainInfo::Usize | PlainInfo::U64) => x.to_string(),
                _ => (*x as i64).to_string(),
            },
            Arg::Real(x) => x.text(),
            Arg::Choice(place) => match self.param.kind {
                ParamKind::Choice(names) => names[*place].text(),
                _ => String::new(),
            },
            Arg::Absent => "none".into(),
            Arg::Array(_) | Arg::Given(_) | Arg::Target(_) | Arg::Arrays(_) | Arg::Index(_) | Arg::Element(_) => {
                String::new()
            }
        }
    }
}

/// A handle of an argument's arrays, with the static dtype that watchers see.
fn handle<B: Arrays>(op: &'static str, x: ArrayRef<'_>) -> Result<DynArray<B>> {
    to_array::<B>(op, ArrayValue::of(x))
}

/// Calls `pass` with a description of the call. The handles of arrays that it contains exist until `pass` returns.
pub fn described<B: Arrays, R>(
    info: &'static OpInfo,
    call: &Call<'_, '_>,
    pass: impl FnOnce(&rt::Call<'_>) -> Result<R>,
) -> Result<R> {
    let op = call.op;
    let mut handles: Vec<Vec<DynArray<B>>> = Vec::with_capacity(call.args().len());
    for arg in call.args() {
        let mut own = Vec::new();
        match arg {
            Arg::Array(x) => own.push(handle(op, *x)?),
            Arg::Given(x) | Arg::Target(x) => own.push(handle(op, x.by_ref())?),
            Arg::Arrays(xs) => {
                for x in xs {
                    own.push(handle(op, *x)?);
                }
            }
            Arg::Index(items) => {
                for item in items {
                    if let IndexItem::Array(x) | IndexItem::Mask(x) = item {
                        own.push(handle(op, *x)?);
                    }
                }
            }
            _ => {}
        }
        handles.push(own);
    }
    let literals: Vec<Literal<'_, '_>> =
        info.params.iter().zip(call.args()).map(|(param, arg)| Literal { param, arg }).collect();
    let mut args: Vec<(&'static str, rt::Arg<'_>)> = Vec::with_capacity(literals.len());
    for (literal, own) in literals.iter().zip(&handles) {
        let is_array = matches!(literal.param.kind, ParamKind::Array(_));
        let arg = match literal.arg {
            Arg::Array(_) | Arg::Given(_) | Arg::Target(_) => rt::Arg::Array(own[0].erased()),
            Arg::Arrays(_) => rt::Arg::Arrays(own.iter().map(DynArray::erased).collect()),
            Arg::Index(items) => {
                let mut own = own.iter();
                rt::Arg::Index(items.iter().map(|item| index(item, &mut own)).collect())
            }
            Arg::Element(x) => rt::Arg::Number(number(*x)?),
            Arg::Absent if is_array => rt::Arg::Absent,
            _ => rt::Arg::Plain(literal),
        };
        args.push((literal.param.name, arg));
    }
    let call = rt::Call {
        info: Some(info),
        op,
        formula: None,
        dtype: call.dtype,
        to: (!info.to_dtypes.is_empty()).then_some(call.to),
        is_composed: false,
        args: &args,
    };
    pass(&call)
}

fn index<'a, B: Arrays>(item: &IndexItem<'_>, arrays: &mut std::slice::Iter<'a, DynArray<B>>) -> IndexArg<'a> {
    let text = match item {
        IndexItem::Array(_) | IndexItem::Mask(_) => {
            return arrays.next().map_or(IndexArg::Plain(String::new()), |x| IndexArg::Array(x.erased()));
        }
        IndexItem::Slice(slice) => slice.text(),
        IndexItem::New => "NewAxis".into(),
        IndexItem::Rest => "...".into(),
    };
    IndexArg::Plain(text)
}

fn number(x: RawElement) -> Result<Number> {
    dispatch!(x.dtype(), T => Ok(Number::of(x.cast::<T>())))
}
