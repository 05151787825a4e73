//! Mistakes in an overlay: an expression that only the table may set, an unknown op, and an overlay that is not needed.

backends::backend! { table = "../../../../tests/ui/user_rows.toml", trait = User }
backends::backend! { table = "../../../../tests/ui/free_rows.toml", trait = Free }

#[path = "shared/bare.rs"]
mod bare;

backends::backend! { overlay = "../../../../tests/ui/bare.toml", partial = true }
backend_user! { overlay = "../../../../tests/ui/overlay_of_rows.toml" }
backend_free! { overlay = "../../../../tests/ui/overlay_of_rows.toml" }

fn main() {}
