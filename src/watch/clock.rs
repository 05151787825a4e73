//! Time measurement for calls, including a replacement for systems without a clock.

/// A point in time.
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub use std::time::Instant;

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub use none::Instant;

/// A replacement for WebAssembly without WASI, where the standard clock panics. All its durations are zero.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
mod none {
    use std::time::Duration;

    #[derive(Clone, Copy, Debug)]
    pub struct Instant;

    impl Instant {
        pub fn now() -> Instant {
            Instant
        }

        pub fn elapsed(&self) -> Duration {
            Duration::ZERO
        }

        pub fn saturating_duration_since(&self, _: Instant) -> Duration {
            Duration::ZERO
        }
    }
}
