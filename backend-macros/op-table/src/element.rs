//! Element types of arrays in rows, and the dtypes that they stand for. A dtype is represented by its name, such as
//! `float32`.

/// The element type of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elem {
    /// The row's dtype.
    T,
    /// The row's second dtype.
    U,
    /// The real dtype of a complex dtype.
    Real,
    /// The complex dtype of a real dtype.
    Complex,
    /// The dtype of a sum of elements of the row's dtype.
    Sum,
    /// `bool`
    Bool,
    /// `uint8`
    UInt8,
    /// `int32`
    Int32,
    /// `int64`
    Int64,
}

/// Names of the element types in `array<..>`, and the text that describes each of them in the reference.
const ELEMS: [(&str, Elem, &str); 9] = [
    ("", Elem::T, ""),
    ("U", Elem::U, " of `U`"),
    ("real", Elem::Real, " of the real dtype"),
    ("complex", Elem::Complex, " of the complex dtype"),
    ("sum", Elem::Sum, " of the dtype of sums"),
    ("bool", Elem::Bool, " of `bool`"),
    ("uint8", Elem::UInt8, " of `u8`"),
    ("int32", Elem::Int32, " of `i32`"),
    ("int64", Elem::Int64, " of `i64`"),
];

impl Elem {
    /// The element type with this name. The empty name stands for the row's dtype.
    pub fn of(name: &str) -> Option<Elem> {
        ELEMS.iter().find(|(known, ..)| *known == name).map(|(_, elem, _)| *elem)
    }

    /// The names of all element types except the row's dtype, which has no name.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ELEMS.iter().map(|(name, ..)| *name).filter(|name| !name.is_empty())
    }

    fn row(self) -> (&'static str, &'static str) {
        ELEMS.iter().find(|(_, elem, _)| *elem == self).map_or(("", ""), |(name, _, doc)| (name, doc))
    }

    /// Name of the element type; `T` for the row's dtype.
    pub fn name(self) -> &'static str {
        if self == Elem::T { "T" } else { self.row().0 }
    }

    /// Returns the text that follows the word "array" in the documentation of a parameter.
    pub fn describe(self) -> &'static str {
        self.row().1
    }

    /// The dtype; `None` if it depends on the row's dtype.
    pub fn dtype(self) -> Option<&'static str> {
        matches!(self, Elem::Bool | Elem::UInt8 | Elem::Int32 | Elem::Int64).then(|| self.name())
    }
}

/// The dtype that an element type stands for, in a call in which `T` is `dtype`.
pub fn dtype_of(elem: Elem, dtype: &str) -> &str {
    match (elem, dtype) {
        (elem, _) if elem.dtype().is_some() => elem.dtype().unwrap_or_default(),
        (Elem::Real, "complex64") => "float32",
        (Elem::Real, "complex128") => "float64",
        (Elem::Complex, "float64" | "complex128") => "complex128",
        (Elem::Complex, _) => "complex64",
        (Elem::Sum, "bool" | "int8" | "int16" | "int32") => "int64",
        (Elem::Sum, "uint8" | "uint16" | "uint32") => "uint64",
        (_, same) => same,
    }
}

/// The smallest and the largest value of an integer dtype; 0 and 1 for `bool`.
pub fn integer_range(dtype: &str) -> Option<(i128, i128)> {
    if dtype == "bool" {
        return Some((0, 1));
    }
    let (signed, bits) = match dtype.strip_prefix("uint") {
        Some(bits) => (false, bits),
        None => (true, dtype.strip_prefix("int")?),
    };
    let bits: u32 = bits.parse().ok().filter(|bits| (1..=64).contains(bits))?;
    Some(if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) })
}

/// The traits of the runtime that a set may require of `T`, from the trait with the fewest dtypes to the trait with the
/// most.
pub const BOUNDS: [&str; 11] = [
    "Precision",
    "WideFloat",
    "Real",
    "ComplexFloat",
    "Integer",
    "Float",
    "Bits",
    "RealNumeric",
    "Ordered",
    "Numeric",
    "Element",
];

/// Returns whether a dtype implements the runtime's trait `bound`.
pub fn has_bound(dtype: &str, bound: &str) -> bool {
    let bool = dtype == "bool";
    let integer = !bool && integer_range(dtype).is_some();
    let complex = dtype.starts_with("complex");
    let real = !bool && !integer && !complex;
    match bound {
        "Element" => true,
        "Numeric" => !bool,
        "RealNumeric" => integer || real,
        "Ordered" => !complex,
        "Bits" => bool || integer,
        "Integer" => integer,
        "Float" => real || complex,
        "Real" => real,
        "ComplexFloat" => complex,
        "Precision" => ["float32", "float64"].contains(&dtype),
        "WideFloat" => ["float32", "float64", "complex64", "complex128"].contains(&dtype),
        _ => false,
    }
}
