//! Reads the arguments of a call, for entries. If the kind of the argument does not match the kind of the row's
//! parameter, a method panics. Only a mistake in generated code can cause this.

use super::{Arg, ArrayRef, ArrayValue, Call, IndexItem, Library, Outputs};
use crate::{Arrays, Axes, DType, Index, IndexList, Lengths, Number, Result, Slice, raw::RawElement};

#[cold]
#[inline(never)]
#[track_caller]
fn wrong(op: &'static str, place: usize, arg: &Arg<'_>) -> ! {
    unreachable!("argument {place} of `{op}` has another kind than its parameter: {arg:?}")
}

/// Defines methods that return a copy of an argument.
macro_rules! copied {
    ($($(#[$doc:meta])* $name:ident: $variant:ident($x:ident) => $value:expr, $t:ty;)*) => {$(
        $(#[$doc])*
        pub fn $name(&self, place: usize) -> $t {
            match &self.args[place] {
                Arg::$variant($x) => $value,
                other => wrong(self.op, place, other),
            }
        }
    )*};
}

impl<'a> Call<'_, 'a> {
    /// Returns whether the argument is omitted.
    pub fn is_absent(&self, place: usize) -> bool {
        matches!(self.args[place], Arg::Absent)
    }

    copied! {
        /// Returns axes.
        axes: Axes(x) => **x, Axes;
        /// Returns lengths of axes.
        lengths: Lengths(x) => **x, Lengths;
        /// Returns a list of lengths or widths.
        usizes: Usizes(x) => x, &'a [usize];
        /// Returns a list of integers.
        isizes: Isizes(x) => x, &'a [isize];
        /// Returns a number.
        number: Number(x) => **x, Number;
        /// Returns a list of slices.
        slices: Slices(x) => x, &'a [Slice];
        /// Returns bytes.
        bytes: Bytes(x) => x, &'a [u8];
        /// Returns a text.
        text: Text(x) => x, &'a str;
        /// Returns a bool.
        bool: Bool(x) => *x, bool;
        /// Returns a length.
        usize: Integer(x) => *x as usize, usize;
        /// Returns a signed integer or an axis.
        isize: Integer(x) => *x as isize, isize;
        /// Returns an integer of 64 bits.
        i64: Integer(x) => *x as i64, i64;
        /// Returns an unsigned integer of 64 bits.
        u64: Integer(x) => *x, u64;
        /// Returns a real number.
        f64: Real(x) => *x, f64;
        /// Returns the position of a name in the list of a choice's names.
        choice: Choice(x) => *x, usize;
        /// Returns a number of the dtype of the call.
        element: Element(x) => *x, RawElement;
    }

    /// Returns an array argument of any library.
    pub(crate) fn array_ref(&self, place: usize) -> ArrayRef<'_> {
        match &self.args[place] {
            Arg::Array(x) => *x,
            Arg::Given(x) | Arg::Target(x) => x.by_ref(),
            other => wrong(self.op, place, other),
        }
    }

    /// Returns the array at index `place` of the first argument that is a list of arrays.
    pub(crate) fn list_item(&self, place: usize) -> Option<ArrayRef<'a>> {
        self.args.iter().find_map(|arg| match arg {
            Arg::Arrays(xs) => xs.get(place).copied(),
            _ => None,
        })
    }

    /// Returns the array that the op changes, if the op has a target.
    pub(crate) fn target(&self) -> Option<ArrayRef<'_>> {
        self.args.iter().find_map(|arg| match arg {
            Arg::Target(x) => Some(x.by_ref()),
            _ => None,
        })
    }

    /// Returns the first array among the arguments.
    pub(crate) fn first_array(&self) -> Option<ArrayRef<'_>> {
        self.args.iter().find_map(|arg| match arg {
            Arg::Array(x) => Some(*x),
            Arg::Given(x) | Arg::Target(x) => Some(x.by_ref()),
            _ => None,
        })
    }

    /// Returns whether a result of the dtype `dtype` may overwrite the argument. This requires that the argument is an
    /// array of this dtype, which its owner does not use again, and that nothing else uses its memory.
    pub fn is_free<L: Library>(&mut self, place: usize, dtype: DType) -> bool {
        match &mut self.args[place] {
            Arg::Given(x) => L::is_free(x, dtype),
            _ => false,
        }
    }

    /// Returns an argument of the library.
    pub fn array<L: Library>(&self, place: usize) -> Result<L::Arg<'_>> {
        L::arg(self.op, self.array_ref(place))
    }

    /// Returns an argument of the library; `None` if the call omits it.
    pub fn optional_array<L: Library>(&self, place: usize) -> Result<Option<L::Arg<'_>>> {
        if self.is_absent(place) { Ok(None) } else { self.array::<L>(place).map(Some) }
    }

    /// Returns an operand.
    pub fn operand<L: Library>(&self, place: usize) -> Result<L::OperandArg<'_>> {
        match &self.args[place] {
            Arg::Element(x) => Ok(L::number(x)),
            _ => L::operand(self.op, self.array_ref(place)),
        }
    }

    /// Returns a list of arrays.
    pub fn arrays<L: Library>(&self, place: usize) -> Result<Vec<L::Arg<'a>>> {
        match &self.args[place] {
            Arg::Arrays(xs) => xs.iter().map(|x| L::arg(self.op, *x)).collect(),
            other => wrong(self.op, place, other),
        }
    }

    /// Returns a list of indices.
    pub fn index<B: Arrays>(&self, place: usize) -> Result<IndexList<B>> {
        let Arg::Index(items) = &self.args[place] else { wrong(self.op, place, &self.args[place]) };
        let mut list = IndexList::empty();
        for item in items {
            match *item {
                IndexItem::Slice(slice) => list.push(Index::Slice(slice)),
                IndexItem::New => list.push(Index::New),
                IndexItem::Rest => list.push(Index::Rest),
                IndexItem::Array(x) => list.push(Index::Array(&B::of_value::<i64>(self.op, ArrayValue::of(x))?)),
                IndexItem::Mask(x) => list.push(Index::Mask(&B::of_value::<bool>(self.op, ArrayValue::of(x))?)),
            }
        }
        Ok(list)
    }

    /// Changes the target, the argument at `place`. `change` gets the call without its target, and the target.
    pub fn change<L: Library>(
        &mut self,
        place: usize,
        change: impl FnOnce(&Self, L::TargetArg<'_>) -> Result<L::Changed>,
    ) -> Result<Outputs> {
        let Arg::Target(mut target) = std::mem::replace(&mut self.args[place], Arg::Absent) else {
            wrong(self.op, place, &Arg::Absent)
        };
        let changed = L::target(self.op, target.by_mut()).and_then(|mut target| {
            let changed = change(self, L::target_arg(&mut target))?;
            L::changed(&mut target, changed);
            Ok(Outputs::Target)
        });
        self.args[place] = Arg::Target(target);
        changed
    }
}
