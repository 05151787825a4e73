//! One case of a row: its arguments, read as what each parameter is.

use super::{
    Values,
    data::sample,
    extreme, fuzz,
    parse::{self, Arg, Args},
    random::{Layout, Sample, laid_out},
    refusing::allowed,
};
use backend_runtime::{Arrays, Axes, Element, Error, HostArray, Lengths, Operand, ParamInfo, Result, Slice};
use std::{cell::Cell, str::FromStr};

/// The arguments of one call, on one backend.
pub struct Case<'b, B: Arrays> {
    /// The backend.
    pub b: &'b B,
    row: &'static str,
    /// Names of the parameters without a default, in order.
    positional: Vec<&'static str>,
    args: Args,
    size: Cell<usize>,
    /// Taken when the first result is read.
    meter: Cell<Option<Meter>>,
    /// What the meter said before the call.
    before: u64,
    /// Bytes that the op itself copied to the host, once it is known.
    copied: Cell<u64>,
}

/// Bytes that this thread has copied from the device to the host so far, where that is counted.
pub type Meter = fn() -> Option<u64>;

/// What an `operand` parameter is given: a sample, or a number.
pub enum OperandSample<B: Arrays, T: Element> {
    /// A sample.
    Array(B::Array<T>),
    /// A number.
    Scalar(T),
}

impl<B: Arrays, T: Element> OperandSample<B, T> {
    /// What the method takes.
    pub fn operand(&self) -> Operand<'_, B, T> {
        match self {
            OperandSample::Array(x) => Operand::Array(x),
            OperandSample::Scalar(x) => Operand::Scalar(*x),
        }
    }
}

impl<'b, B: Arrays> Case<'b, B> {
    /// The case that `text` describes, of a row with these parameters (as the table has them).
    pub(crate) fn new(b: &'b B, row: &'static str, params: &'static [ParamInfo], text: &str) -> Result<Case<'b, B>> {
        let args = parse::args(text).map_err(|why| Error::argument(row, why))?;
        let positional: Vec<_> = params.iter().filter(|p| p.default.is_none()).map(|p| p.name).collect();
        let known: Vec<_> = params.iter().map(|p| p.name).collect();
        if args.positional.len() != positional.len() {
            return Err(Error::argument(row, format!("the case `{text}` does not give {positional:?}")));
        }
        if let Some((unknown, _)) = args.named.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            return Err(Error::argument(row, format!("the case `{text}` has `{unknown}`, which is no parameter")));
        }
        Ok(Case {
            b,
            row,
            positional,
            args,
            size: Cell::new(0),
            meter: Cell::new(None),
            before: 0,
            copied: Cell::new(0),
        })
    }

    /// The same, with what its op copies to the host counted.
    pub(crate) fn metered(mut self, meter: Option<Meter>) -> Self {
        self.before = meter.and_then(|meter| meter()).unwrap_or(0);
        self.meter.set(meter);
        self
    }

    /// Bytes that the op copied to the host: what was copied before its result was read.
    pub(crate) fn copied(&self) -> u64 {
        self.copied.get()
    }

    /// The parameter without a default.
    pub fn get<A: FromCase>(&self, param: &str) -> Result<A> {
        self.given(param)?.ok_or_else(|| self.wrong(param, "is not given"))
    }

    /// The parameter with a default, where the case gives it.
    pub fn given<A: FromCase>(&self, param: &str) -> Result<Option<A>> {
        self.find(param).map(|arg| A::from_case(arg).ok_or_else(|| self.wrong(param, "has no such value"))).transpose()
    }

    /// The closed choice that the parameter names.
    pub fn choice<A: FromStr>(&self, param: &str) -> Result<A> {
        self.optional_choice(param)?.ok_or_else(|| self.wrong(param, "is not given"))
    }

    /// The closed choice that the parameter names, where the case gives it.
    pub fn optional_choice<A: FromStr>(&self, param: &str) -> Result<Option<A>> {
        let read = |arg: &Arg| match arg {
            Arg::Name(name) => name.parse().map_err(|_| self.wrong(param, "has no such choice")),
            _ => Err(self.wrong(param, "is no name")),
        };
        self.find(param).map(read).transpose()
    }

    /// The sample that the parameter names, on the host.
    pub fn host<T: Element>(&self, param: &str) -> Result<HostArray<T>> {
        match self.find(param) {
            Some(Arg::Name(name)) => self.sample(param, name),
            _ => Err(self.wrong(param, "names no sample")),
        }
    }

    /// The bytes of the sample that the parameter names.
    pub fn bytes<T: Element>(&self, param: &str) -> Result<Vec<u8>> {
        let host = self.host::<T>(param)?;
        Ok(allowed(|| Values::of(&host)).bytes.unwrap_or_default())
    }

    /// The sample that the parameter names.
    pub fn array<T: Element>(&self, param: &str) -> Result<B::Array<T>> {
        self.b.from_ndarray(self.host(param)?)
    }

    /// The sample that the parameter names, where the case gives it.
    pub fn optional_array<T: Element>(&self, param: &str) -> Result<Option<B::Array<T>>> {
        self.find(param).map(|_| self.array(param)).transpose()
    }

    /// The samples that the parameter lists.
    pub fn arrays<T: Element>(&self, param: &str) -> Result<Vec<B::Array<T>>> {
        let Some(Arg::List(names)) = self.find(param) else {
            return Err(self.wrong(param, "lists no samples"));
        };
        let one = |arg: &Arg| match arg {
            Arg::Name(name) => self.b.from_ndarray(self.sample(param, name)?),
            _ => Err(self.wrong(param, "lists something else than samples")),
        };
        names.iter().map(one).collect()
    }

    /// The sample or the number that the parameter is.
    pub fn operand<T: Element>(&self, param: &str) -> Result<OperandSample<B, T>> {
        match self.find(param) {
            Some(Arg::Number(_)) => self.scalar(param).map(OperandSample::Scalar),
            _ => self.array(param).map(OperandSample::Array),
        }
    }

    /// The number that the parameter is, in dtype `T`.
    pub fn scalar<T: Element>(&self, param: &str) -> Result<T> {
        match self.find(param) {
            Some(Arg::Number(text)) => {
                let integer = text.parse().ok().map(T::from_i64);
                let number = integer.or_else(|| text.parse().ok().map(T::from_f64));
                number.ok_or_else(|| self.wrong(param, "is no number"))
            }
            _ => Err(self.wrong(param, "is no number")),
        }
    }

    /// A result, to be compared.
    pub fn read<T: Element>(&self, x: &B::Array<T>) -> Result<Values> {
        if let Some(now) = self.meter.take().and_then(|meter| meter()) {
            self.copied.set(now - self.before);
        }
        let shape = self.b.shape(x);
        if !fuzz::is_read(shape, size_of::<T>()) {
            return Err(Error::Memory { op: self.row, bytes: usize::MAX });
        }
        let host = self.b.to_ndarray(x)?;
        let values = allowed(|| Values::of(&host));
        if values.shape != shape {
            return Err(Error::argument(
                self.row,
                format!("`shape` says {shape:?}, `to_ndarray` gives {:?}", values.shape),
            ));
        }
        Ok(values)
    }

    /// A result that is a number, to be compared.
    pub fn number<T: Element>(&self, x: T) -> Values {
        if let Some(now) = self.meter.take().and_then(|meter| meter()) {
            self.copied.set(now - self.before);
        }
        allowed(|| Values::of(&ndarray::arr0(x).into_dyn().into_shared()))
    }

    /// Number of elements of the largest sample that was asked for.
    pub(crate) fn size(&self) -> usize {
        self.size.get()
    }

    fn find(&self, param: &str) -> Option<&Arg> {
        let place = self.positional.iter().position(|p| *p == param);
        let arg = match place {
            Some(place) => self.args.positional.get(place),
            None => self.args.named.iter().find(|(name, _)| name == param).map(|(_, arg)| arg),
        };
        arg.filter(|arg| place.is_some() || **arg != Arg::Name("none".into()))
    }

    fn sample<T: Element>(&self, param: &str, name: &str) -> Result<HostArray<T>> {
        let found = allowed(|| match Sample::of(name) {
            Some(random) => random.values(T::DTYPE).array().map(|x| laid_out(random.layout, x)),
            None => match sample(T::DTYPE, name) {
                Some(values) => values.array().map(|x| laid_out(layout(name), x)),
                None => extreme::sample(name),
            },
        });
        let x = found.ok_or_else(|| self.wrong(param, &format!("is `{name}`, no sample of {}", T::DTYPE)))?;
        self.size.set(self.size.get().max(x.len()));
        Ok(x)
    }

    fn wrong(&self, param: &str, what: &str) -> Error {
        Error::argument(self.row, format!("the parameter `{param}` of a case {what}"))
    }
}

/// The layout of the samples that are strided in memory.
fn layout(name: &str) -> Layout {
    match name {
        "mt" => Layout::Swapped,
        "mrev" => Layout::Reversed,
        "mstep" => Layout::Stepped,
        _ => Layout::Packed,
    }
}

/// A parameter that is no array, read from a case.
pub trait FromCase: Sized {
    /// The value, if `arg` is one.
    #[doc(hidden)]
    #[allow(private_interfaces)]
    fn from_case(arg: &Arg) -> Option<Self>;
}

macro_rules! numbers {
    ($($t:ty)*) => {$(
        impl FromCase for $t {
            #[allow(private_interfaces)]
            fn from_case(arg: &Arg) -> Option<$t> {
                match arg {
                    Arg::Number(text) => text.parse().ok(),
                    _ => None,
                }
            }
        }
    )*};
}
numbers!(f64 usize isize i64 u64);

impl FromCase for bool {
    #[allow(private_interfaces)]
    fn from_case(arg: &Arg) -> Option<bool> {
        match arg {
            Arg::Name(name) => name.parse().ok(),
            _ => None,
        }
    }
}

macro_rules! lists {
    ($($t:ty)*) => {$(
        impl FromCase for Vec<$t> {
            #[allow(private_interfaces)]
            fn from_case(arg: &Arg) -> Option<Vec<$t>> {
                match arg {
                    Arg::List(args) => args.iter().map(FromCase::from_case).collect(),
                    _ => None,
                }
            }
        }
    )*};
}
lists!(usize isize);

impl FromCase for Lengths {
    #[allow(private_interfaces)]
    fn from_case(arg: &Arg) -> Option<Lengths> {
        Vec::<usize>::from_case(arg).map(Lengths::from)
    }
}

impl FromCase for Axes {
    #[allow(private_interfaces)]
    fn from_case(arg: &Arg) -> Option<Axes> {
        match arg {
            Arg::Name(name) if name == "all" => Some(Axes::All),
            Arg::Number(_) => isize::from_case(arg).map(Axes::from),
            _ => Vec::<isize>::from_case(arg).map(Axes::from),
        }
    }
}

impl FromCase for Vec<Slice> {
    #[allow(private_interfaces)]
    fn from_case(arg: &Arg) -> Option<Vec<Slice>> {
        match arg {
            Arg::Quoted(text) => parse::slices(text).ok(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use backend_runtime::{Norm, numpyish::Numpyish};

    #[test]
    fn arguments_are_what_the_parameters_are() {
        let b = Numpyish::new();
        use backend_runtime::{DefaultInfo, ElementInfo, ParamKind, PlainInfo};
        const PARAMS: &[ParamInfo] = &[
            ParamInfo::new("x", ParamKind::Array(ElementInfo::T), None),
            ParamInfo::new("axis", ParamKind::Axes, None),
            ParamInfo::new("n", ParamKind::Maybe(PlainInfo::Usize), Some(DefaultInfo::None)),
            ParamInfo::new(
                "norm",
                ParamKind::Choice(&["backward", "ortho", "forward"]),
                Some(DefaultInfo::Choice("backward")),
            ),
        ];
        let params = PARAMS;
        let case = Case::new(&b, "fft", params, "m, [0, -1], norm = ortho").unwrap();
        assert_eq!(case.array::<f32>("x").unwrap().shape(), [3, 4]);
        assert_eq!(case.size(), 12);
        assert_eq!(case.get::<Axes>("axis").unwrap(), Axes::from([0, -1]));
        assert_eq!(case.given::<usize>("n").unwrap(), None);
        assert_eq!(case.optional_choice::<Norm>("norm").unwrap(), Some(Norm::Ortho));
        assert!(case.given::<usize>("norm").is_err());
        assert!(Case::new(&b, "fft", params, "m").is_err(), "an argument is missing");
        assert!(Case::new(&b, "fft", params, "m, 0, axes = 1").is_err(), "no such parameter");
    }
}
