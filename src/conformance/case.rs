//! One case of a row of the op table, that is, one test call of an op. Parses the text of the case into argument
//! values, by the types of the row's parameters, and runs the case.

use super::{
    Row, Values,
    data::sample,
    extreme,
    parse::{self, Arg, Item},
    random::{Layout, Sample, laid_out},
    refusing::{allowed, is_refused},
    settings,
};
use backend_runtime::{
    Arrays, DType, DTypeKind, DynArray, Element, ElementInfo, Error, HostArray, ParamInfo, ParamKind, PlainInfo,
    Result, ResultInfo, Value, dispatch,
};
use std::{cell::Cell, fmt};

/// Signature of the function `call` that the macro generates for an op table. Its parameters are the backend, the name
/// of the op, the positional values and the named values.
pub type Call<B> = fn(&B, &str, &[Value<B>], &[(&str, Value<B>)]) -> Result<Value<B>>;

/// Returns the bytes that this thread has copied from the device to the host so far; `None` if the backend does not
/// count them.
pub type Meter = fn() -> Option<u64>;

/// The dtypes of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DTypes {
    /// The dtype that replaces the row's type parameter `T`.
    pub of: DType,
    /// The dtype that replaces the second type parameter `U`, if the row has one.
    pub to: Option<DType>,
}

impl fmt::Display for DTypes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DTypes { of, to } = self;
        match to {
            None => of.fmt(f),
            Some(to) => write!(f, "{of} to {to}"),
        }
    }
}

/// The outcome of a call: its results, and the number of bytes copied.
#[derive(Debug)]
pub(crate) struct Called {
    pub results: Result<Vec<Values>>,
    /// Number of elements of the largest sample among the arguments.
    pub size: usize,
    /// Bytes that the op itself copied to the host, before its results were read.
    pub copied: u64,
}

/// Calls a row with the arguments that `text` describes.
pub(crate) fn call<B: Arrays>(
    b: &B,
    row: &Row,
    dtypes: DTypes,
    text: &str,
    call: Call<B>,
    meter: Option<Meter>,
) -> Called {
    let case = Case { b, row, dtypes, size: Cell::new(0) };
    let read = || meter.and_then(|meter| meter()).unwrap_or(0);
    let mut copied = 0;
    let results = case.values(text).and_then(|(positional, options)| {
        let before = read();
        let result = call(b, row.name, &positional, &options);
        copied = read() - before;
        // an error that the device reports late must count as an error of this op, not of the next one
        let told = b.synchronize();
        case.read(&result.and_then(|result| told.map(|()| result))?)
    });
    Called { results, size: case.size.get(), copied }
}

/// Parses the case `text` of an op, and returns the values of its arguments with the names of their parameters.
pub(crate) fn named<B: Arrays>(b: &B, row: &Row, dtypes: DTypes, text: &str) -> Result<Vec<(&'static str, Value<B>)>> {
    let (positional, options) = Case { b, row, dtypes, size: Cell::new(0) }.values(text)?;
    let required = row.params.iter().filter(|p| p.default.is_none()).map(|p| p.name);
    Ok(required.zip(positional).chain(options).collect())
}

/// The arguments of one call, on one backend.
struct Case<'b, B: Arrays> {
    b: &'b B,
    row: &'b Row,
    dtypes: DTypes,
    size: Cell<usize>,
}

/// Positional values and named values.
type Arguments<B> = (Vec<Value<B>>, Vec<(&'static str, Value<B>)>);

impl<B: Arrays> Case<'_, B> {
    /// Parses the arguments from `text`.
    fn values(&self, text: &str) -> Result<Arguments<B>> {
        let fail = |why: String| Err(Error::argument(self.row.name, why));
        let args = parse::args(text).map_err(|why| Error::argument(self.row.name, why))?;
        let required: Vec<&ParamInfo> = self.row.params.iter().filter(|p| p.default.is_none()).collect();
        if args.positional.len() != required.len() {
            let names: Vec<&str> = required.iter().map(|p| p.name).collect();
            return fail(format!("the case `{text}` does not give {names:?}"));
        }
        let positional = required.iter().zip(&args.positional).map(|(param, arg)| self.value(param, arg));
        let positional = positional.collect::<Result<_>>()?;
        let mut options = Vec::new();
        for (name, arg) in &args.named {
            let Some(param) = self.row.params.iter().find(|p| p.name == name && p.default.is_some()) else {
                return fail(format!("the case `{text}` has `{name}`, which is not an option"));
            };
            options.push((param.name, self.value(param, arg)?));
        }
        // sums get no `dtype`, so they are compared in the dtype that they have by default
        if self.row.result != ResultInfo::One(ElementInfo::Sum) {
            options.push(("dtype", self.dtypes.to.unwrap_or(self.dtypes.of).into()));
        }
        Ok((positional, options))
    }

    /// Converts an argument to the type of the parameter.
    fn value(&self, param: &ParamInfo, arg: &Arg) -> Result<Value<B>> {
        let wrong =
            || Error::argument(self.row.name, format!("a case gives {arg:?} for the parameter `{}`", param.name));
        let text = match arg {
            Arg::Name(text) | Arg::Number(text) => text.as_str(),
            Arg::Quoted(_) | Arg::List(_) => "",
        };
        if param.default.is_some() && text == "none" {
            return Ok(Value::None);
        }
        match (param.kind, arg) {
            (ParamKind::LowerBound(_) | ParamKind::UpperBound(_), Arg::Name(_)) if text == "all" => Ok(Value::All),
            (
                ParamKind::Scalar | ParamKind::Operand(_) | ParamKind::LowerBound(_) | ParamKind::UpperBound(_),
                Arg::Number(_),
            ) => self.scalar(text).ok_or_else(wrong),
            (
                ParamKind::Array(e)
                | ParamKind::Operand(e)
                | ParamKind::LowerBound(e)
                | ParamKind::UpperBound(e)
                | ParamKind::Target(e),
                Arg::Name(_),
            ) => self.array(param, e, text),
            (ParamKind::Host, Arg::Name(_)) => self.array(param, ElementInfo::T, text),
            (ParamKind::Arrays(e), Arg::List(names)) => {
                let one = |name: &Arg| match name {
                    Arg::Name(name) => self.array(param, e, name),
                    _ => Err(wrong()),
                };
                names.iter().map(one).collect::<Result<_>>().map(Value::List)
            }
            (ParamKind::Bytes, Arg::Name(_)) => dispatch!(self.dtypes.of, T => {
                let host = self.sample::<T>(param, text)?;
                Ok(Value::Bytes(allowed(|| Values::of(&host)).bytes.unwrap_or_default()))
            }),
            (ParamKind::Slices, Arg::Quoted(slices)) => {
                let slices = parse::slices(slices).map_err(|why| Error::argument(self.row.name, why))?;
                Ok(slices.into())
            }
            (ParamKind::Text, Arg::Quoted(text)) => Ok(Value::Text(text.clone())),
            (ParamKind::Index, Arg::Quoted(index)) => {
                let items = parse::index(index).map_err(|why| Error::argument(self.row.name, why))?;
                items.iter().map(|item| self.item(param, item)).collect::<Result<_>>().map(Value::List)
            }
            (ParamKind::Plain(PlainInfo::F64) | ParamKind::Maybe(PlainInfo::F64), _) => {
                text.parse().map(Value::Float).map_err(|_| wrong())
            }
            (ParamKind::Number, Arg::Number(text)) => match text.parse() {
                Ok(whole) => Ok(Value::Integer(whole)),
                Err(_) => text.parse().map(Value::Float).map_err(|_| wrong()),
            },
            (ParamKind::Choice(_), Arg::Name(_)) => Ok(Value::Text(text.into())),
            _ => plain(arg).ok_or_else(wrong),
        }
    }

    /// Converts an item of a list of indices. A name stands for a mask if there is a bool sample (test array) of this
    /// name, otherwise for an array of indices.
    fn item(&self, param: &ParamInfo, item: &Item) -> Result<Value<B>> {
        Ok(match item {
            Item::Slice(slice) => (*slice).into(),
            Item::New => Value::New,
            Item::Rest => Value::Rest,
            Item::Name(name) if sample(DType::Bool, name).is_some() => self.array(param, ElementInfo::Bool, name)?,
            Item::Name(name) => self.array(param, ElementInfo::Int64, name)?,
        })
    }

    /// The sample (test array) of this name, as an array of the backend.
    fn array(&self, param: &ParamInfo, element: ElementInfo, name: &str) -> Result<Value<B>> {
        let dtype = match element {
            ElementInfo::U => self.dtypes.to.unwrap_or(self.dtypes.of),
            element => element.dtype(self.dtypes.of),
        };
        dispatch!(dtype, T => self.b.from_ndarray(self.sample::<T>(param, name)?).map(Value::array::<T>))
    }

    /// Converts a number to the dtype of the call. The same case is used in all dtypes, so a number out of range wraps.
    fn scalar(&self, text: &str) -> Option<Value<B>> {
        let number = text.parse::<i64>();
        let dtype = self.dtypes.of;
        match dtype.kind() {
            DTypeKind::Bool => number.ok().map(|x| Value::Bool(x != 0)),
            DTypeKind::Signed | DTypeKind::Unsigned => {
                let number = number.ok().or_else(|| text.parse::<f64>().ok().map(|x| x as i64))?;
                let all = 1_i128 << (8 * dtype.size());
                let low = i128::from(number).rem_euclid(all);
                let negative = dtype.kind() == DTypeKind::Signed && low >= all / 2;
                Some(Value::Integer(if negative { low - all } else { low }))
            }
            DTypeKind::Real | DTypeKind::Complex => {
                number.map(Value::from).ok().or_else(|| text.parse().ok().map(Value::Float))
            }
        }
    }

    fn sample<T: Element>(&self, param: &ParamInfo, name: &str) -> Result<HostArray<T>> {
        let found = allowed(|| match Sample::of(name) {
            Some(random) => random.values(T::DTYPE).array().map(|x| laid_out(random.layout, x)),
            None => match sample(T::DTYPE, name) {
                Some(values) => values.array().map(|x| laid_out(layout(name), x)),
                None => extreme::sample(name),
            },
        });
        let x = found.ok_or_else(|| {
            let why = format!("a case gives `{name}` for the parameter `{}`, no sample of {}", param.name, T::DTYPE);
            Error::argument(self.row.name, why)
        })?;
        self.size.set(self.size.get().max(x.len()));
        Ok(x)
    }

    /// Returns the arrays of a result for comparison; a number becomes a 0-D array.
    fn read(&self, result: &Value<B>) -> Result<Vec<Values>> {
        match result {
            Value::Array(x) => Ok(vec![dispatch!(x.dtype(), T => self.elements::<T>(x))?]),
            Value::List(items) => {
                let parts = items.iter().map(|x| self.read(x)).collect::<Result<Vec<_>>>()?;
                Ok(parts.into_iter().flatten().collect())
            }
            other => {
                let number = self.number(other).map(|number| vec![number]);
                number.ok_or_else(|| Error::argument(self.row.name, format!("the result is {other}")))
            }
        }
    }

    /// Converts a result that is a number to a 0-D array, in the dtype that corresponds to the type of the number.
    fn number(&self, value: &Value<B>) -> Option<Values> {
        fn values<T: Element>(x: T) -> Values {
            allowed(|| Values::of(&ndarray::arr0(x).into_dyn().into_shared()))
        }
        match (self.row.result, value) {
            (ResultInfo::Plain(PlainInfo::Bool), Value::Bool(x)) => Some(values(*x)),
            (ResultInfo::Plain(PlainInfo::F64), Value::Float(x)) => Some(values(*x)),
            (ResultInfo::Plain(PlainInfo::Usize | PlainInfo::U64), Value::Integer(x)) => {
                u64::try_from(*x).ok().map(values)
            }
            (ResultInfo::Plain(PlainInfo::Isize | PlainInfo::I64), Value::Integer(x)) => {
                i64::try_from(*x).ok().map(values)
            }
            _ => None,
        }
    }

    fn elements<T: Element>(&self, x: &DynArray<B>) -> Result<Values> {
        let shape = x.shape(self.b);
        let bytes = shape.iter().fold(size_of::<T>(), |bytes, len| bytes.saturating_mul(*len));
        if !settings::is_read(shape, size_of::<T>()) || is_refused(bytes) {
            // The result is too large to be read. The function returns the error of a refused allocation, which the
            // test does not count as an error of the op. The library itself may have an allocator that never refuses
            // memory.
            return Err(Error::memory(self.row.name, isize::MAX as usize));
        }
        let array = x.get::<T>().ok_or_else(|| Error::dtype(self.row.name, x.dtype()))?;
        let host = self.b.to_ndarray(array)?;
        let values = allowed(|| Values::of(&host));
        if values.shape != shape {
            let why = format!("`shape` says {shape:?}, `to_ndarray` gives {:?}", values.shape);
            return Err(Error::argument(self.row.name, why));
        }
        Ok(values)
    }
}

/// The memory layout of a sample (test array), by its name.
fn layout(name: &str) -> Layout {
    match name {
        "mt" | "sqt" => Layout::Swapped,
        "mrev" => Layout::Reversed,
        "mstep" => Layout::Stepped,
        _ => Layout::Packed,
    }
}

/// Converts integers, bools, `all`, and lists of such values.
fn plain<B: Arrays>(arg: &Arg) -> Option<Value<B>> {
    match arg {
        Arg::Number(text) => text.parse().ok().map(Value::Integer),
        Arg::Name(name) if name == "all" => Some(Value::All),
        Arg::Name(name) => name.parse().ok().map(Value::Bool),
        Arg::List(items) => items.iter().map(plain).collect::<Option<_>>().map(Value::List),
        Arg::Quoted(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{super::Accuracy, *};
    use backend_runtime::{DefaultInfo, numpyish::Numpyish};

    const ROW: Row = Row {
        name: "fft",
        group: "fft",
        params: &[
            ParamInfo::new("x", ParamKind::Array(ElementInfo::T), None),
            ParamInfo::new("axis", ParamKind::Axes, None),
            ParamInfo::new("n", ParamKind::Maybe(PlainInfo::Usize), Some(DefaultInfo::None)),
            ParamInfo::new("norm", ParamKind::Choice(&["backward", "ortho"]), Some(DefaultInfo::Choice("backward"))),
        ],
        result: ResultInfo::One(ElementInfo::Complex),
        signature: "",
        cases: &[],
        accuracy: Accuracy::EXACT,
        any_zero: false,
        waits: 0,
        raises: &[],
        compared: &[],
        seed: None,
    };

    static B: Numpyish = Numpyish::new();

    fn case(dtype: DType) -> Case<'static, Numpyish> {
        Case { b: &B, row: &ROW, dtypes: DTypes { of: dtype, to: None }, size: Cell::new(0) }
    }

    #[test]
    fn arguments_are_what_the_parameters_are() {
        let float32 = case(DType::Float32);
        let (positional, options) = float32.values("m, [0, -1], norm = ortho, n = none").unwrap();
        let [Value::Array(x), Value::List(axes)] = &positional[..] else { panic!("{positional:?}") };
        assert_eq!(x.shape(float32.b), [3, 4]);
        assert_eq!(float32.size.get(), 12);
        assert!(matches!(axes[..], [Value::Integer(0), Value::Integer(-1)]));
        let [("norm", Value::Text(norm)), ("n", Value::None), ("dtype", Value::Text(dtype))] = &options[..] else {
            panic!("{options:?}")
        };
        assert_eq!((norm.as_str(), dtype.as_str()), ("ortho", "float32"));
        for wrong in ["m", "m, 0, axes = 1", "m, 0, x = m", "m, 0, n = ortho", "[m], 0", "unknown, 0"] {
            assert!(float32.values(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn arrays_are_of_the_dtype_that_the_parameter_says() {
        let complex = case(DType::Complex64);
        for (element, dtype) in [
            (ElementInfo::T, DType::Complex64),
            (ElementInfo::Real, DType::Float32),
            (ElementInfo::Bool, DType::Bool),
            (ElementInfo::UInt8, DType::UInt8),
            (ElementInfo::Int32, DType::Int32),
            (ElementInfo::Int64, DType::Int64),
        ] {
            let param = ParamInfo::new("x", ParamKind::Array(element), None);
            let made = complex.value(&param, &Arg::Name("m".into())).unwrap();
            assert_eq!(made.as_array().map(DynArray::dtype), Some(dtype), "{element:?}");
        }
    }

    #[test]
    fn results_may_be_numbers() {
        let read = |result: PlainInfo, value: Value<Numpyish>| {
            let row = Row { result: ResultInfo::Plain(result), ..ROW };
            let dtypes = DTypes { of: DType::Float32, to: None };
            let case = Case { b: &B, row: &row, dtypes, size: Cell::new(0) };
            case.read(&value).map(|read| (read[0].dtype, read[0].shape.clone(), read[0].bytes.clone().unwrap()))
        };
        assert_eq!(read(PlainInfo::Bool, true.into()).unwrap(), (DType::Bool, vec![], vec![1]));
        let bytes = (-2_i64).to_le_bytes().to_vec();
        assert_eq!(read(PlainInfo::Isize, (-2_isize).into()).unwrap(), (DType::Int64, vec![], bytes));
        let bytes = u64::MAX.to_le_bytes().to_vec();
        assert_eq!(read(PlainInfo::U64, u64::MAX.into()).unwrap(), (DType::UInt64, vec![], bytes));
        let bytes = 0.5_f64.to_le_bytes().to_vec();
        assert_eq!(read(PlainInfo::F64, 0.5.into()).unwrap(), (DType::Float64, vec![], bytes));
        assert!(read(PlainInfo::Bool, 1.into()).is_err() && read(PlainInfo::F64, "1".into()).is_err());
    }

    #[test]
    fn numbers_are_of_the_dtype() {
        let scalar = |dtype: DType, text: &str| case(dtype).scalar(text).unwrap().to_string();
        assert_eq!(scalar(DType::UInt8, "-3"), "253");
        assert_eq!(scalar(DType::UInt64, "-1"), u64::MAX.to_string());
        assert_eq!(scalar(DType::Int64, "-1"), "-1");
        assert_eq!(scalar(DType::Bool, "2"), "true");
        assert_eq!(scalar(DType::Float32, "0.5"), "0.5");
    }
}
