//! What must not compile, and what the compiler then says.

#[test]
fn mistakes_do_not_compile() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("*.rs");
}
