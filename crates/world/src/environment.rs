//! Environment variables that enable a feature.

/// Returns whether an environment variable is set to a value other than 0.
pub(crate) fn is_set(name: &str) -> bool {
    std::env::var(name).is_ok_and(|text| !["", "0"].contains(&text.trim()))
}
