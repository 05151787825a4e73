//! Mistakes in an overlay: an expression that only the table may set, an unknown op, and an overlay that is not needed.

backends::backend! { table = "user_rows.toml", trait = User }
backends::backend! { table = "free_rows.toml", trait = Free }

#[path = "shared/bare.rs"]
mod bare;

backends::backend! { overlay = "bare.toml", partial = true }
backend_user! { overlay = "overlay_of_rows.toml" }
backend_free! { overlay = "overlay_of_rows.toml" }

fn main() {}
