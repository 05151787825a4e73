//! Implements `Arrays`: conversions from and to the host, formulas, and the seeds of the random numbers.

use crate::{
    Layout, LayoutPlan, Sharded, ShardedArray,
    array::LocalPart,
    failed,
    rows::{Moving, Run},
};
use backends::{
    Arrays, Backend, DType, DeviceInfo, Element, Error, HostArray, MemoryInfo, Result,
    runtime::formula::{self, Kept, Leaves, MAX_ARRAYS, Typed, Visitor, run_kept},
};
use std::{any::Any, borrow::Cow, collections::HashMap, sync::atomic::Ordering::Relaxed};

impl<B: Backend> Arrays for Sharded<B> {
    type Array<T: Element> = ShardedArray<B, T>;

    const NAME: &'static str = "sharded";

    const WATCHES: bool = B::WATCHES;

    fn begin_fused(&self, op: &'static str, dtype: DType, told: &dyn formula::Told) -> Result<Option<Box<dyn Any>>> {
        self.within.begin_fused(op, dtype, told)
    }

    /// Copies the whole array to the host, on every rank. Collective: all ranks must call this.
    fn to_ndarray<T: Element>(&self, x: &ShardedArray<B, T>) -> Result<HostArray<T>> {
        let whole = self.gather("to_ndarray", Cow::Borrowed(x))?;
        self.within.to_ndarray(&whole)
    }

    /// Makes an array from host data, which every rank must pass completely. Nothing is sent; each rank keeps its part.
    fn from_ndarray<T: Element>(&self, x: HostArray<T>) -> Result<ShardedArray<B, T>> {
        self.compare_host("from_ndarray", &x)?;
        match self.usual_axis(x.shape()) {
            None => {
                let layout = Layout::whole(x.shape());
                Ok(self.array(layout, self.within.from_ndarray(x)?))
            }
            Some(axis) => {
                let layout = Layout::along(x.shape(), axis);
                let rows = self.mine(x.shape()[axis]);
                let mut part = x;
                part.slice_axis_inplace(ndarray::Axis(axis), ndarray::Slice::from(rows));
                Ok(self.array(layout, self.within.from_ndarray(part)?))
            }
        }
    }

    /// Moves the arrays of a formula to a common layout, and runs the formula on the parts. If the inner backend fuses
    /// formulas, this takes one pass over the elements.
    fn formula<'a, L: Leaves<'a, Self>, E, T: Element>(&self, e: &E, leaves: &L) -> Result<ShardedArray<B, T>>
    where
        E: formula::Run<'a, Self, L> + Typed<Out = T>,
    {
        use formula::Layout as _;
        if const { L::Layout::ARRAYS > MAX_ARRAYS || L::Layout::ARRAYS == 0 } {
            return formula::run(self, e, leaves);
        }
        let mut arrays = All(Vec::with_capacity(L::Layout::ARRAYS));
        leaves.visit(&mut arrays);
        e.check()?;
        let layouts: Vec<Option<&Layout>> = arrays.0.iter().map(|(layout, _)| Some(*layout)).collect();
        self.compare_formula::<E>(&layouts, &leaves.scalars())?;
        let plan = self.plan_each(formula::NAME, &layouts)?;
        let parts = Vec::with_capacity(layouts.len());
        let mut parts = Parts { b: self, plan: &plan, all: &arrays.0, moved: HashMap::new(), parts, failed: None };
        leaves.visit(&mut parts);
        if let Some(why) = parts.failed {
            return Err(why);
        }
        let begun = formula::begin_on(&self.within, T::DTYPE, e, leaves)?;
        match run_kept::<B, L::Layout, E, T>(&self.within, e, leaves.scalars(), parts.parts.iter()) {
            Some(part) => {
                let part = part?;
                begun.map_or(Ok(()), |begun| self.within.end_fused(begun, &part))?;
                self.place(formula::NAME, &plan, part)
            }
            None => formula::run(self, e, leaves),
        }
    }

    /// The device of this rank's part, such as `"cpu"` or `"cuda:0"`.
    fn device(&self) -> String {
        self.within.device()
    }

    fn device_info(&self) -> Result<DeviceInfo> {
        self.within.device_info()
    }

    fn memory(&self) -> Result<MemoryInfo> {
        self.within.memory()
    }

    fn reset_peak_memory(&self) -> Result<()> {
        self.within.reset_peak_memory()
    }

    fn free_cache(&self) -> Result<()> {
        self.within.free_cache()
    }

    /// Waits only for the work of this rank. To wait for all ranks, use `world().barrier()`.
    fn synchronize(&self) -> Result<()> {
        self.within.synchronize()
    }

    /// Seeds the random numbers. If all ranks set the same seed, they draw the same numbers as the inner backend draws
    /// on a single rank.
    fn seed(&self, seed: u64) {
        self.seen.seed.store(seed, Relaxed);
        self.within.seed(seed);
    }

    fn seed_at(&self, seed: u64, block: u64) -> Result<()> {
        self.within.seed_at(seed, block)
    }

    fn random_state(&self) -> Result<(u64, u64)> {
        self.within.random_state()
    }
}

impl<B: Backend> Sharded<B> {
    /// Seeds all ranks with the same random seed, which rank 0 draws.
    pub(crate) fn seed_at_random(&self) -> Result<()> {
        const OP: &str = "Sharded::new";
        if self.ranks() == 1 {
            return Ok(());
        }
        let (seed, _) = backends::runtime::random::Stream::from_entropy().state();
        let mut bytes = seed.to_ne_bytes();
        self.world.broadcast(&mut bytes, DType::UInt64, 0).map_err(failed(OP))?;
        self.within.seed(u64::from_ne_bytes(bytes));
        Ok(())
    }

    /// Gathers the lists `mine` of all ranks, one after another in the order of the ranks. All ranks must pass lists of
    /// equal length.
    pub(crate) fn all_gather_numbers(&self, op: &'static str, mine: &[u64]) -> Result<Vec<u64>> {
        self.gather_elements(op, mine)
    }
}

/// The arrays of a formula, each with its layout.
struct All<'a>(Vec<(&'a Layout, &'a dyn Any)>);

impl<'a, B: Backend> Visitor<'a, Sharded<B>> for All<'a> {
    fn array<T: Element>(&mut self, x: &'a ShardedArray<B, T>) {
        self.0.push((x.layout(), x));
    }
}

/// Collects the parts of a formula's arrays, moved to a common layout.
struct Parts<'p, 'a, B: Backend> {
    b: &'p Sharded<B>,
    plan: &'p LayoutPlan,
    all: &'p [(&'a Layout, &'a dyn Any)],
    /// Parts that arrived earlier, in one message with the part of another array. The key of a part is the number of
    /// its array in the formula.
    moved: HashMap<usize, Box<dyn Any>>,
    parts: Vec<Kept<B>>,
    failed: Option<Error>,
}

impl<B: Backend> Parts<'_, '_, B> {
    /// Returns this rank's part of array number `k` of the formula, in the common layout.
    fn part<T: Element>(&mut self, k: usize, x: &ShardedArray<B, T>) -> Result<LocalPart<B, T>> {
        const OP: &str = formula::NAME;
        if !self.moved.contains_key(&k) && self.b.moved_by(self.plan, k, &x.layout).is_some() {
            self.move_all::<T>(k)?;
        }
        match self.moved.remove(&k).and_then(|part| part.downcast().ok()) {
            Some(part) => Ok(*part),
            None => Ok(self.b.arrange(OP, self.plan, k, Cow::Borrowed(x))?.into_owned()),
        }
    }

    /// Moves the rows (the indices along the split axis) of all arrays of dtype `T`, from array number `first` on. Each
    /// pair of ranks exchanges one message with the rows of all these arrays, so the slices of a stencil exchange their
    /// edge rows together.
    fn move_all<T: Element>(&mut self, first: usize) -> Result<()> {
        let b = self.b;
        let moved = self.all.iter().enumerate().skip(first).filter_map(|(k, (layout, array))| {
            let x: &ShardedArray<B, T> = array.downcast_ref()?;
            let (axis, wanted) = b.moved_by(self.plan, k, layout)?;
            let run = Run { source: 0, from: 0, step: 1, to: 0, len: layout.shape[axis] };
            Some((k, axis, [x.part()], [layout.ranges(b.ranks())], wanted, [run]))
        });
        let moved: Vec<_> = moved.collect();
        let mut all: Vec<Moving<'_, B, T>> = Vec::with_capacity(moved.len());
        for (_, axis, sources, held, wanted, runs) in &moved {
            all.push(Moving { sources, axis: *axis, held, wanted, runs, fill: None });
        }
        let parts = b.move_all(formula::NAME, &all).map_err(|why| why.within(formula::NAME))?;
        self.moved.extend(moved.iter().zip(parts).map(|((k, ..), part)| (*k, Box::new(part) as Box<dyn Any>)));
        Ok(())
    }
}

impl<'a, B: Backend> Visitor<'a, Sharded<B>> for Parts<'_, '_, B> {
    fn array<T: Element>(&mut self, x: &'a ShardedArray<B, T>) {
        if self.failed.is_some() {
            return;
        }
        match self.part(self.parts.len(), x) {
            Ok(part) => self.parts.push(Kept::of::<T>(part)),
            Err(why) => self.failed = Some(why),
        }
    }
}
