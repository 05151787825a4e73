//! Calls by name on a watched backend that is chosen at run time. The watcher is informed, and the inner backend runs
//! the call.

use super::{RunningOn, Watched};
use crate::{
    AnyBackend, Arrays, DynArray, Error, Result, Value, dispatch,
    runtime::{OpInfo, Wrap, by_name::Args, libraries::LibraryCalls},
};

impl Watched<AnyBackend> {
    /// Calls an op on the inner backend, and reports the call and its results to the watcher.
    pub(crate) fn call_by_name(
        &self,
        info: &'static OpInfo,
        calls: &LibraryCalls,
        args: &[Value<AnyBackend>],
        options: &[(&str, Value<AnyBackend>)],
    ) -> Result<Value<AnyBackend>> {
        let within = self.within();
        let read = Args::new(within, info, args, options)?;
        // reports the conversion of numbers to arrays first, and then the call with these arrays
        let made = read.with_arrays_made(read.dtype()?, &|read, place, dtype| {
            dispatch!(dtype, T => Ok(Value::array::<T>(self.from_ndarray(read.host_elements::<T>(place)?)?)))
        })?;
        let read = Args::new(within, info, &[], &made)?;
        let mut running = read.described(read.dtype()?, |call| self.begin(call))?;
        let result = within.delegate(info, calls, &[], &made)?;
        self.seen(info.name, &mut running, &result)?;
        Ok(result)
    }

    /// Passes the arrays of a result to the watcher.
    fn seen(&self, op: &'static str, running: &mut RunningOn<AnyBackend>, result: &Value<AnyBackend>) -> Result<()> {
        match result {
            Value::Array(x) => self.array_seen(op, running, x),
            Value::List(items) => items.iter().try_for_each(|item| self.seen(op, running, item)),
            _ => Ok(()),
        }
    }

    fn array_seen(
        &self,
        op: &'static str,
        running: &mut RunningOn<AnyBackend>,
        x: &DynArray<AnyBackend>,
    ) -> Result<()> {
        dispatch!(x.dtype(), T => {
            let x = x.get::<T>().ok_or_else(|| Error::dtype(op, x.dtype()))?;
            self.close::<T>(running, x.clone()).map(drop)
        })
    }
}
