//! Tests that wrong programs do not compile, and that the compiler's messages are as expected.

#[test]
fn mistakes_do_not_compile() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("*.rs");
}
