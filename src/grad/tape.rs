//! The tape: the recorded ops in the order in which they ran, and the backward pass through them.

use crate::{
    ArrayAttributes, Arrays, Backend, DType, DynArray, Element, Error, Float, Operand, Result,
    runtime::{
        dispatch,
        dynamic::{dtypes, with_dtypes},
        formula::KeptTold,
    },
};
use ndarray::{Dimension, IxDyn};
use std::{
    any::Any,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

/// A backend that runs all ops on an inner backend, and records them for gradients. A `Diff` is itself a [`Backend`],
/// so gradients can be nested.
///
/// [`grad`](super::grad), [`vjp`](super::vjp) and related functions create it and pass it to the function to be
/// differentiated.
#[derive(Clone)]
pub struct Diff<B: Backend> {
    within: B,
    tape: Arc<Tape<B>>,
    /// Arrays whose tape indices are below this index are constants.
    from: usize,
}

struct Tape<B: Backend> {
    id: u64,
    /// The ids of the enclosing tapes, each with the number of arrays that this enclosing tape had when the inner tape
    /// was created.
    around: Vec<(u64, usize)>,
    record: Mutex<Record<B>>,
}

impl<B: Backend> Tape<B> {
    /// Returns whether an array belongs to an enclosing tape and existed before this tape.
    fn is_around(&self, place: Place) -> bool {
        self.around.iter().any(|&(id, count)| place.tape == id && place.index < count)
    }
}

/// The gradient rules of a recorded op, together with the data from the call that they need.
pub trait Pull<B: Backend>: Send + Sync {
    /// Adds the gradients of the inputs to `grads`, given the gradients of the results.
    fn pull(&self, b: &B, results: &mut Results<'_>, grads: &mut Grads<'_>) -> Result<()>;
}

/// An array of a [`Diff`]: a value and, if a gradient may pass through the array, its position on the tape.
pub struct Var<B: Arrays, T: Element> {
    value: B::Array<T>,
    place: Option<Place>,
}

#[derive(Clone, Copy)]
struct Place {
    tape: u64,
    index: usize,
}

impl<B: Arrays, T: Element> Var<B, T> {
    /// The value, an array of the inner backend.
    pub fn value(&self) -> &B::Array<T> {
        &self.value
    }

    /// The array with another element type for the same dtype.
    pub(super) fn retyped<U: Element>(self) -> Option<Var<B, U>> {
        Some(Var { value: B::retyped::<T, U>(self.value)?, place: self.place })
    }

    pub(super) fn value_mut(&mut self) -> &mut B::Array<T> {
        &mut self.value
    }

    /// The value, an array of the inner backend.
    pub fn into_value(self) -> B::Array<T> {
        self.value
    }
}

impl<B: Arrays, T: Element> Clone for Var<B, T> {
    #[inline]
    fn clone(&self) -> Self {
        Var { value: self.value.clone(), place: self.place }
    }
}

impl<B: Arrays, T: Element> fmt::Debug for Var<B, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl<B: Arrays, T: Element> ArrayAttributes for Var<B, T> {
    type DType = T;

    #[inline]
    fn shape(&self) -> &[usize] {
        self.value.shape()
    }

    fn device(&self) -> String {
        self.value.device()
    }
}

impl<B: Backend + fmt::Debug> fmt::Debug for Diff<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Diff").field(&self.within).finish()
    }
}

impl<B: Backend> Diff<B> {
    /// A backend with an empty tape.
    pub(crate) fn new(within: B) -> Diff<B> {
        Diff::around(within, Vec::new(), 0, 0)
    }

    fn around(within: B, around: Vec<(u64, usize)>, base: usize, from: usize) -> Diff<B> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let record = Mutex::new(Record { base, ..Record::default() });
        Diff { within, tape: Arc::new(Tape { id, around, record }), from }
    }

    /// A backend that records nothing. Arrays of `self` are constants on it.
    pub(super) fn paused(&self, within: &B) -> Diff<B> {
        Diff::around(within.clone(), self.with_around(usize::MAX), 0, usize::MAX)
    }

    /// A backend that records on its own tape, whose indices continue the indices of `self`. If `alone` is true, arrays
    /// of `self` are constants on it.
    pub(super) fn part(&self, alone: bool) -> Diff<B> {
        let base = self.count();
        Diff::around(self.within.clone(), self.with_around(base), base, if alone { base } else { self.from })
    }

    fn with_around(&self, count: usize) -> Vec<(u64, usize)> {
        self.tape.around.iter().copied().chain([(self.tape.id, count)]).collect()
    }

    /// Returns whether this backend records nothing.
    pub(super) fn is_paused(&self) -> bool {
        self.from == usize::MAX
    }

    /// The inner backend.
    pub fn within(&self) -> &B {
        &self.within
    }

    /// Wraps an array of the inner backend as a constant: data, or in a nested gradient an array of the outer `Diff`.
    #[inline]
    pub fn constant<T: Element>(&self, value: B::Array<T>) -> Var<B, T> {
        Var { value, place: None }
    }

    /// The same value as a constant, through which no gradient passes.
    #[inline]
    pub fn stop_gradient<T: Element>(&self, x: &Var<B, T>) -> Var<B, T> {
        self.constant(x.value.clone())
    }

    /// Records an array whose gradient is wanted.
    pub(crate) fn input<T: Float>(&self, value: B::Array<T>) -> Var<B, T> {
        let index = self.tape().push(value.shape(), None);
        self.recorded(value, index)
    }

    /// Notes that the arrays on the tape, from the tape index `first` to the end, are results of the ops of one
    /// formula. The backward pass then reports the gradient of this formula to watchers, as `told` describes it.
    pub(super) fn record_formula(&self, first: usize, told: KeptTold) {
        let mut record = self.tape();
        let end = record.end();
        // the formula that begins at `first` replaces the formulas inside it
        record.formulas.retain(|(part, ..)| *part < first);
        if first < end {
            record.formulas.push((first, end, told));
        }
    }

    /// The index that the next array on the tape will get: the index of the first array, plus the number of arrays.
    pub(super) fn count(&self) -> usize {
        self.tape().end()
    }

    fn tape(&self) -> MutexGuard<'_, Record<B>> {
        self.tape.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the record out of the tape, and leaves an empty record in its place.
    pub(crate) fn take(&self) -> Record<B> {
        std::mem::take(&mut *self.tape())
    }

    /// The tape index of an array, if gradients pass through it. Returns an error if the array belongs to another
    /// tape, unless that tape encloses this tape.
    #[doc(hidden)]
    #[inline]
    pub fn place_of<T: Element>(&self, op: &'static str, x: &Var<B, T>) -> Result<Option<usize>> {
        match x.place {
            None => Ok(None),
            Some(place) if place.tape == self.tape.id || self.tape.is_around(place) => {
                Ok((place.index >= self.from).then_some(place.index))
            }
            Some(_) => Err(Error::argument(
                op,
                "the array belongs to the function of another gradient: pass it to this one, or make a `constant` of its value",
            )),
        }
    }

    #[doc(hidden)]
    #[inline]
    pub fn place_of_operand<T: Element>(&self, op: &'static str, x: &Operand<'_, Self, T>) -> Result<Option<usize>> {
        match x {
            Operand::Array(x) => self.place_of(op, x),
            Operand::Scalar(_) => Ok(None),
        }
    }

    /// The shapes of a list of arrays, concatenated; each shape is preceded by its number of axes.
    #[doc(hidden)]
    pub fn shapes_of<T: Element>(&self, xs: &[&Var<B, T>]) -> Vec<usize> {
        xs.iter().flat_map(|x| [x.ndim()].into_iter().chain(x.shape().iter().copied())).collect()
    }

    #[doc(hidden)]
    #[inline]
    pub fn keep_operand<T: Element>(&self, x: &Operand<'_, Self, T>) -> Operand<'static, B, T> {
        match x {
            Operand::Array(x) => Operand::Array(std::borrow::Cow::Owned(x.value.clone())),
            Operand::Scalar(x) => Operand::Scalar(*x),
        }
    }

    /// Records the rule of an op whose results have these shapes, and returns the tape index of the first result.
    #[doc(hidden)]
    #[inline]
    pub fn record(&self, rule: Box<dyn Pull<B>>, shapes: &[&[usize]]) -> usize {
        let mut record = self.tape();
        let first = record.end();
        let Some((last, before)) = shapes.split_last() else { return first };
        for shape in before {
            record.push(shape, None);
        }
        record.push(last, Some(Rules { rule, first, dtypes: dtypes() }));
        first
    }

    /// Combines a result and its tape index.
    #[doc(hidden)]
    #[inline]
    pub fn recorded<T: Element>(&self, value: B::Array<T>, index: usize) -> Var<B, T> {
        Var { value, place: Some(Place { tape: self.tape.id, index }) }
    }
}

/// Returns an operand as an array.
pub fn whole<'a, B: Backend, T: Element>(b: &B, x: &'a Operand<'_, B, T>) -> Result<std::borrow::Cow<'a, B::Array<T>>> {
    use std::borrow::Cow;
    match x {
        Operand::Array(x) => Ok(Cow::Borrowed(&**x)),
        Operand::Scalar(x) => Ok(Cow::Owned(b.full::<T>([0_usize; 0], *x)?)),
    }
}

/// The record of a tape: all arrays through which gradients pass, in the order of recording.
pub(crate) struct Record<B: Backend> {
    /// The tape index of the first array.
    base: usize,
    shapes: Vec<IxDyn>,
    /// One entry per array. The entry of an op's last result holds the op's rules and the tape index of its first
    /// result.
    rules: Vec<Option<Rules<B>>>,
    /// For watchers, the formulas that were recorded as several ops, in order: the tape index of the first array, the
    /// tape index after the last array, and the text.
    formulas: Vec<(usize, usize, KeptTold)>,
}

struct Rules<B: Backend> {
    rule: Box<dyn Pull<B>>,
    /// The tape index of the op's first result.
    first: usize,
    /// The dtypes for which the element types of the rule stand, if the op was called with types of
    /// [`dynamic`](crate::runtime::dynamic).
    dtypes: (DType, DType),
}

impl<B: Backend> Rules<B> {
    #[inline]
    fn pull(&self, b: &B, results: &mut Results<'_>, grads: &mut Grads<'_>) -> Result<()> {
        if const { B::TAKES_ANY_DTYPE } {
            let (of, to) = self.dtypes;
            return with_dtypes(of, to, || self.rule.pull(b, results, grads));
        }
        self.rule.pull(b, results, grads)
    }
}

/// An array of any dtype. Its element type is the type of its dtype, and not a type of
/// [`dynamic`](crate::runtime::dynamic).
type Slot = Option<Box<dyn Any>>;

/// Stores an array as the content of a [`Slot`].
pub(super) fn boxed<B: Arrays, T: Element>(x: B::Array<T>) -> Box<dyn Any> {
    if const { T::IS_DYNAMIC } {
        return DynArray::<B>::of::<T>(x).into_any();
    }
    Box::new(x)
}

/// Returns the array in a [`Slot`]; `None` if it has another dtype.
pub(super) fn unboxed<B: Arrays, T: Element>(x: Box<dyn Any>) -> Option<B::Array<T>> {
    if const { T::IS_DYNAMIC } {
        let found: Result<Option<B::Array<T>>> = dispatch!(T::dtype(), U => {
            Ok(x.downcast::<B::Array<U>>().ok().and_then(|x| B::retyped::<U, T>(*x)))
        });
        return found.ok().flatten();
    }
    x.downcast().ok().map(|x| *x)
}

/// The formula whose gradient several ops are computing: its index, and the watcher's state, which is dropped when the
/// formula ends.
type OpenFormula = Option<(usize, Option<Box<dyn Any>>)>;

impl<B: Backend> Default for Record<B> {
    fn default() -> Self {
        Record { base: 0, shapes: Vec::new(), rules: Vec::new(), formulas: Vec::new() }
    }
}

impl<B: Backend> Record<B> {
    fn push(&mut self, shape: &[usize], rules: Option<Rules<B>>) -> usize {
        let place = self.end();
        self.shapes.push(IxDyn(shape));
        self.rules.push(rules);
        place
    }

    /// Begins the gradient of a formula if the array at `place` belongs to a different formula than the array before
    /// it.
    fn begin_formula(&self, b: &B, place: usize, open: &mut OpenFormula) -> Result<()> {
        if self.formulas.is_empty() {
            return Ok(());
        }
        let before = self.formulas.partition_point(|(first, ..)| *first <= place);
        let of = before.checked_sub(1).filter(|k| place < self.formulas[*k].1);
        if open.as_ref().map(|(k, _)| *k) != of {
            // drops the state of the previous formula, which must end before the next formula begins
            *open = None;
            *open = match of {
                Some(k) => Some((k, self.formulas[k].2.begin(b)?)),
                None => None,
            };
        }
        Ok(())
    }

    /// The tape index of the next array.
    fn end(&self) -> usize {
        self.base + self.shapes.len()
    }

    /// The gradients of the first `inputs` arrays. `of` are the known gradients of other arrays, each with its tape
    /// index.
    ///
    /// If `once` is true, the data that a rule has kept is freed as soon as the rule has run.
    pub(crate) fn back(
        &mut self,
        b: &B,
        of: Vec<(usize, Box<dyn Any>)>,
        inputs: usize,
        once: bool,
    ) -> Result<Vec<Slot>> {
        let (mut found, mut open) = (self.slots(of), None);
        for index in (inputs..self.shapes.len()).rev() {
            self.step(b, index, &mut found, None, &mut open)?;
            if once {
                self.rules[index] = None;
            }
        }
        found.truncate(inputs);
        Ok(found)
    }

    /// The gradient of the first array. `of` is the known gradient of another array, with its tape index. Gradients of
    /// arrays on enclosing tapes are added to `around`, or dropped if `around` is `None`.
    pub(super) fn back_over(
        &self,
        b: &B,
        of: (usize, Box<dyn Any>),
        mut around: Option<&mut Grads<'_>>,
    ) -> Result<Slot> {
        let (mut found, mut open) = (self.slots(vec![of]), None);
        for index in (0..self.shapes.len()).rev() {
            self.step(b, index, &mut found, around.as_deref_mut(), &mut open)?;
        }
        Ok(found.swap_remove(0))
    }

    /// Returns whether an index belongs to an enclosing tape.
    pub(super) fn is_around(&self, place: usize) -> bool {
        place < self.base
    }

    /// Allocates a slot for the gradient of each array, and fills in the known gradients.
    fn slots(&self, of: Vec<(usize, Box<dyn Any>)>) -> Vec<Slot> {
        let mut found: Vec<Slot> = self.shapes.iter().map(|_| None).collect();
        for (place, gradient) in of {
            found[place - self.base] = Some(gradient);
        }
        found
    }

    /// Runs the backward pass of one op.
    #[inline]
    fn step(
        &self,
        b: &B,
        index: usize,
        found: &mut [Slot],
        around: Option<&mut Grads<'_>>,
        open: &mut OpenFormula,
    ) -> Result<()> {
        let Some(rules) = &self.rules[index] else { return Ok(()) };
        let first = rules.first - self.base;
        // on the tape, the inputs of an op precede its results
        let (before, rest) = found.split_at_mut(first);
        let of_results = &mut rest[..=index - first];
        if of_results.iter().all(Option::is_none) {
            return Ok(());
        }
        if const { B::WATCHES } {
            self.begin_formula(b, self.base + index, open)?;
        }
        let mut results = Results { found: of_results, shapes: &self.shapes[first..=index] };
        let around = around.map(|around| Box::new(around.reborrow()));
        let mut grads = Grads { base: self.base, found: before, shapes: &self.shapes, around };
        rules.pull(b, &mut results, &mut grads)?;
        // frees the gradients of the results, which are no longer needed
        of_results.fill_with(|| None);
        Ok(())
    }
}

/// The gradients of the results of one op.
pub struct Results<'r> {
    found: &'r mut [Option<Box<dyn Any>>],
    shapes: &'r [IxDyn],
}

impl Results<'_> {
    /// The gradient of result `k`; zeros if the result does not affect the differentiated value.
    pub fn take<B: Backend, T: Element>(&mut self, b: &B, k: usize) -> Result<B::Array<T>> {
        match self.found[k].take().and_then(unboxed::<B, T>) {
            Some(g) => Ok(g),
            None => b.zeros::<T>(self.shapes[k].slice()),
        }
    }

    /// The gradients of all results.
    pub fn all<B: Backend, T: Element>(&mut self, b: &B) -> Result<Vec<B::Array<T>>> {
        (0..self.found.len()).map(|k| self.take::<B, T>(b, k)).collect()
    }
}

/// The gradients found so far, by tape index.
pub struct Grads<'g> {
    /// The tape index of the first slot.
    base: usize,
    found: &'g mut [Slot],
    shapes: &'g [IxDyn],
    /// The gradients of the enclosing tape; `None` if they are not needed.
    around: Option<Box<Grads<'g>>>,
}

impl Grads<'_> {
    fn reborrow(&mut self) -> Grads<'_> {
        Grads {
            base: self.base,
            found: self.found,
            shapes: self.shapes,
            around: self.around.as_mut().map(|around| Box::new(around.reborrow())),
        }
    }

    /// Adds `g` to the gradient of an array, summed over axes along which the array was broadcast.
    pub fn add<B: Backend, T: Float>(&mut self, b: &B, place: usize, g: B::Array<T>) -> Result<()> {
        let Some(index) = place.checked_sub(self.base) else {
            return match &mut self.around {
                Some(around) => around.add::<B, T>(b, place, g),
                None => Ok(()),
            };
        };
        let g = unbroadcast(b, g, self.shapes[index].slice())?;
        let slot = &mut self.found[index];
        if const { T::IS_DYNAMIC } {
            let g = match slot.take().and_then(unboxed::<B, T>) {
                Some(old) => b.add(&old, g)?,
                None => g,
            };
            *slot = Some(boxed::<B, T>(g));
            return Ok(());
        }
        match slot.as_mut().and_then(|old| old.downcast_mut::<B::Array<T>>()) {
            Some(old) => *old = b.add(&*old, g)?,
            None => *slot = Some(Box::new(g)),
        }
        Ok(())
    }
}

/// Sums `g` over the axes along which an array of `shape` was broadcast.
fn unbroadcast<B: Backend, T: Float>(b: &B, g: B::Array<T>, shape: &[usize]) -> Result<B::Array<T>> {
    if g.shape() == shape {
        return Ok(g);
    }
    let new = g.ndim().saturating_sub(shape.len());
    let is_repeated = |i: &usize| *i < new || (shape[*i - new] == 1 && g.shape()[*i] != 1);
    let axes: Vec<usize> = (0..g.ndim()).filter(is_repeated).collect();
    let g = if axes.is_empty() { g } else { b.sum(&g, axes)? };
    b.reshape(g, shape)
}
