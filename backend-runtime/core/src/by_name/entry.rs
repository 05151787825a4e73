//! Calls by name on backends that run rows by their entries: converts the values of a call to the arguments of the
//! row's entry, and the results to values. This code is compiled once for each backend, not for each row and dtype.

use super::{Args, DynArray, FromValue, Value};
use crate::{
    Arrays, Axes, DType, DTypeKind, DefaultInfo, ElementInfo, Error, Lengths, Number, Ordered, ParamInfo, ParamKind,
    PlainInfo, Result, Slice, Widths, dispatch,
    entry::{Arg, ArrayMut, ArrayRef, ArrayValue, Call, IndexItem, Outputs, Row},
    raw::RawElement,
    rules,
};

/// A value that was made from an argument of the call. The argument of the entry borrows from it.
enum Made<B: Arrays> {
    Nothing,
    /// An array that was made from numbers.
    Array(DynArray<B>),
    /// A handle of an array that the op changes.
    Target(DynArray<B>),
    /// For each item of a list, the array that was made from it, if any.
    Items(Vec<Option<DynArray<B>>>),
    Axes(Axes),
    Lengths(Lengths),
    Number(Number),
    Usizes(Vec<usize>),
    Isizes(Vec<isize>),
    Slices(Vec<Slice>),
}

/// Returns an array as an argument of an entry.
fn array_ref<'x, B: Arrays>(op: &'static str, x: &'x DynArray<B>) -> Result<ArrayRef<'x>> {
    dispatch!(x.dtype(), T => {
        x.get::<T>().and_then(|x| B::array_ref(x)).ok_or_else(|| Error::unsupported(op, B::NAME))
    })
}

/// Returns an array as an argument that an entry changes.
fn array_mut<'x, B: Arrays>(op: &'static str, x: &'x mut DynArray<B>) -> Result<ArrayMut<'x>> {
    dispatch!(x.dtype(), T => {
        x.get_mut::<T>().and_then(|x| B::array_mut(x)).ok_or_else(|| Error::unsupported(op, B::NAME))
    })
}

/// Converts the result of an entry to an array of the backend.
pub fn to_array<B: Arrays>(op: &'static str, x: ArrayValue) -> Result<DynArray<B>> {
    dispatch!(x.dtype(op)?, T => Ok(DynArray::of::<T>(B::of_value::<T>(op, x)?)))
}

impl<'a, B: Arrays> Args<'a, B> {
    /// Runs the entry of a row in the dtype of the call. Returns `None` if the row has no entry for the library of the
    /// backend.
    pub fn run_row(&self, row: &'static Row) -> Result<Option<Value<B>>> {
        let (op, dtype) = (self.op.name, self.dtype()?);
        if !self.b.has_entry(row) {
            return Ok(None);
        }
        if !self.op.dtypes.contains(&dtype) {
            return self.no_dtype(dtype);
        }
        let to = if self.op.to_dtypes.is_empty() { dtype } else { self.to_dtype()? };
        let mut made: Vec<Made<B>> = Vec::with_capacity(self.op.params.len());
        made.resize_with(self.op.params.len(), || Made::Nothing);
        // reads the arguments in the same order as typed calls, so that errors name the same argument
        let mut places: Vec<usize> = (0..made.len()).collect();
        places.sort_by_key(|&place| match self.op.params[place] {
            ParamInfo { kind: ParamKind::Target(_), .. } => 0,
            ParamInfo { default: Some(_), .. } => 1,
            _ => 2,
        });
        let mut read: Vec<Option<Arg<'_>>> = Vec::with_capacity(made.len());
        read.resize_with(made.len(), || None);
        for &place in &places {
            made[place] = self.make(place, dtype)?;
            read[place] = self.plain(place, dtype)?;
        }
        let mut args = Vec::with_capacity(made.len());
        for (place, (made, read)) in made.iter_mut().zip(read).enumerate() {
            args.push(match read {
                Some(arg) => arg,
                None => self.borrowed(place, made)?,
            });
        }
        let outputs = self.b.run_row(row, &mut Call::new(row, dtype, &mut args).with_to(to))?;
        drop(args);
        Ok(Some(match outputs {
            Outputs::One(x) => Value::Array(to_array(op, x)?),
            Outputs::Many(all) => {
                let mut list = rules::list(op, all.len())?;
                for x in all {
                    list.push(Value::Array(to_array(op, x)?));
                }
                Value::List(list)
            }
            Outputs::Target => {
                let target = made.into_iter().find_map(|made| match made {
                    Made::Target(x) => Some(x),
                    _ => None,
                });
                target.map_or(Value::None, Value::Array)
            }
        }))
    }

    /// The value of a parameter; an omitted value of a parameter without default is read as `..`.
    fn value(&self, place: usize) -> &'a Value<B> {
        self.values[place].unwrap_or(&Value::All)
    }

    /// Makes the value from which the argument of the entry borrows, if there is one.
    fn make(&self, place: usize, dtype: DType) -> Result<Made<B>> {
        let param = &self.op.params[place];
        if let Some(default) = &param.default
            && self.find(place).is_none()
        {
            return Ok(made_of_default(param, default));
        }
        Ok(match param.kind {
            ParamKind::Array(e) => self.made_array(place, self.array_value(place), e.dtype(dtype))?,
            ParamKind::Target(e) => match self.array_value(place) {
                Value::Array(x) => {
                    self.require(place, x, e.dtype(dtype))?;
                    Made::Target(x.clone())
                }
                numbers => match self.made_array(place, numbers, e.dtype(dtype))? {
                    Made::Array(x) => Made::Target(x),
                    other => other,
                },
            },
            ParamKind::Operand(e) | ParamKind::LowerBound(e) | ParamKind::UpperBound(e) => match self.values[place] {
                Some(value @ (Value::Array(_) | Value::List(_))) => self.made_array(place, value, e.dtype(dtype))?,
                None if matches!(param.kind, ParamKind::Operand(_)) => {
                    self.made_array(place, &Value::None, e.dtype(dtype))?
                }
                _ => Made::Nothing,
            },
            ParamKind::Arrays(e) => {
                let (dtype, value) = (e.dtype(dtype), self.array_value(place));
                let Value::List(items) = value else {
                    return Err(self.wrong(param.name, value, &format!("a list of arrays of {dtype}")));
                };
                let mut all = Vec::with_capacity(items.len());
                for item in items {
                    all.push(match self.made_array(place, item, dtype)? {
                        Made::Array(x) => Some(x),
                        _ => None,
                    });
                }
                Made::Items(all)
            }
            ParamKind::Index => {
                let mut all = Vec::new();
                for item in self.index_items(place) {
                    let Value::List(_) = item else {
                        all.push(None);
                        continue;
                    };
                    let of = if item.number_dtype() == Some(DType::Bool) { DType::Bool } else { DType::Int64 };
                    match self.made_array(place, item, of)? {
                        Made::Array(x) => all.push(Some(x)),
                        _ => all.push(None),
                    }
                }
                Made::Items(all)
            }
            ParamKind::Axes => Made::Axes(self.get(place)?),
            ParamKind::Lengths => Made::Lengths(self.get(place)?),
            ParamKind::Number => Made::Number(self.get(place)?),
            ParamKind::Shape => Made::Usizes(self.get(place)?),
            ParamKind::Signed => Made::Isizes(self.get(place)?),
            ParamKind::Widths => Made::Usizes(self.get::<Widths>(place)?.as_slice().to_vec()),
            ParamKind::Slices => Made::Slices(self.get(place)?),
            _ => Made::Nothing,
        })
    }

    /// The value of an array parameter; an omitted value is `none`.
    fn array_value(&self, place: usize) -> &'a Value<B> {
        self.values[place].unwrap_or(&Value::None)
    }

    fn index_items(&self, place: usize) -> &'a [Value<B>] {
        match self.array_value(place) {
            Value::List(items) => items,
            one => std::slice::from_ref(one),
        }
    }

    /// Makes an array of this dtype from numbers. If the value is an array, checks that it has this dtype.
    fn made_array(&self, place: usize, value: &Value<B>, dtype: DType) -> Result<Made<B>> {
        match value {
            Value::Array(x) => self.require(place, x, dtype).map(|()| Made::Nothing),
            numbers => dispatch!(dtype, T => Ok(Made::Array(DynArray::of::<T>(self.made::<T>(place, numbers)?)))),
        }
    }

    /// Returns an error if the array has another dtype.
    fn require(&self, place: usize, x: &DynArray<B>, dtype: DType) -> Result<()> {
        if x.dtype() == dtype {
            return Ok(());
        }
        let value = Value::Array(x.clone());
        Err(self.wrong(self.op.params[place].name, &value, &format!("an array of {dtype}")))
    }

    /// Converts the argument of the parameter at index `place` to an `Arg`. Returns `None` if the `Arg` would have to
    /// borrow from a [`Made`] value.
    fn plain(&self, place: usize, dtype: DType) -> Result<Option<Arg<'a>>> {
        let param = &self.op.params[place];
        if let Some(default) = &param.default
            && self.find(place).is_none()
        {
            return Ok(of_default(param, default));
        }
        let plain = match param.kind {
            ParamKind::Array(_)
            | ParamKind::Target(_)
            | ParamKind::Arrays(_)
            | ParamKind::Index
            | ParamKind::Axes
            | ParamKind::Lengths
            | ParamKind::Number
            | ParamKind::Shape
            | ParamKind::Signed
            | ParamKind::Widths
            | ParamKind::Slices => return Ok(None),
            ParamKind::Operand(e) => return self.number_of(place, e, dtype),
            ParamKind::LowerBound(e) | ParamKind::UpperBound(e) => match self.values[place] {
                Some(Value::None | Value::All) | None => Arg::Element(open_end(
                    self.op.name,
                    e.dtype(dtype),
                    matches!(param.kind, ParamKind::UpperBound(_)),
                )?),
                _ => return self.number_of(place, e, dtype),
            },
            ParamKind::Scalar => Arg::Element(self.raw_scalar(place, dtype)?),
            ParamKind::Axis => Arg::from(self.get::<isize>(place)?),
            ParamKind::AxisOrAll => Arg::from(self.get::<Option<isize>>(place)?),
            ParamKind::Bytes => Arg::Bytes(self.bytes(place)?),
            ParamKind::Text => Arg::Text(self.text(place)?),
            ParamKind::Plain(of) | ParamKind::Maybe(of) => self.plain_number(place, of)?,
            ParamKind::Choice(names) => {
                let value = self.value(place);
                let position = match value {
                    Value::Text(text) => names.iter().position(|name| name == text),
                    _ => None,
                };
                let wrong = || self.wrong(param.name, value, &format!("one of {}", names.join(", ")));
                Arg::Choice(position.ok_or_else(wrong)?)
            }
            ParamKind::Host => return Err(Error::unsupported(self.op.name, B::NAME)),
        };
        Ok(Some(plain))
    }

    fn plain_number(&self, place: usize, of: PlainInfo) -> Result<Arg<'a>> {
        Ok(match of {
            PlainInfo::F64 => Arg::Real(self.get(place)?),
            PlainInfo::Bool => Arg::Bool(self.get(place)?),
            PlainInfo::Usize => Arg::from(self.get::<usize>(place)?),
            PlainInfo::Isize => Arg::from(self.get::<isize>(place)?),
            PlainInfo::I64 => Arg::from(self.get::<i64>(place)?),
            PlainInfo::U64 => Arg::from(self.get::<u64>(place)?),
        })
    }

    /// Reads an operand that is a number; `None` if it is an array or a list.
    fn number_of(&self, place: usize, e: ElementInfo, dtype: DType) -> Result<Option<Arg<'a>>> {
        match self.values[place] {
            Some(Value::Array(_) | Value::List(_)) | None => Ok(None),
            Some(_) => self.raw_scalar(place, e.dtype(dtype)).map(|x| Some(Arg::Element(x))),
        }
    }

    fn raw_scalar(&self, place: usize, dtype: DType) -> Result<RawElement> {
        dispatch!(dtype, T => self.scalar::<T>(place).map(RawElement::of))
    }

    /// Makes an argument that borrows from a value of the call or from the [`Made`] value.
    fn borrowed<'m>(&self, place: usize, made: &'m mut Made<B>) -> Result<Arg<'m>>
    where
        'a: 'm,
    {
        let op = self.op.name;
        Ok(match made {
            Made::Array(x) => Arg::Array(array_ref(op, x)?),
            Made::Target(x) => Arg::Target(array_mut(op, x)?),
            Made::Axes(x) => Arg::Axes(x),
            Made::Lengths(x) => Arg::Lengths(x),
            Made::Number(x) => Arg::Number(x),
            Made::Usizes(x) => Arg::Usizes(x),
            Made::Isizes(x) => Arg::Isizes(x),
            Made::Slices(x) => Arg::Slices(x),
            Made::Items(made) => return self.items(place, made),
            Made::Nothing => match self.array_value(place) {
                Value::Array(x) => Arg::Array(array_ref(op, x)?),
                other => return Err(self.wrong(self.op.params[place].name, other, "an array")),
            },
        })
    }

    /// Makes the argument that is a list of arrays or of indices.
    fn items<'m>(&self, place: usize, made: &'m [Option<DynArray<B>>]) -> Result<Arg<'m>>
    where
        'a: 'm,
    {
        if self.op.params[place].kind == ParamKind::Index {
            let mut items = Vec::with_capacity(made.len());
            for (item, made) in self.index_items(place).iter().zip(made) {
                items.push(self.index_item(place, item, made.as_ref())?);
            }
            return Ok(Arg::Index(items));
        }
        let Value::List(given) = self.array_value(place) else { return Ok(Arg::Arrays(Vec::new())) };
        let mut arrays = Vec::with_capacity(made.len());
        for (given, made) in given.iter().zip(made) {
            arrays.push(match (made, given) {
                (Some(x), _) | (None, Value::Array(x)) => array_ref(self.op.name, x)?,
                (None, other) => return Err(self.wrong(self.op.params[place].name, other, "an array")),
            });
        }
        Ok(Arg::Arrays(arrays))
    }

    fn index_item<'m>(&self, place: usize, item: &'m Value<B>, made: Option<&'m DynArray<B>>) -> Result<IndexItem<'m>> {
        let array = |x: &'m DynArray<B>| -> Result<IndexItem<'m>> {
            let of = array_ref(self.op.name, x)?;
            match x.dtype() {
                DType::Bool => Ok(IndexItem::Mask(of)),
                DType::Int64 => Ok(IndexItem::Array(of)),
                _ => Err(self.wrong(self.op.params[place].name, item, &format!("an array of {}", DType::Int64))),
            }
        };
        Ok(match (made, item) {
            (Some(x), _) | (None, Value::Array(x)) => array(x)?,
            (None, Value::New) => IndexItem::New,
            (None, Value::Rest) => IndexItem::Rest,
            (None, other) => match Slice::from_value(other) {
                Some(slice) => IndexItem::Slice(slice),
                None => {
                    let wanted = "slices, integers, `NewAxis`, `...`, arrays of int64 or masks of bool";
                    return Err(self.wrong(self.op.params[place].name, other, wanted));
                }
            },
        })
    }
}

/// The lowest or highest value of a dtype, which replaces an omitted bound.
fn open_end(op: &'static str, dtype: DType, is_upper: bool) -> Result<RawElement> {
    if dtype.kind() == DTypeKind::Complex {
        return Err(Error::dtype(op, dtype));
    }
    dispatch!(dtype, T: [
        Bool, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64, Float16, BFloat16, Float32, Float64
    ] => Ok(RawElement::of(if is_upper { T::HIGHEST } else { T::LOWEST })))
}

/// Makes the default of a parameter, if the argument of the entry borrows it.
fn made_of_default<B: Arrays>(param: &ParamInfo, default: &DefaultInfo) -> Made<B> {
    match (*default, param.kind) {
        (DefaultInfo::All, ParamKind::Axes) => Made::Axes(Axes::All),
        (DefaultInfo::Axes(axes), _) => Made::Axes(Axes::list(axes.iter().map(|&axis| axis.into()))),
        (DefaultInfo::Integer(axis), ParamKind::Axes) => Made::Axes(Axes::list([axis as isize])),
        (DefaultInfo::Integer(x), ParamKind::Number) => Made::Number(Number::Integer(x)),
        (DefaultInfo::Number(x), ParamKind::Number) => Made::Number(Number::Real(x)),
        _ => Made::Nothing,
    }
}

/// The argument of a parameter whose default the call does not override; `None` if the argument borrows the default.
fn of_default<'a>(param: &ParamInfo, default: &DefaultInfo) -> Option<Arg<'a>> {
    Some(match (*default, param.kind) {
        (DefaultInfo::None, _) | (DefaultInfo::All, ParamKind::AxisOrAll) => Arg::Absent,
        (_, ParamKind::Axes | ParamKind::Number) | (DefaultInfo::All | DefaultInfo::Axes(_), _) => return None,
        (DefaultInfo::Bool(x), _) => Arg::Bool(x),
        (DefaultInfo::Integer(x), ParamKind::Plain(PlainInfo::F64) | ParamKind::Maybe(PlainInfo::F64)) => {
            Arg::Real(x as f64)
        }
        (DefaultInfo::Integer(x), _) => Arg::Integer(x as u64),
        (DefaultInfo::Number(x), _) => Arg::Real(x),
        (DefaultInfo::Choice(name), ParamKind::Choice(names)) => {
            Arg::Choice(names.iter().position(|other| *other == name).unwrap_or(0))
        }
        (DefaultInfo::Choice(_), _) => Arg::Absent,
    })
}
