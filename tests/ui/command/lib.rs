//! The command line of the compiler, as a macro. The tests of the compiler's messages compile their files with it, so
//! that they use the libraries that cargo has already compiled for the tests.

use proc_macro::TokenStream;
use std::env;

/// The compiler that compiles this macro's caller, and the arguments with the paths of the caller's libraries: a list
/// of strings. A procedural macro runs in the compiler, so it can read both.
#[proc_macro]
pub fn compiler(_: TokenStream) -> TokenStream {
    let compiler = env::current_exe().expect("the compiler has a path");
    let mut list = vec![compiler.to_str().expect("the path is UTF-8").to_owned()];
    let mut args = env::args();
    while let Some(arg) = args.next() {
        if ["--extern", "-L", "--target"].contains(&arg.as_str()) {
            list.extend([arg].into_iter().chain(args.next()));
        } else if arg.starts_with("--edition=") {
            list.push(arg);
        }
    }
    format!("{list:?}").parse().expect("it is a list of literals")
}
