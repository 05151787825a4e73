//! An overlay for a user's rows that says what is the table's to say, or names a row that is not there; and a trait that every backend has.

backends::backend! { table = "../../../../tests/ui/user_rows.toml", trait = User }
backends::backend! { table = "../../../../tests/ui/free_rows.toml", trait = Free }

#[path = "shared/bare.rs"]
mod bare;

backends::backend! { overlay = "../../../../tests/ui/bare.toml", partial = true }
backend_user! { overlay = "../../../../tests/ui/overlay_of_rows.toml" }
backend_free! { overlay = "../../../../tests/ui/overlay_of_rows.toml" }

fn main() {}
