//! Comparisons. An unordered comparison also holds if an operand is NaN; an ordered comparison does not.

use super::{
    function::{Pure, by_type, two},
    value::Value,
};

/// Finds the Rust function that computes a comparison of `setp` and `set`. Its result is 1 if the comparison holds.
/// Float comparisons whose names end in `u` also hold if an operand is NaN.
pub(crate) fn find(comparison: &str, ty: &str) -> Option<Pure> {
    let float = matches!(ty, "f32" | "f64");
    let unsigned = matches!(ty, "u16" | "u32" | "u64");
    match comparison {
        "eq" => by_type!(ty, two, eq; b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64),
        "ne" => by_type!(ty, two, ne; b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64),
        "lt" => by_type!(ty, two, lt; u16 u32 u64 s16 s32 s64 f32 f64),
        "le" => by_type!(ty, two, le; u16 u32 u64 s16 s32 s64 f32 f64),
        "gt" => by_type!(ty, two, gt; u16 u32 u64 s16 s32 s64 f32 f64),
        "ge" => by_type!(ty, two, ge; u16 u32 u64 s16 s32 s64 f32 f64),
        "lo" if unsigned => find("lt", ty),
        "ls" if unsigned => find("le", ty),
        "hi" if unsigned => find("gt", ty),
        "hs" if unsigned => find("ge", ty),
        "equ" if float => by_type!(ty, two, equ; f32 f64),
        "neu" if float => by_type!(ty, two, neu; f32 f64),
        "ltu" if float => by_type!(ty, two, ltu; f32 f64),
        "leu" if float => by_type!(ty, two, leu; f32 f64),
        "gtu" if float => by_type!(ty, two, gtu; f32 f64),
        "geu" if float => by_type!(ty, two, geu; f32 f64),
        "num" if float => by_type!(ty, two, num; f32 f64),
        "nan" if float => by_type!(ty, two, nan; f32 f64),
        _ => None,
    }
}

macro_rules! comparisons {
    ($($name:ident: |$a:ident, $b:ident| $holds:expr;)+) => {$(
        // the negated comparisons are intended, because with NaN neither a comparison nor its opposite holds
        #[allow(clippy::neg_cmp_op_on_partial_ord, clippy::double_comparisons)]
        fn $name<T: Value>(a: u64, b: u64) -> u64 {
            let ($a, $b) = (T::get(a), T::get(b));
            u64::from($holds)
        }
    )+};
}
comparisons! {
    eq: |a, b| a == b;
    ne: |a, b| a < b || a > b;
    lt: |a, b| a < b;
    le: |a, b| a <= b;
    gt: |a, b| a > b;
    ge: |a, b| a >= b;
    equ: |a, b| !(a < b || a > b);
    neu: |a, b| a != b;
    ltu: |a, b| !(a >= b);
    leu: |a, b| !(a > b);
    gtu: |a, b| !(a <= b);
    geu: |a, b| !(a < b);
    num: |a, b| a.partial_cmp(&b).is_some();
    nan: |a, b| a.partial_cmp(&b).is_none();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::alu::Function;

    fn holds(comparison: &str, ty: &str, a: u64, b: u64) -> bool {
        match find(comparison, ty).unwrap().function {
            Function::Two(function) => function(a, b) == 1,
            Function::Four(_) => unreachable!("comparisons have two operands"),
        }
    }

    #[test]
    fn with_nan_only_unordered_comparisons_hold() {
        let (nan, one) = (f64::NAN.put(), 1_f64.put());
        for comparison in ["eq", "ne", "lt", "le", "gt", "ge", "num"] {
            assert!(!holds(comparison, "f64", nan, one), "{comparison}");
        }
        for comparison in ["equ", "neu", "ltu", "leu", "gtu", "geu", "nan"] {
            assert!(holds(comparison, "f64", nan, one), "{comparison}");
        }
    }

    #[test]
    fn of_numbers_both_kinds_hold_alike() {
        for (a, b) in [(1_f32, 2_f32), (2.0, 1.0), (1.0, 1.0), (0.0, -0.0)] {
            let all = [("eq", a == b), ("ne", a != b), ("lt", a < b), ("le", a <= b), ("gt", a > b), ("ge", a >= b)];
            for (comparison, expected) in all {
                assert_eq!(holds(comparison, "f32", a.put(), b.put()), expected, "{a} {comparison} {b}");
                assert_eq!(holds(&format!("{comparison}u"), "f32", a.put(), b.put()), expected);
            }
        }
    }

    #[test]
    fn integers_are_compared_as_their_type_says() {
        assert!(holds("lt", "s32", 0xffff_ffff, 0));
        assert!(holds("gt", "u32", 0xffff_ffff, 0));
        assert!(holds("hi", "u64", u64::MAX, 0));
        assert!(holds("eq", "b16", 0x1_0001, 1));
        assert!(holds("ne", "s16", 2, 1));
        assert!(find("ltu", "s32").is_none() && find("lo", "s32").is_none());
    }
}
