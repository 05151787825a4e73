//! Writes the arguments of calls by name as text, in the language of such calls. Arrays are not written.

use crate::{
    Axes, Complex, DType, DefaultInfo, Lengths, Number, Slice, Widths,
    info::{ParamInfo, ParamKind},
};

/// An argument that can be written as text and read back without change.
///
/// | argument | text |
/// |---|---|
/// | numbers | `3`, `0.5`, `nan`, `-inf`, `complex(1.0, -2.0)`; the shortest text that reads as the same number |
/// | truth values, nothing | `true`, `false`, `none` |
/// | lists of axes, lengths, widths | `[0, -1]`; all axes are `..` |
/// | slices | `1..-1`, `..;-1`, a lone index `3` |
/// | choices, texts, dtypes | `"ortho"` |
/// | bytes | `bytes("00ff")` |
pub trait ToLiteral {
    /// Writes the argument as text.
    fn text(&self) -> String;
}

impl std::fmt::Debug for dyn ToLiteral + '_ {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text())
    }
}

macro_rules! displayed {
    ($($t:ty)*) => {$(
        impl ToLiteral for $t {
            fn text(&self) -> String {
                self.to_string()
            }
        }
    )*};
}
displayed!(bool i64 u64 isize usize);

impl ToLiteral for f64 {
    fn text(&self) -> String {
        match self {
            x if x.is_nan() => "nan".into(),
            x if x.is_infinite() => if *x > 0.0 { "inf" } else { "-inf" }.into(),
            x => format!("{x:?}"),
        }
    }
}

impl ToLiteral for Complex<f64> {
    fn text(&self) -> String {
        format!("complex({}, {})", self.re.text(), self.im.text())
    }
}

impl ToLiteral for Number {
    fn text(&self) -> String {
        match self {
            Number::Bool(x) => x.text(),
            Number::Integer(x) => x.to_string(),
            Number::Real(x) => x.text(),
            Number::Complex(x) => x.text(),
        }
    }
}

impl<L: ToLiteral> ToLiteral for Option<L> {
    fn text(&self) -> String {
        self.as_ref().map_or_else(|| "none".into(), ToLiteral::text)
    }
}

/// Joins items to a list such as `[1, 2]`.
fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

impl<L: ToLiteral> ToLiteral for &[L] {
    fn text(&self) -> String {
        list(self.iter().map(ToLiteral::text))
    }
}

impl<L: ToLiteral> ToLiteral for Vec<L> {
    fn text(&self) -> String {
        self.as_slice().text()
    }
}

impl ToLiteral for Axes {
    fn text(&self) -> String {
        self.as_list().map_or_else(|| "..".into(), |axes| list(axes.iter().map(i8::to_string)))
    }
}

impl ToLiteral for Lengths {
    fn text(&self) -> String {
        self.as_slice().unwrap_or_default().text()
    }
}

impl ToLiteral for Widths {
    fn text(&self) -> String {
        self.as_slice().text()
    }
}

impl ToLiteral for Slice {
    fn text(&self) -> String {
        let end = |end: Option<i128>| end.map(|end| end.to_string()).unwrap_or_default();
        if self.drop {
            return end(self.start);
        }
        let part = format!("{}..{}", end(self.start), end(self.stop));
        if self.step == 1 { part } else { format!("{part};{}", self.step) }
    }
}

impl ToLiteral for DType {
    fn text(&self) -> String {
        self.name().text()
    }
}

impl ToLiteral for &str {
    fn text(&self) -> String {
        format!("{self:?}")
    }
}

impl ToLiteral for &[u8] {
    fn text(&self) -> String {
        let hex: String = self.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("bytes({hex:?})")
    }
}

impl ParamInfo {
    /// Writes the parameter's default as text, in the form of a value of a call; `None` if there is no default.
    pub fn default_text(&self) -> Option<String> {
        Some(match self.default? {
            DefaultInfo::None => "none".into(),
            DefaultInfo::Bool(x) => x.text(),
            DefaultInfo::Integer(x) => x.to_string(),
            DefaultInfo::Number(x) => match self.kind {
                ParamKind::Number => Number::Real(x).text(),
                _ => x.text(),
            },
            DefaultInfo::All => "..".into(),
            DefaultInfo::Axes(axes) => list(axes.iter().map(i8::to_string)),
            DefaultInfo::Choice(name) => name.text(),
        })
    }
}

#[cfg(test)]
#[allow(clippy::reversed_empty_ranges)] // in reverse order, `1..-1` is not empty
mod tests {
    use super::*;

    #[test]
    fn texts() {
        assert_eq!(
            (1e-300_f64.text(), (-0.0_f64).text(), f64::NAN.text()),
            ("1e-300".into(), "-0.0".into(), "nan".into())
        );
        assert_eq!(Complex::new(1.0, f64::NEG_INFINITY).text(), "complex(1.0, -inf)");
        assert_eq!((Axes::All.text(), Axes::from([0, -1]).text()), ("..".into(), "[0, -1]".into()));
        assert_eq!(
            (Slice::from(1..-1).step(2).text(), Slice::at(3).text(), Slice::ALL.text()),
            ("1..-1;2".into(), "3".into(), "..".into())
        );
        assert_eq!((&[0_u8, 255][..]).text(), "bytes(\"00ff\")");
        assert_eq!(
            (None::<f64>.text(), Some(2_usize).text(), "a\"b".text()),
            ("none".into(), "2".into(), "\"a\\\"b\"".into())
        );
    }
}
