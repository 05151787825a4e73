//! Tests the messages for mistakes in formulas, and the precedence of operators.

use super::*;
use quote::quote;

/// The ops for the tests: scalar expressions such as `exp` and `add`, `leaky` with an option, and ops that are not
/// scalar expressions.
const ROWS: &str = "add*@x1,@x2 subtract*@x1,@x2 multiply*@x1,@x2 divide*@x1,@x2 remainder*@x1,@x2 pow*@x1,@x2 square*@x sqrt*@x \
    reciprocal*@x negative*@x exp*@x less*@x1,@x2 greater*@x1,@x2 equal*@x1,@x2 bitwise_and*@x1,@x2 bitwise_invert*@x leaky*@x,slope? \
    sum~&x,axis,keepdims? argmax=&x,axis,keepdims? clip*@x,@/min,@^max search:&x,@/lower var~&x,axis,correction?,keepdims? sort:&x,axis? \
    matmul:@x1,@x2 concat:[arrays,axis? where*^condition,@x,@y astype*<,@x zeros:>,shape full:>,shape,#value bincount:>,&x,&weights?";

fn expanded(formula: &str) -> Result<String> {
    let formula: TokenStream = formula.parse().expect("tokens");
    try_expand(quote!([crate; ops #ROWS] #formula)).map(|tokens| {
        syn::parse2::<syn::Expr>(tokens.clone()).expect("an expression");
        tokens.to_string()
    })
}

#[test]
fn every_mistake_is_said_in_the_users_words() {
    for (formula, said) in [
        ("x", "takes the backend, a comma, and a formula"),
        (", x", "the backend before the comma is missing"),
        ("b,", "the formula is missing"),
        ("b, x +", "an operand is missing"),
        ("b, * x", "an operand cannot begin with `*`"),
        ("b, x y", "`y` is unexpected here: expected an operator"),
        ("b, expp(x)", "there is no op `expp`; did you mean `exp`?"),
        ("b, exp(x, y)", "`exp` takes 1 argument"),
        ("b, pow(x)", "`pow` takes 2 arguments, 1 is given: `x2` is missing"),
        ("b, exp()", "`exp` takes 1 argument, 0 are given: `x` is missing"),
        ("b, leaky(x, slop = 2)", "`leaky` has no parameter `slop`; it has x, slope"),
        ("b, exp(x, a = 2)", "`exp` has no parameter `a`; it has x"),
        ("b, sum(x, axes = 1)", "`sum` has no parameter `axes`; it has x, axis, keepdims"),
        ("b, sum(x, 0, axis = 1)", "`axis` of `sum` is given twice"),
        ("b, sum(x, axis = 0, axis = 1)", "`axis` of `sum` is given twice"),
        ("b, sum(x, 0, keepdims = true, keepdims = true)", "`keepdims` of `sum` is given twice"),
        ("b, sum(x, keepdims = true)", "`sum` takes 2 arguments, 1 is given: `axis` is missing"),
        ("b, sum(axis = 0)", "`sum` takes 2 arguments, 1 is given: `x` is missing"),
        ("b, sum(axis = 0, x)", "arguments without a name must come before arguments with a name"),
        ("b, pow()", "`pow` takes 2 arguments, 0 are given: `x1` and `x2` are missing"),
        ("b, pow(x2 = x +, x1 = y)", "an operand is missing"),
        ("b, zeros(shape = )", "the value of `shape` is missing"),
        ("b, sum(x, 0) as f64", "`as` converts a number of Rust: write `astype::<f64>(x)` for an array"),
        ("b, var(x + y, .., ddof = 1)", "`var` has no parameter `ddof`; it has x, axis, correction, keepdims"),
        ("b, leaky(slope = 1, x)", "arguments without a name must come before arguments with a name"),
        ("b, leaky(x, slope = )", "the value of `slope` is missing"),
        ("b, x < y < z", "comparisons do not chain: write `(a < b) & (b < c)`"),
        ("b, x && y", "`&&` is for single truth values: write `&` for arrays"),
        ("b, [x, y]", "a list cannot be an operand"),
        ("b, exp(2.0)", "the only operand of `exp` is a number"),
        ("b, 'a' + x", "'a' is not a number"),
        ("b, x + y = z", "the left side of an assignment must be a variable or a field"),
        ("b, x &&= y", "is not an assignment operator of formulas"),
        ("b, y; x", "the part before a `;` must be `let name = formula`"),
        ("b, let y x; y", "`=` is expected after `let y`"),
        ("b, let y = 1; ", "the formula is missing"),
        ("b, sum(1, 0)", "this must be an array, not a number"),
        ("b, x.+", "is not the name of a field"),
        ("b, x::", "a name is missing"),
        ("b, where(x > 0, 1, 2)", "all operands of `where` are numbers: give one of them a dtype, as in `1.0_f64`"),
        ("b, astype(x)", "`astype` needs the dtype of its result: write `astype::<f64>(..)`"),
        ("b, astype::<>(x)", "the dtype of `astype` is missing"),
        ("b, astype::<f64(x)", "`>` is missing after the dtype of `astype`"),
        ("b, astype::<f64>", "the arguments of `astype` must follow its dtype, in brackets"),
        ("b, astype::<f64>(x, y)", "`astype` takes 1 argument"),
        ("b, astype::<f64>()", "`astype` takes 1 argument, 0 are given"),
        ("b, exp::<f64>(x)", "`exp` takes no dtype"),
        ("b, zeros::<f64>()", "`zeros` takes 1 argument, 0 are given: `shape` is missing"),
        ("b, zeros::<>(3)", "the dtype of `zeros` is missing"),
        ("b, exp(..)", "an operand cannot begin with `.`"),
        ("b, clip(.., 0.0, 1.0)", "an operand cannot begin with `.`"),
        ("b, clip(x, ..=, 1.0)", "an operand cannot begin with `.`"),
    ] {
        match expanded(formula) {
            Err(Mistake(_, text)) => assert!(text.contains(said), "`{formula}` says `{text}`, not `{said}`"),
            Ok(tokens) => panic!("`{formula}` is taken as `{tokens}`"),
        }
    }
    let deep = format!("b, {}x{}", "(".repeat(200), ")".repeat(200));
    let signs = format!("b, {}x", "-".repeat(100_000));
    for formula in [deep, signs, format!("b, x{}", "**x".repeat(50_000))] {
        assert!(expanded(&formula).unwrap_err().1.contains("at most 100 deep"));
    }
}

#[test]
fn what_is_meant_is_what_is_written() {
    // the two texts of each pair are the same formula
    for (one, other) in [
        ("-x**2", "negative(square(x))"),
        ("-x * *2", "negative(square(x))"),
        ("2**-x", "pow(2, negative(x))"),
        ("x**2**y", "pow(x, pow(2, y))"),
        ("x - y - z", "subtract(subtract(x, y), z)"),
        ("x + y * z", "add(x, multiply(y, z))"),
        ("x / y * z", "multiply(divide(x, y), z)"),
        ("x % y ** 0.5", "remainder(x, sqrt(y))"),
        ("x < y & z", "less(x, bitwise_and(y, z))"),
        ("!x & y", "bitwise_and(bitwise_invert(x), y)"),
        ("x + 2 * 3", "add(x, 6)"),
        ("x * (1 - 0.5)", "multiply(x, 0.5)"),
        ("2 * 1i * x", "multiply(2i, x)"),
        ("x - (1 + 2j) * -1", "subtract(x, -1 - 2i)"),
        ("let a = x + y; a * a", "multiply(add(x, y), add(x, y))"),
        ("let a = x; let a = a + 1; a", "add(x, 1)"),
        ("&x + -&y", "add(x, negative(y))"),
        ("x ** 2", "square(x)"),
        ("x**2.0", "square(x)"),
        ("1 / x**-1", "divide(1, reciprocal(x))"),
        ("astype::<f64, _>(x)", "astype::<f64>(x)"),
        ("sum(x, axis = 0)", "sum(x, 0)"),
        ("sum(x, axis=-1)", "sum(x, -1)"),
        ("sum(x * y, keepdims = true, axis=..)", "sum(x * y, .., keepdims = true)"),
        ("pow(x2 = y + 1, x1 = x)", "pow(x, y + 1)"),
        ("where(x > 0, y = 0, x = x)", "where(x > 0, x, 0)"),
        ("clip(x, max = 1, min=..)", "clip(x, .., 1)"),
        ("concat(axis = 1, arrays = [x, y + 1])", "concat([x, y + 1], axis = 1)"),
        ("astype::<f32>(x = y)", "astype::<f32>(y)"),
        ("sort(x = x, axis = 0)", "sort(x, axis = 0)"),
    ] {
        let [one_tokens, other_tokens] = [one, other].map(|f| without_text(&expanded(&format!("b, {f}")).unwrap()));
        assert_eq!(one_tokens, other_tokens, "`{one}` is `{other}`");
    }
}

/// Removes from an expansion the texts of formulas, which only backends that watch calls receive.
fn without_text(expanded: &str) -> String {
    let text = |part: &str| part.split_once('"').map_or(part.to_owned(), |(_, rest)| rest.to_owned());
    let mut parts = expanded.split(":: named");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| {
        // `named` has one text; `named_within` also has the text of the reduction
        let texts = if part.starts_with("_within") { 2 } else { 1 };
        all + &(0..2 * texts).fold(part.to_owned(), |part, _| text(&part))
    })
}

#[test]
fn ops_that_create_arrays_may_name_a_dtype() {
    let found = |formula: &str| expanded(formula).unwrap();
    assert!(found("b, zeros(3)").contains("zeros (3)"));
    assert!(found("b, zeros::<f32>(3)").contains("zeros :: < f32 > (3)"));
    // a number of any type is converted to the dtype that the call names
    let full = found("b, full::<T>(3, n)");
    assert!(full.contains("Scalar < T >> :: into (n) . 0"), "{full}");
    assert!(found("b, full(3, 0.5)").contains("full (3 , 0.5)"));
}

#[test]
fn optional_arrays_may_be_formulas() {
    let found = |formula: &str| expanded(formula).unwrap();
    assert!(found("b, bincount(x, weights = y * y)").contains("op2"));
    assert!(
        found("b, bincount(x, weights = y)").contains("weights (crate :: runtime :: formula :: array (__b , & y))")
    );
    assert!(found("b, bincount(x, weights = f(y)?)").contains("weights (f (y) ?)"), "a Rust expression");
}

#[test]
fn those_who_watch_are_told_what_was_written() {
    let text = |formula: &str| -> Vec<String> {
        let all = expanded(&format!("b, {formula}")).unwrap();
        let texts = all.split(":: named").skip(1).map(|part| part.split_once("(\"").unwrap().1.to_owned());
        texts.map(|text| text.split_once('"').unwrap().0.replace(' ', "")).collect()
    };
    assert_eq!(text("-x**2 * (y + 1)"), ["-x**2*(y+1)"]);
    assert_eq!(text("let a = x + y; a * a"), ["leta=x+y;a*a"]);
    // the text of a subexpression in a separate pass is printed from its parsed form
    assert_eq!(text("exp(sort(-(x + y) * 2.5) + x)"), ["-(x+y)*2.5", "exp(sort(-(x+y)*2.5)+x)"]);
    assert_eq!(text("exp(sort((x - y) / (x * y)**z) + x)")[0], "(x-y)/(x*y)**z");
    assert_eq!(text("exp(sort(x - (y - z) ** 3.5 ** z) + x)")[0], "x-(y-z)**3.5**z");
    assert_eq!(text("exp(sum(where(x > 0, leaky(y, slope = 3), 0.5), 0) + x)")[0], "where(x>0,leaky(y,slope=3),0.5)");
    assert!(expanded("b, sum(x * y, 0)").unwrap().contains("named_within (\"x * y\" , \""), "and the reduction's own");
}

#[test]
fn each_name_is_one_leaf_and_long_formulas_are_several_passes() {
    let passes = |formula: &str| {
        expanded(formula).unwrap().matches("__b . formula").count()
            + expanded(formula).unwrap().matches(":: part (").count()
    };
    let leaves = |formula: &str| expanded(formula).unwrap().matches(":: leaf (").count();
    assert_eq!((passes("b, x * x + x.y - x"), leaves("b, x * x + x.y - x")), (1, 2));
    assert_eq!(passes("b, exp(sum(x * y, 0) + x)"), 1, "what is summed is no array");
    assert_eq!(passes("b, exp(argmax(x * y, 0) + var(x * y, .., correction = 1.0))"), 1, "nor what is searched");
    assert_eq!(passes("b, exp(sort(x * y) + x)"), 2);
    assert_eq!(passes("b, a + b + c + d + e + f + g + h"), 1);
    assert_eq!(passes("b, a + b + c + d + e + f + g + h + i"), 2);
    assert_eq!(passes(&format!("b, {}x", "-".repeat(90))), 3);
    let broad = (0..6).fold("(x + 1)".to_string(), |part, _| format!("({part} * {part})"));
    assert_eq!(passes(&format!("b, {broad}")), 2);
    assert_eq!(
        leaves("b, { next() } * { next() } + x.f(y)"),
        3,
        "what may have effects is run as often as it is written"
    );
    assert_eq!(passes("b, y += x * 2"), 2, "over the memory of y, or into new memory");
    assert_eq!(leaves("b, y += x * 2"), 2);
    assert_eq!(passes("b, where(x > 0.0, x, 0.1 * x) + astype::<Complex<f64>>(y)"), 1);
    assert_eq!(passes("b, sum(x, 0)"), 0);
    assert_eq!(passes("b, clip(x * y, .., 1.0) + clip(x, 0.0, ..)"), 1);
    let clipped = expanded("b, clip(x, .., ..)").unwrap();
    assert!(clipped.contains("formula :: Lowest") && clipped.contains("formula :: Highest"), "{clipped}");
    let handed_on = expanded("b, search(x, ..)").unwrap();
    assert!(handed_on.contains(", ..)"), "{handed_on}");
    assert!(expanded("b, argmax(x * y, ..)").unwrap().contains("IntoAxisOrAll :: axis_or_all (..)"));
}
