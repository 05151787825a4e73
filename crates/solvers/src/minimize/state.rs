//! The state of optimisers as arrays by name, so that training can continue from a file.

use super::optimizers::{Adam, Moments, Sgd, Slots};
use backends::{
    ArrayAttributes, Backend, Creation, DTypeKind, DynArray, Error, Float, Result,
    grad::{MapArrays, Params, StateDict, names, stored},
};

impl Sgd {
    /// Copies the state to the host: `velocity.` followed by the [name](backends::grad::names()) of each array of
    /// `params`, if the optimiser has momentum and has stepped.
    ///
    /// # Errors
    /// `Error::Argument` if the optimiser has stepped with other parameters; the errors of the copies.
    pub fn state_dict<B: Backend, N, K>(&self, b: &B, params: &N) -> Result<StateDict>
    where
        for<'a> &'a N: Params<B, K, Grads = N>,
    {
        let mut save = Save::new(b, "Sgd", &self.slots, &["velocity"], names(&params));
        if !self.slots.is_empty() {
            params.map(&mut save)?;
        }
        Ok(save.state)
    }

    /// Replaces the state by one that [`state_dict`](Sgd::state_dict) returned for parameters of the same structure.
    /// The settings, such as the rate, stay as they are.
    ///
    /// # Errors
    /// `Error::Argument` that names the array, if an array is missing or has another shape or kind of dtype; the
    /// optimiser is then unchanged.
    pub fn load_state_dict<B: Backend, N, K>(&mut self, b: &B, params: &N, state: &StateDict) -> Result<()>
    where
        for<'a> &'a N: Params<B, K, Grads = N>,
    {
        let mut load = Load::new(b, "Sgd", state, &["velocity"], names(&params));
        if !state.is_empty() {
            params.map(&mut load)?;
        }
        self.started = !state.is_empty();
        self.slots = load.slots;
        Ok(())
    }
}

impl Adam {
    /// Copies the state to the host: the number of steps (`steps`, an int64), and after the first step the running
    /// means, `mean.` and `square.` followed by the [name](backends::grad::names()) of each array of `params`. The
    /// parts of a complex array end in `.real` and `.imag`.
    ///
    /// ```
    /// use backends::{Error, grad::grad, prelude::*};
    /// use backends_solvers::minimize::Adam;
    ///
    /// let b = Numpyish::new();
    /// let mut x = b.asarray([4.0, -2.0])?;
    /// let mut adam = Adam::new(0.1);
    /// let g = grad(&b, |d, x| d.sum(d.square(x)?, ..), &x)?;
    /// adam.step(&b, &mut x, &g)?;
    /// let state = adam.state_dict(&b, &x)?;
    /// assert_eq!(state.keys().collect::<Vec<_>>(), ["mean.array", "square.array", "steps"]);
    /// // another optimiser continues from here
    /// let mut again = Adam::new(0.1);
    /// again.load_state_dict(&b, &x, &state)?;
    /// let mut y = x.clone();
    /// adam.step(&b, &mut x, &g)?;
    /// again.step(&b, &mut y, &g)?;
    /// assert_eq!(x, y);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// `Error::Argument` if the optimiser has stepped with other parameters; the errors of the copies.
    pub fn state_dict<B: Backend, N, K>(&self, b: &B, params: &N) -> Result<StateDict>
    where
        for<'a> &'a N: Params<B, K, Grads = N>,
    {
        let mut save = Save::new(b, "Adam", &self.slots, &["mean", "square"], names(&params));
        if !self.slots.is_empty() {
            params.map(&mut save)?;
        }
        let steps = backends::Numpyish::new().asarray(i64::from(self.steps))?;
        save.state.insert("steps".into(), DynArray::of::<i64>(steps));
        Ok(save.state)
    }

    /// Replaces the state by one that [`state_dict`](Adam::state_dict) returned for parameters of the same structure.
    /// The settings, such as the rate, stay as they are.
    ///
    /// # Errors
    /// `Error::Argument` that names the array, if an array is missing or has another shape or kind of dtype; the
    /// optimiser is then unchanged.
    pub fn load_state_dict<B: Backend, N, K>(&mut self, b: &B, params: &N, state: &StateDict) -> Result<()>
    where
        for<'a> &'a N: Params<B, K, Grads = N>,
    {
        let host = backends::Numpyish::new();
        let steps = stored::<_, i64>(&host, "Adam", state, "steps", &[])?.first().copied().unwrap_or_default();
        let Ok(steps @ 0..) = i32::try_from(steps) else {
            return Err(Error::argument("Adam", format!("`steps` is {steps}, but must be a number of steps")));
        };
        let mut load = Load::new(b, "Adam", state, &["mean", "square"], names(&params));
        if steps > 0 {
            params.map(&mut load)?;
        }
        (self.steps, self.slots) = (steps, load.slots);
        Ok(())
    }
}

/// The endings of the names of the arrays that an optimiser keeps for a parameter.
fn parts<T: Float>(kinds: &[&str]) -> &'static [&'static str] {
    // gradient descent treats complex parameters as a whole
    if T::DTYPE.kind() == DTypeKind::Complex && kinds.len() > 1 { &[".real", ".imag"] } else { &[""] }
}

struct Save<'s, B> {
    b: &'s B,
    op: &'static str,
    slots: &'s Slots,
    /// The kinds of arrays that the optimiser keeps for each parameter.
    kinds: &'static [&'static str],
    names: std::vec::IntoIter<String>,
    place: usize,
    state: StateDict,
}

impl<'s, B: Backend> Save<'s, B> {
    fn new(b: &'s B, op: &'static str, slots: &'s Slots, kinds: &'static [&'static str], names: Vec<String>) -> Self {
        Save { b, op, slots, kinds, names: names.into_iter(), place: 0, state: StateDict::new() }
    }

    fn add<T: Float>(&mut self, kind: &str, name: &str, x: &B::Array<T>) -> Result<()> {
        self.state.insert(format!("{kind}.{name}"), DynArray::of::<T>(self.b.to_ndarray(x)?));
        Ok(())
    }
}

impl<B: Backend> MapArrays<B> for Save<'_, B> {
    fn map<T: Float>(&mut self, x: &B::Array<T>) -> Result<B::Array<T>> {
        let name = self.names.next().unwrap_or_default();
        let op = self.op;
        let other = || Error::argument(op, "this optimiser has stepped with other parameters");
        for part in parts::<T>(self.kinds) {
            let (slots, place, name) = (self.slots, self.place, format!("{name}{part}"));
            self.place += 1;
            if let [velocity] = self.kinds {
                self.add::<T>(velocity, &name, slots.get::<B::Array<T>>(place).ok_or_else(other)?)?;
            } else {
                let moments = slots.get::<Moments<B::Array<T::Real>>>(place).ok_or_else(other)?;
                self.add::<T::Real>(self.kinds[0], &name, &moments.mean)?;
                self.add::<T::Real>(self.kinds[1], &name, &moments.square)?;
            }
        }
        Ok(x.clone())
    }
}

struct Load<'s, B> {
    b: &'s B,
    op: &'static str,
    state: &'s StateDict,
    kinds: &'static [&'static str],
    names: std::vec::IntoIter<String>,
    slots: Slots,
}

impl<'s, B: Backend> Load<'s, B> {
    fn new(
        b: &'s B,
        op: &'static str,
        state: &'s StateDict,
        kinds: &'static [&'static str],
        names: Vec<String>,
    ) -> Self {
        Load { b, op, state, kinds, names: names.into_iter(), slots: Slots::default() }
    }

    fn get<T: Float>(&self, kind: &str, name: &str, shape: &[usize]) -> Result<B::Array<T>> {
        stored::<B, T>(self.b, self.op, self.state, &format!("{kind}.{name}"), shape)
    }
}

impl<B: Backend> MapArrays<B> for Load<'_, B> {
    fn map<T: Float>(&mut self, x: &B::Array<T>) -> Result<B::Array<T>> {
        let (name, shape) = (self.names.next().unwrap_or_default(), x.shape().to_vec());
        for part in parts::<T>(self.kinds) {
            let name = format!("{name}{part}");
            if let [velocity] = self.kinds {
                let velocity = self.get::<T>(velocity, &name, &shape)?;
                self.slots.push(velocity);
            } else {
                let mean = self.get::<T::Real>(self.kinds[0], &name, &shape)?;
                let square = self.get::<T::Real>(self.kinds[1], &name, &shape)?;
                self.slots.push(Moments { mean, square });
            }
        }
        Ok(x.clone())
    }
}
