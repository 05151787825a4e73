//! A backend that records the calls of a program as a [`Script`](crate::Script).

use crate::{
    ArrayAttributes, Arrays, Backend, DType, DynArray, Element, Float, HostArray, Numpyish, Result, Script, dispatch,
    runtime::{
        AnyTyped, Arg, Call, IndexArg, ParamInfo, Wrap,
        by_name::{Program, ToLiteral},
        formula::Told,
    },
};
use std::{
    any::Any,
    borrow::Cow,
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

backend! { overlay = "src/record/recorded.toml" }

/// A backend that wraps another backend and records a generic program's calls: the ops that the program ran on its
/// data, without its control flow.
///
/// A composed op or a formula is recorded as the ops of which it consists; a comment with the text of the formula
/// precedes its ops. Arrays that come from the host are stored as constants. Random numbers are not stored: the backend
/// on which the script runs draws them again, and draws the same numbers if the program calls [`seed`](Arrays::seed).
///
/// ```
/// use backends::{Error, Recorded, Result, prelude::*};
///
/// /// A program that runs on any backend.
/// fn program<B: Backend>(b: &B, x: &B::Array<f64>) -> Result<B::Array<f64>> {
///     b.sum_with(b.exp(x)?, 0, SumOptions::new().keepdims(true))
/// }
///
/// let b = Recorded::new(Numpyish::new());
/// let y = program(&b, &b.asarray([1.0, 2.0])?)?;
/// b.give("y", &y);
/// assert_eq!(b.text(), "v0 = asarray(c0)\nv1 = exp(v0)\nv2 = sum(v1, [0], keepdims=true)\ny = v2\n");
///
/// // runs the same calls again, on any backend
/// let other = Numpyish::new();
/// let mut variables = b.constants_on(&other)?;
/// b.script()?.run(&other, &mut variables)?;
/// let again = variables["y"].as_array().and_then(|y| y.get::<f64>()).expect("an array of float64");
/// assert_eq!(again, y.array());
/// # Ok::<(), Error>(())
/// ```
///
/// With the crate `backends-npz`, `b.save_program("program.npz")?` writes the script and its constants into one file,
/// which `backends-cli run program.npz` runs.
#[derive(Clone)]
pub struct Recorded<B> {
    within: B,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    text: String,
    /// Number of arrays that were created so far.
    arrays: u64,
    constants: BTreeMap<String, DynArray<Numpyish>>,
}

impl<B: fmt::Debug> fmt::Debug for Recorded<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Recorded").field(&self.within).finish()
    }
}

/// An array of a [`Recorded`] backend.
#[derive(Clone, Debug)]
pub struct RecordedArray<A> {
    array: A,
    number: u64,
}

impl<A> RecordedArray<A> {
    /// The array of the inner backend.
    pub fn array(&self) -> &A {
        &self.array
    }
}

impl<A: ArrayAttributes> ArrayAttributes for RecordedArray<A> {
    type DType = A::DType;

    fn shape(&self) -> &[usize] {
        self.array.shape()
    }

    fn device(&self) -> String {
        self.array.device()
    }
}

impl<B: Backend> Recorded<B> {
    /// Wraps a backend, with an empty record.
    pub fn new(within: B) -> Recorded<B> {
        Recorded { within, state: Arc::default() }
    }

    /// The recorded calls as text in the language of [`Script`], with one call per line, in the order in which the
    /// calls ended.
    pub fn text(&self) -> String {
        self.state().text.clone()
    }

    /// The recorded calls as a script.
    ///
    /// # Errors
    /// No errors, because the text consists of recorded calls.
    pub fn script(&self) -> Result<Script> {
        self.text().parse()
    }

    /// The arrays that were copied from the host, by their names in the script.
    pub fn constants(&self) -> BTreeMap<String, DynArray<Numpyish>> {
        self.state().constants.clone()
    }

    /// The constants as arrays of the backend `b`, which can be the initial variables of the script.
    ///
    /// # Errors
    /// The errors of [`Arrays::from_ndarray`].
    pub fn constants_on<C: Backend>(&self, b: &C) -> Result<crate::Variables<C>> {
        let on = |(name, x): (String, DynArray<Numpyish>)| {
            let x = dispatch!(x.dtype(), T => match x.get::<T>() {
                Some(x) => b.from_ndarray(x.clone()).map(crate::Value::array::<T>),
                None => Err(crate::Error::dtype("constants_on", x.dtype())),
            });
            Ok((name, x?))
        };
        self.constants().into_iter().map(on).collect()
    }

    /// Gives an array a name in the script. A name consists of letters of any language, digits and `_`; any other name
    /// makes the script invalid at the line of the name.
    pub fn give<T: Element>(&self, name: &str, x: &RecordedArray<B::Array<T>>) {
        let line = format!("{name} = v{}\n", x.number);
        self.state().text.push_str(&line);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Assigns the next number to a new array.
    fn new_array<A>(&self, array: A) -> RecordedArray<A> {
        let mut state = self.state();
        state.arrays += 1;
        RecordedArray { array, number: state.arrays - 1 }
    }

    /// The name of an array in the script.
    fn name_of(x: &dyn AnyTyped) -> String {
        let number = dispatch!(x.element(), T => {
            Ok::<_, crate::Error>(x.as_any().downcast_ref::<RecordedArray<B::Array<T>>>().map(|x| x.number))
        });
        // every array passed to a method belongs to this backend
        number.ok().flatten().map_or_else(|| "none".into(), |number| format!("v{number}"))
    }

    /// Stores a host array as a constant, and returns its name.
    fn constant<T: Element>(&self, x: HostArray<T>) -> String {
        let mut state = self.state();
        let name = format!("c{}", state.constants.len());
        state.constants.insert(name.clone(), DynArray::of::<T>(x));
        name
    }

    fn host(&self, x: &dyn AnyTyped) -> String {
        let name = dispatch!(x.element(), T => {
            Ok::<_, crate::Error>(x.as_any().downcast_ref::<HostArray<T>>().map(|x| self.constant(x.clone())))
        });
        name.ok().flatten().unwrap_or_else(|| "none".into())
    }

    /// Converts an argument to text in the script's language.
    fn written(&self, arg: &Arg<'_>) -> String {
        let list = |items: Vec<String>| format!("[{}]", items.join(", "));
        match arg {
            Arg::Array(x) => Self::name_of(*x),
            Arg::Host(x) => self.host(*x),
            Arg::Arrays(xs) => list(xs.iter().map(|x| Self::name_of(*x)).collect()),
            Arg::Index(items) => list(
                items
                    .iter()
                    .map(|item| match item {
                        IndexArg::Array(x) => Self::name_of(*x),
                        IndexArg::Plain(text) => text.clone(),
                    })
                    .collect(),
            ),
            Arg::Number(x) => x.text(),
            Arg::Plain(x) => x.text(),
            Arg::Absent => "none".into(),
        }
    }
}

impl<B: Backend> Program for Recorded<B> {
    fn text(&self) -> String {
        Recorded::text(self)
    }

    fn constants(&self) -> BTreeMap<String, DynArray<Numpyish>> {
        Recorded::constants(self)
    }
}

/// A running call. When the value is dropped, the line of the call is written, unless the call returned no results.
pub struct Line {
    state: Arc<Mutex<State>>,
    call: String,
    results: Vec<u64>,
}

impl Drop for Line {
    fn drop(&mut self) {
        // a failed call has no results; the results of a composed op were recorded already, as results of its inner ops
        if let [first, rest @ ..] = &self.results[..] {
            let mut names = format!("v{first}");
            rest.iter().for_each(|number| names += &format!(", v{number}"));
            let line = format!("{names} = {}\n", self.call);
            self.state.lock().unwrap_or_else(PoisonError::into_inner).text.push_str(&line);
        }
    }
}

impl<B: Backend> Wrap for Recorded<B> {
    type Within = B;

    type Running = Line;

    fn within(&self) -> &B {
        &self.within
    }

    fn begin(&self, call: &Call<'_>) -> Result<Line> {
        let mut line = Line { state: self.state.clone(), call: String::new(), results: Vec::new() };
        if call.is_composed {
            return Ok(line);
        }
        let params = call.info.map_or(&[][..], |info| info.params);
        let param = |name: &str| params.iter().find(|param| param.name == name);
        let is_option = |name: &str| param(name).is_some_and(|param| param.default.is_some());
        let mut args: Vec<String> = Vec::new();
        for (name, arg) in call.args {
            let text = self.written(arg);
            if !is_option(name) {
                args.push(text);
            } else if param(name).and_then(ParamInfo::default_text).as_ref() != Some(&text) {
                args.push(format!("{name}={text}"));
            }
        }
        let says_dtype = |(name, arg): &(&str, Arg<'_>)| {
            let is_array = matches!(arg, Arg::Array(_) | Arg::Arrays(_) | Arg::Host(_));
            is_array && param(name).is_some_and(ParamInfo::is_of_dtype)
        };
        let dtype = match call.to {
            Some(to) => Some(to),
            None => (!call.args.iter().any(says_dtype)).then_some(call.dtype),
        };
        args.extend(dtype.map(|dtype: DType| format!("dtype={}", dtype.text())));
        line.call = format!("{}({})", call.op, args.join(", "));
        Ok(line)
    }

    fn open<'a, T: Element>(&'a self, _op: &'static str, x: &'a RecordedArray<B::Array<T>>) -> Result<&'a B::Array<T>> {
        Ok(&x.array)
    }

    fn close<T: Element>(&self, line: &mut Line, x: B::Array<T>) -> Result<RecordedArray<B::Array<T>>> {
        let x = self.new_array(x);
        line.results.push(x.number);
        Ok(x)
    }
}

impl<B: Backend> Arrays for Recorded<B> {
    type Array<T: Element> = RecordedArray<B::Array<T>>;

    const NAME: &'static str = B::NAME;

    fn in_complex<'a, T: Float, C: Element>(&self, x: Cow<'a, Self::Array<T>>) -> Result<Cow<'a, Self::Array<C>>> {
        crate::Casting::astype::<C, T>(self, x).map(Cow::Owned)
    }

    fn to_ndarray<T: Element>(&self, x: &RecordedArray<B::Array<T>>) -> Result<HostArray<T>> {
        self.within.to_ndarray(&x.array)
    }

    fn from_ndarray<T: Element>(&self, x: HostArray<T>) -> Result<RecordedArray<B::Array<T>>> {
        let name = self.constant(x.clone());
        let x = self.new_array(self.within.from_ndarray(x)?);
        let line = format!("v{} = {name}\n", x.number);
        self.state().text.push_str(&line);
        Ok(x)
    }

    crate::runtime::forward_to_within!();

    const WATCHES: bool = true;

    fn begin_fused(&self, _op: &'static str, _dtype: DType, told: &dyn Told) -> Result<Option<Box<dyn Any>>> {
        if let Some(text) = told.text() {
            // replaces line breaks, which would end the comment
            let line = format!("# {}\n", text.replace(['\n', '\r'], " "));
            self.state().text.push_str(&line);
        }
        Ok(None)
    }

    fn seed(&self, seed: u64) {
        self.state().text.push_str(&format!("seed({seed})\n"));
        self.within.seed(seed);
    }

    fn seed_at(&self, seed: u64, block: u64) -> Result<()> {
        self.within.seed_at(seed, block)?;
        self.state().text.push_str(&format!("seed_at({seed}, {block})\n"));
        Ok(())
    }

    fn random_state(&self) -> Result<(u64, u64)> {
        self.within.random_state()
    }
}
