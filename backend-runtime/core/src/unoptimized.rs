//! Advice for programs that build this crate without optimisation. Such a build makes operations on arrays 10 to 100
//! times slower.

/// The environment variable that silences the advice.
#[cfg(unoptimized)]
const QUIET: &str = "BACKENDS_QUIET";

/// Prints to stderr, once per process, how to optimise this crate.
#[cfg(unoptimized)]
pub fn advise() {
    static SAID: std::sync::Once = std::sync::Once::new();
    SAID.call_once(|| {
        if std::env::var_os(QUIET).is_none() {
            eprintln!(
                "backends: this program has its array functions without optimisation, which makes them 10 to 100 times slower. In Cargo.toml,\n\
                 [profile.dev]\nopt-level = 2\n\n[profile.dev.package.\"*\"]\nopt-level = 3\ndebug-assertions = false\n\
                 gives dev builds the speed of release builds. The environment variable {QUIET}=1 silences this."
            );
        }
    });
}

/// Does nothing, because this crate is optimised.
#[cfg(not(unoptimized))]
#[inline(always)]
pub fn advise() {}
