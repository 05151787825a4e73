//! Every mistake of a table, in one compile.

backends::backend! { table = "../../../../tests/ui/bad.toml", trait = Bad }

fn main() {}
