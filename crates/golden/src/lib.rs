//! Expected results of the conformance tests of the crate `backends`, as data.
//!
//! `cargo xtask golden` of the repository computes the results of the ops with NumPy and SciPy, and `cargo xtask
//! golden-torch` computes the gradients with PyTorch. The module `conformance` of `backends` parses these files.

macro_rules! groups {
    ($($group:ident)*) => {
        /// NumPy's results for a group of the op table; `None` for an unknown group.
        pub fn of_group(group: &str) -> Option<&'static [u8]> {
            match group {
                $(stringify!($group) => Some(include_bytes!(concat!("../data/", stringify!($group), ".golden"))),)*
                _ => None,
            }
        }

        /// The groups for which `of_group` returns results.
        pub const GROUPS: &[&str] = &[$(stringify!($group)),*];
    };
}
groups!(creation casting elementwise reduction statistics manipulation indexing sorting linalg fft random special images convolution networks);

/// The named arrays that the test cases use, in every dtype.
pub fn samples() -> &'static [u8] {
    include_bytes!("../data/samples.golden")
}

/// Gradients computed by PyTorch's autograd, one line for each case.
pub fn autograd() -> &'static str {
    include_str!("../data/autograd.txt")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_of_its_format() {
        for group in GROUPS {
            assert!(of_group(group).is_some_and(|file| file.starts_with(b"backends-golden-1\n")), "{group}");
        }
        assert!(of_group("none").is_none() && samples().starts_with(b"backends-samples-1\n"));
        assert!(autograd().lines().count() > 100);
    }
}
