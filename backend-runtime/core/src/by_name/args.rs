//! The arguments of one call by name, matched with the parameters of the op.

use super::{DynArray, FromValue, Value};
use crate::{
    Arrays, DType, Element, Error, HostArray, Index, Operand, Ordered, Result, Slice,
    info::{ElementInfo, OpInfo, ParamInfo, ParamKind, ResultInfo},
    precision,
};
use ndarray::{ArrayD, IxDyn};
use std::ops::Deref;

/// The arguments of one call by name, in the order of the op's parameters.
pub struct Args<'a, B: Arrays> {
    /// The backend.
    pub b: &'a B,
    pub(super) op: &'static OpInfo,
    /// The value of each parameter of the op; `None` if the call omits it.
    pub(super) values: Vec<Option<&'a Value<B>>>,
    /// The option `dtype`, which every op accepts.
    pub(super) dtype: Option<DType>,
}

impl<'a, B: Arrays> Args<'a, B> {
    /// Matches the arguments of a call with the op's parameters: unnamed values in order, named values by name. The
    /// option `dtype` gives the dtype of the result if no array determines it.
    pub fn new(
        b: &'a B,
        op: &'static OpInfo,
        positional: &'a [Value<B>],
        named: &'a [(&str, Value<B>)],
    ) -> Result<Args<'a, B>> {
        let fail = |why: String| Err(Error::argument(op.name, why));
        let mut args = Args { b, op, values: vec![None; op.params.len()], dtype: None };
        if positional.len() > op.params.len() {
            let (most, given) = (op.params.len(), positional.len());
            return fail(format!("{given} arguments were given, but it takes {most}: {}", args.names()));
        }
        args.values.iter_mut().zip(positional).for_each(|(place, value)| *place = Some(value));
        for (name, value) in named {
            match op.params.iter().position(|param| param.name == *name) {
                Some(i) if args.values[i].is_some() => return fail(format!("`{name}` is given twice")),
                Some(i) => args.values[i] = Some(value),
                None if *name == "dtype" && args.dtype.is_some() => return fail("`dtype` is given twice".into()),
                // like every option, `dtype` may be given as `none`
                None if *name == "dtype" && matches!(value, Value::None) => {}
                None if *name == "dtype" => args.dtype = Some(args.read("dtype", value)?),
                None => return fail(format!("it has no parameter `{name}`; it takes {}", args.names())),
            }
        }
        for (param, value) in op.params.iter().zip(&args.values) {
            // as in NumPy, omitted axes mean all axes, and omitted bounds mean no bounds
            let may_lack = matches!(
                param.kind,
                ParamKind::Axes | ParamKind::AxisOrAll | ParamKind::LowerBound(_) | ParamKind::UpperBound(_)
            );
            if value.is_none() && param.default.is_none() && !may_lack {
                return fail(format!("`{}` is missing; it takes {}", param.name, args.names()));
            }
        }
        Ok(args)
    }

    fn names(&self) -> String {
        let names: Vec<&str> = self.op.params.iter().map(|param| param.name).collect();
        if names.is_empty() { "no arguments".into() } else { names.join(", ") }
    }

    /// Returns the dtype `T` of the call: the dtype of the arrays, or, without arrays, the option `dtype`. Without
    /// either, returns the dtype of the numbers, and without numbers the [`precision`].
    pub fn dtype(&self) -> Result<DType> {
        let mut found: Option<(&str, DType)> = None;
        for (param, value) in self.given() {
            for dtype in arrays(param, value) {
                match found {
                    Some((name, other)) if other != dtype => {
                        let why =
                            format!("`{name}` is {other} and `{}` is {dtype}; convert one with astype", param.name);
                        return Err(Error::argument(self.op.name, why));
                    }
                    _ => found = Some((param.name, dtype)),
                }
            }
        }
        if let (Some((name, of_arrays)), Some(dtype)) = (found, self.dtype_of_result()) {
            self.check_dtype(name, of_arrays, dtype)?;
        }
        let numbers =
            self.given().filter(|(param, _)| param.is_of_dtype()).filter_map(|(_, value)| value.number_dtype());
        let dtype = found.map(|(_, dtype)| dtype).or(self.dtype_of_result());
        let dtype = dtype.or_else(|| numbers.max_by_key(|dtype| dtype.kind())).unwrap_or_else(precision);
        if self.op.dtypes.contains(&dtype) {
            return Ok(dtype);
        }
        // a whole number becomes a float if the op takes no integers
        let whole = found.is_none() && self.dtype.is_none() && self.op.dtypes.contains(&precision());
        if whole { Ok(precision()) } else { Err(Error::dtype(self.op.name, dtype)) }
    }

    /// Returns an error if the option `dtype` has no effect, because neither the array parameter `name` nor the
    /// result has this dtype.
    fn check_dtype(&self, name: &str, of_arrays: DType, dtype: DType) -> Result<()> {
        let of_result = match self.op.result {
            ResultInfo::One(e) | ResultInfo::List(e) => e.dtype(of_arrays),
            ResultInfo::Fields(_) | ResultInfo::Plain(_) => of_arrays,
        };
        if dtype == of_arrays || dtype == of_result {
            return Ok(());
        }
        let result =
            if of_result == of_arrays { String::new() } else { format!(", or {of_result}, that of its result") };
        let instead = match self.op.name {
            "sum" => "; `sum_as` computes in the dtype that is asked for",
            "prod" => "; `prod_as` computes in the dtype that is asked for",
            _ => "",
        };
        let why = format!(
            "`dtype` is {dtype}, but must be {of_arrays}, the dtype of `{name}`, in which it computes{result}: convert `{name}` or the result with astype{instead}"
        );
        Err(Error::argument(self.op.name, why))
    }

    /// Returns whether the option `dtype` requests sums of `T` elements in `T` itself, instead of in the default wider
    /// dtype `S`.
    pub fn narrows<T: Element, S: Element>(&self) -> bool {
        T::dtype() != S::dtype() && self.narrows_to(T::dtype())
    }

    /// Returns whether the option `dtype` requests sums in the dtype of the elements, instead of in a wider one.
    pub fn narrows_to(&self, dtype: DType) -> bool {
        dtype != dtype.to_sum() && self.dtype == Some(dtype)
    }

    /// Returns the dtype of the result of a conversion op, such as `astype`, from the option `dtype`.
    pub fn to_dtype(&self) -> Result<DType> {
        let Some(dtype) = self.dtype else {
            return Err(Error::argument(self.op.name, "`dtype`, the dtype of the result, must be given"));
        };
        if self.op.to_dtypes.contains(&dtype) { Ok(dtype) } else { Err(Error::dtype(self.op.name, dtype)) }
    }

    /// Returns the error for a dtype that the op does not support.
    pub fn no_dtype<R>(&self, dtype: DType) -> Result<R> {
        Err(Error::dtype(self.op.name, dtype))
    }

    /// Returns the option `dtype` if it determines `T`. Returns `None` for a conversion op, whose option `dtype` is the
    /// dtype of the result.
    fn dtype_of_result(&self) -> Option<DType> {
        if self.op.to_dtypes.is_empty() { self.dtype } else { None }
    }

    fn given(&self) -> impl Iterator<Item = (&'static ParamInfo, &'a Value<B>)> {
        let given = self.op.params.iter().zip(&self.values);
        given.filter_map(|(param, value)| Some((param, (*value)?)))
    }

    pub(super) fn find(&self, param: usize) -> Option<&'a Value<B>> {
        self.values[param].filter(|value| !matches!(value, Value::None))
    }

    pub(super) fn wrong(&self, name: &str, value: &Value<B>, wanted: &str) -> Error {
        Error::argument(self.op.name, format!("`{name}` is {}, but must be {wanted}", value.what()))
    }

    fn read<A: FromValue>(&self, name: &str, value: &Value<B>) -> Result<A> {
        A::from_value(value).ok_or_else(|| self.wrong(name, value, &A::wanted()))
    }

    /// Reads the parameter with the index `param`, which must not have a default. An omitted parameter is read as `..`.
    pub fn get<A: FromValue>(&self, param: usize) -> Result<A> {
        let name = self.op.params[param].name;
        self.read(name, self.values[param].unwrap_or(&Value::All))
    }

    /// Reads the parameter with the index `param`; `None` if the call omits it.
    pub fn option<A: FromValue>(&self, param: usize) -> Result<Option<A>> {
        self.find(param).map(|value| self.read(self.op.params[param].name, value)).transpose()
    }

    /// Reads a parameter as an array. Its value may be an array, a number, or nested lists of numbers.
    pub fn array<T: Element>(&self, param: usize) -> Result<ArrayArg<'a, B, T>> {
        self.array_of(param, self.values[param].unwrap_or(&Value::None))
    }

    fn array_of<T: Element>(&self, param: usize, value: &'a Value<B>) -> Result<ArrayArg<'a, B, T>> {
        match value {
            Value::Array(x) => {
                let wrong = || self.wrong(self.op.params[param].name, value, &format!("an array of {}", T::dtype()));
                if const { T::IS_DYNAMIC } {
                    return x.clone().into_typed().map(ArrayArg::Made).ok_or_else(wrong);
                }
                x.get().map(ArrayArg::Given).ok_or_else(wrong)
            }
            other => self.made(param, other).map(ArrayArg::Made),
        }
    }

    /// Makes an array from a number or from nested lists of numbers.
    pub(super) fn made<T: Element>(&self, param: usize, value: &Value<B>) -> Result<B::Array<T>> {
        self.b.from_ndarray(self.elements_of(param, value)?)
    }

    /// Makes a host array from a number or from nested lists of numbers.
    pub(super) fn elements_of<T: Element>(&self, param: usize, value: &Value<B>) -> Result<HostArray<T>> {
        let wanted = || format!("an array, or numbers that {} holds, in lists of equal lengths", T::dtype());
        self.elements(param, value, wanted)
    }

    /// Reads a parameter as an array, if the call gives it.
    pub fn optional_array<T: Element>(&self, param: usize) -> Result<Option<ArrayArg<'a, B, T>>> {
        self.find(param).map(|_| self.array(param)).transpose()
    }

    /// Reads a parameter as a list of arrays.
    pub fn arrays<T: Element>(&self, param: usize) -> Result<Vec<ArrayArg<'a, B, T>>> {
        let name = self.op.params[param].name;
        let value = self.values[param].unwrap_or(&Value::None);
        let Value::List(items) = value else {
            return Err(self.wrong(name, value, &format!("a list of arrays of {}", T::dtype())));
        };
        items.iter().map(|item| self.array_of(param, item)).collect()
    }

    /// Reads a parameter as an operand: an array or a number.
    pub fn operand<T: Element>(&self, param: usize) -> Result<OperandArg<'a, B, T>> {
        match self.values[param] {
            Some(Value::Array(_) | Value::List(_)) | None => self.array(param).map(OperandArg::Array),
            Some(_) => self.scalar(param).map(OperandArg::Scalar),
        }
    }

    /// Reads a parameter as a lower bound. If the call gives no bound, returns the lowest value of `T`.
    pub fn lower_bound<T: Ordered>(&self, param: usize) -> Result<OperandArg<'a, B, T>> {
        self.bound(param, T::LOWEST)
    }

    /// Reads a parameter as an upper bound. If the call gives no bound, returns the highest value of `T`.
    pub fn upper_bound<T: Ordered>(&self, param: usize) -> Result<OperandArg<'a, B, T>> {
        self.bound(param, T::HIGHEST)
    }

    fn bound<T: Ordered>(&self, param: usize, open: T) -> Result<OperandArg<'a, B, T>> {
        match self.values[param] {
            Some(Value::None | Value::All) | None => Ok(OperandArg::Scalar(open)),
            _ => self.operand(param),
        }
    }

    /// Reads a parameter as a number in the dtype of the call.
    pub fn scalar<T: Element>(&self, param: usize) -> Result<T> {
        let name = self.op.params[param].name;
        let value = self.values[param].unwrap_or(&Value::None);
        value.element().ok_or_else(|| self.wrong(name, value, &format!("a number that {} holds", T::dtype())))
    }

    /// Reads a parameter as a host array. Its value may be an array, a number, or nested lists of numbers.
    pub fn host<T: Element>(&self, param: usize) -> Result<HostArray<T>> {
        match self.values[param].unwrap_or(&Value::None) {
            Value::Array(_) => self.b.to_ndarray(&*self.array::<T>(param)?),
            other => {
                self.elements(param, other, || format!("numbers that {} holds, in lists of equal lengths", T::dtype()))
            }
        }
    }

    /// Reads a parameter as a list of indices. If an item of this list is itself a list, it becomes a mask if it
    /// contains bools, and an index array otherwise.
    pub fn index(&self, param: usize) -> Result<IndexArg<'a, B>> {
        let value = self.values[param].unwrap_or(&Value::None);
        let items = match value {
            Value::List(items) => &items[..],
            one => std::slice::from_ref(one),
        };
        let wanted = "slices, integers, `NewAxis`, `...`, arrays of int64 or masks of bool";
        let one = |item: &'a Value<B>| {
            let is_mask = matches!(item, Value::List(_)) && item.number_dtype() == Some(DType::Bool);
            Ok(match item {
                Value::New => IndexItem::Plain(Index::New),
                Value::Rest => IndexItem::Plain(Index::Rest),
                Value::Array(x) if x.dtype() == DType::Bool => IndexItem::Mask(self.array_of(param, item)?),
                Value::List(_) if is_mask => IndexItem::Mask(self.array_of(param, item)?),
                Value::Array(_) | Value::List(_) => IndexItem::Array(self.array_of(param, item)?),
                other => match Slice::from_value(other) {
                    Some(slice) => IndexItem::Plain(Index::Slice(slice)),
                    None => return Err(self.wrong(self.op.params[param].name, other, wanted)),
                },
            })
        };
        items.iter().map(one).collect::<Result<_>>().map(|items| IndexArg { items })
    }

    /// Makes a host array from a number or from nested lists of numbers. `wanted` describes valid values, for the error
    /// message.
    fn elements<T: Element>(
        &self,
        param: usize,
        value: &Value<B>,
        wanted: impl Fn() -> String,
    ) -> Result<HostArray<T>> {
        let wrong = || self.wrong(self.op.params[param].name, value, &wanted());
        let (mut shape, mut elements) = (Vec::new(), Vec::new());
        lists::<B, T>(value, 0, &mut shape, &mut elements).ok_or_else(wrong)?;
        Ok(ArrayD::from_shape_vec(IxDyn(&shape), elements).map_err(|_| wrong())?.into_shared())
    }

    /// Reads a parameter as a text.
    pub fn text(&self, param: usize) -> Result<&'a str> {
        let name = self.op.params[param].name;
        match self.values[param].unwrap_or(&Value::None) {
            Value::Text(text) => Ok(text),
            other => Err(self.wrong(name, other, "a text")),
        }
    }

    /// Reads a parameter as bytes.
    pub fn bytes(&self, param: usize) -> Result<&'a [u8]> {
        let name = self.op.params[param].name;
        match self.values[param].unwrap_or(&Value::None) {
            Value::Bytes(bytes) => Ok(bytes),
            other => Err(self.wrong(name, other, "bytes")),
        }
    }
}

/// The argument for an array parameter: an array that the caller passed, or an array that was made for the call.
pub enum ArrayArg<'a, B: Arrays, T: Element> {
    /// An array of the call.
    Given(&'a B::Array<T>),
    /// An array made from the numbers of the argument, or another handle of an array of the call.
    Made(B::Array<T>),
}

impl<B: Arrays, T: Element> ArrayArg<'_, B, T> {
    /// Returns the array. It shares its elements with the argument.
    pub fn into_array(self) -> B::Array<T> {
        match self {
            ArrayArg::Given(x) => x.clone(),
            ArrayArg::Made(x) => x,
        }
    }
}

/// A list of indices given as an argument.
pub struct IndexArg<'a, B: Arrays> {
    items: Vec<IndexItem<'a, B>>,
}

/// An item of a list of indices.
enum IndexItem<'a, B: Arrays> {
    Plain(Index<'a, B>),
    Array(ArrayArg<'a, B, i64>),
    Mask(ArrayArg<'a, B, bool>),
}

impl<B: Arrays> IndexItem<'_, B> {
    fn index(&self) -> Index<'_, B> {
        match self {
            IndexItem::Plain(item) => *item,
            IndexItem::Array(x) => Index::Array(&**x),
            IndexItem::Mask(x) => Index::Mask(&**x),
        }
    }
}

impl<B: Arrays> IndexArg<'_, B> {
    /// Returns the indices, in the form that the op's method takes.
    pub fn indices(&self) -> Vec<Index<'_, B>> {
        self.items.iter().map(IndexItem::index).collect()
    }
}

impl<B: Arrays, T: Element> Deref for ArrayArg<'_, B, T> {
    type Target = B::Array<T>;

    fn deref(&self) -> &B::Array<T> {
        match self {
            ArrayArg::Given(x) => x,
            ArrayArg::Made(x) => x,
        }
    }
}

/// An argument that is an array or a number.
pub enum OperandArg<'a, B: Arrays, T: Element> {
    /// An array.
    Array(ArrayArg<'a, B, T>),
    /// A number.
    Scalar(T),
}

impl<B: Arrays, T: Element> OperandArg<'_, B, T> {
    /// Returns the operand, in the form that the op's method takes.
    pub fn operand(&self) -> Operand<'_, B, T> {
        match self {
            OperandArg::Array(x) => Operand::array(&**x),
            OperandArg::Scalar(x) => Operand::Scalar(*x),
        }
    }
}

/// Returns the dtypes of the arrays in a parameter's value. The list is empty if the dtype of the parameter is not the
/// dtype `T` of the call.
fn arrays<B: Arrays>(param: &ParamInfo, value: &Value<B>) -> Vec<DType> {
    if !param.is_of_dtype() {
        return Vec::new();
    }
    match value {
        Value::Array(x) => vec![x.dtype()],
        Value::List(items) => items.iter().filter_map(Value::as_array).map(DynArray::dtype).collect(),
        _ => Vec::new(),
    }
}

/// Collects the elements of nested lists in `elements`, and the lengths of the lists at each depth in `shape`. Returns
/// `None` if lists at the same depth differ in length, or if an item is not an element.
fn lists<B: Arrays, T: Element>(
    value: &Value<B>,
    depth: usize,
    shape: &mut Vec<usize>,
    elements: &mut Vec<T>,
) -> Option<()> {
    let Value::List(items) = value else {
        elements.push(value.element()?);
        return (depth == shape.len()).then_some(());
    };
    match shape.get(depth) {
        Some(&length) if length != items.len() => return None,
        Some(_) => {}
        // the first list at each depth sets the length of its axis
        None if elements.is_empty() => shape.push(items.len()),
        None => return None,
    }
    items.iter().try_for_each(|item| lists(item, depth + 1, shape, elements))
}

impl ParamInfo {
    /// Returns whether the parameter's arrays or numbers have the dtype `T` of the call.
    pub fn is_of_dtype(&self) -> bool {
        use ParamKind::*;
        let of_t = |e| e == ElementInfo::T;
        match self.kind {
            Array(e) | Operand(e) | LowerBound(e) | UpperBound(e) | Arrays(e) | Target(e) => of_t(e),
            kind => matches!(kind, Scalar | Host),
        }
    }
}
