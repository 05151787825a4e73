//! The current backend, used by functions that take no backend argument. It is set for a scope within a thread, or for
//! the process.
//!
//! [`current`] returns the first of these backends that is set: the backend of the innermost [scope](scoped) of this
//! thread; the process's [default](set_default); the backend that the environment variable `BACKENDS_DEFAULT` names;
//! [`Numpyish`](crate::Numpyish). [`functions`](crate::functions) has every op as a function on the current backend.
//!
//! A scope belongs to its thread and ends when its guard is dropped, also in a panic. Other threads, tasks of a pool
//! and futures do not see the scope; [`capture`] passes it on to them.
//!
//! ```
//! use backends::{Error, Result, current, functions::{multiply, sum}, prelude::*, scoped};
//!
//! /// This function does not mention a backend.
//! fn energy(x: &AnyArray<f64>) -> Result<AnyArray<f64>> {
//!     sum(multiply(x, x)?, ..)
//! }
//!
//! let x = backends::functions::asarray([1.0, 2.0])?; // on the default backend
//! assert_eq!(current()?.item(energy(&x)?)?, 5.0);
//! if let Ok(torch) = Torch::cpu() {
//!     scoped(torch, || {
//!         let x = backends::functions::asarray([1.0, 2.0])?;
//!         assert_eq!(energy(&x)?.backend(), "torch");
//!         Ok::<(), Error>(())
//!     })?;
//! }
//! assert_eq!(current()?.name(), "numpyish");
//! # Ok::<(), Error>(())
//! ```

use crate::{
    AnyArray, AnyBackend, Arrays, DType, Element, Error, Result, enter_precision, precision, runtime::scope::Stack,
};
use std::{
    future::Future,
    marker::PhantomData,
    pin::Pin,
    sync::{OnceLock, PoisonError, RwLock},
    task::{Context, Poll},
};

/// The default backend of the process, if one has been set.
static DEFAULT: RwLock<Option<AnyBackend>> = RwLock::new(None);

/// The backend that the environment names. It is created only once, so that all users of this backend share one random
/// stream.
static OF_ENVIRONMENT: OnceLock<Result<AnyBackend>> = OnceLock::new();

thread_local! {
    static SCOPES: Stack<AnyBackend> = const { Stack::new() };
}

/// The current backend of this thread.
///
/// # Errors
/// If no backend is set, and the backend that `BACKENDS_DEFAULT` names is unavailable.
pub fn current() -> Result<AnyBackend> {
    SCOPES.with(Stack::innermost).map_or_else(default_backend, Ok)
}

/// The default backend of this process: the current backend of threads that are not in a scope.
///
/// # Errors
/// The same as for [`current`].
pub fn default_backend() -> Result<AnyBackend> {
    let set = DEFAULT.read().unwrap_or_else(PoisonError::into_inner).clone();
    set.map_or_else(|| OF_ENVIRONMENT.get_or_init(AnyBackend::from_env).clone(), Ok)
}

/// Makes `backend` the default of this process, in all threads, outside of scopes. Returns the previous default, if one
/// was set.
pub fn set_default(backend: impl Into<AnyBackend>) -> Option<AnyBackend> {
    DEFAULT.write().unwrap_or_else(PoisonError::into_inner).replace(backend.into())
}

/// Makes `backend` the current one of this thread until the guard is dropped. Scopes can be nested.
///
/// ```
/// use backends::{current, enter, Numpyish};
///
/// let scope = enter(Numpyish::seeded(1));
/// assert_eq!(current()?.name(), "numpyish");
/// drop(scope);
/// # Ok::<(), backends::Error>(())
/// ```
#[must_use = "the scope ends when the guard goes: `let _ = enter(b)` ends it at once"]
pub fn enter(backend: impl Into<AnyBackend>) -> Scope {
    let backend = backend.into();
    Scope { number: SCOPES.with(|scopes| scopes.begin(backend)), of_this_thread: PhantomData }
}

/// Runs a closure with `backend` as the current one of this thread.
pub fn scoped<R>(backend: impl Into<AnyBackend>, run: impl FnOnce() -> R) -> R {
    let _scope = enter(backend);
    run()
}

/// Guard of a scope, which ends when the guard is dropped. The guard cannot leave its thread. Guards may be dropped in
/// any order; each guard ends its own scope.
#[derive(Debug)]
pub struct Scope {
    number: u64,
    of_this_thread: PhantomData<*const ()>,
}

impl Drop for Scope {
    fn drop(&mut self) {
        // when a thread ends, its stack of scopes may be destroyed before this guard
        let ended = SCOPES.try_with(|scopes| scopes.end(self.number));
        drop(ended);
    }
}

/// Captures the current backend and the [`precision`], to pass them to another thread, a task of a pool or a future.
///
/// ```
/// use backends::{Numpyish, capture, current, functions, scoped};
///
/// scoped(Numpyish::seeded(7), || {
///     let here = capture()?;
///     std::thread::spawn(move || here.run(|| functions::ones::<f64>([3]))).join().expect("it does not panic")
/// })?;
/// # Ok::<(), backends::Error>(())
/// ```
///
/// # Errors
/// The same as for [`current`].
pub fn capture() -> Result<Captured> {
    Ok(Captured { backend: current()?, precision: precision() })
}

/// The current backend and precision at the time of the call of [`capture`].
#[derive(Clone, Debug)]
pub struct Captured {
    backend: AnyBackend,
    precision: DType,
}

impl Captured {
    /// Runs a closure, in any thread, with the captured backend and precision as the current ones.
    pub fn run<R>(&self, run: impl FnOnce() -> R) -> R {
        // `capture` stored a precision that was current at that time, so entering it again cannot fail
        let _precision = enter_precision(self.precision);
        scoped(self.backend.clone(), run)
    }

    /// Wraps a future so that the captured backend and precision are current whenever the future is polled, in any
    /// thread.
    pub fn future<F: Future>(&self, future: F) -> InScope<F> {
        InScope { backend: self.clone(), future: Box::pin(future) }
    }
}

/// A future within a scope, made by [`Captured::future`].
#[derive(Debug)]
#[must_use = "futures do nothing unless they are awaited"]
pub struct InScope<F> {
    backend: Captured,
    future: Pin<Box<F>>,
}

impl<F: Future> Future for InScope<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let backend = self.backend.clone();
        backend.run(|| self.future.as_mut().poll(context))
    }
}

/// Arrays that can report their backend and device. The arrays of [`AnyBackend`] implement this trait in every dtype.
pub trait Placed {
    /// Name of the backend, such as `"torch"`.
    fn library(&self) -> &'static str;

    /// Name of the device, as the library writes it: `"cuda:1"`.
    fn place(&self) -> String;
}

impl<T: Element> Placed for AnyArray<T> {
    fn library(&self) -> &'static str {
        self.backend()
    }

    fn place(&self) -> String {
        crate::ArrayAttributes::device(self)
    }
}

/// Returns a backend that accepts all the arrays: the current backend if the arrays belong to it, else the arrays' own
/// backend.
///
/// ```
/// use backends::{Error, choose_backend, functions, prelude::*};
///
/// let (x, y) = (functions::ones::<f64>([2])?, functions::zeros::<i64>([2])?);
/// let b = choose_backend(&[&x, &y])?;
/// assert_eq!(b.name(), x.backend());
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// [`Backend`](Error::Backend) or [`Device`](Error::Device) if two of the arrays differ in backend or device;
/// [`Argument`](Error::Argument) if there are no arrays.
pub fn choose_backend(arrays: &[&dyn Placed]) -> Result<AnyBackend> {
    const OP: &str = "choose_backend";
    let (first, others) =
        arrays.split_first().ok_or_else(|| Error::argument(OP, "there must be at least one array"))?;
    let (library, device) = (first.library(), first.place());
    for other in others {
        if other.library() != library {
            return Err(Error::backend(OP, library, other.library()));
        }
        if other.place() != device {
            return Err(Error::device(OP, device, other.place()));
        }
    }
    let current = current()?;
    if current.name() == library && current.device() == device {
        return Ok(current);
    }
    // `cuda:1` is the name of this library's own GPU backend; the same GPU in libtorch is `torch:cuda:1`
    let name = if library == "cuda" || library == "numpyish" {
        device.replace("cpu", library)
    } else {
        format!("{library}:{device}")
    };
    name.parse()
}

/// Checks that the backend accepts all of these arrays. A function with several array arguments can call it first.
///
/// ```
/// use backends::{Error, Result, check_arrays, prelude::*};
///
/// fn distance(b: &AnyBackend, x: &AnyArray<f64>, weights: &AnyArray<f32>) -> Result<()> {
///     check_arrays(b, &[("x", x), ("weights", weights)])?;
///     // ..
///     Ok(())
/// }
/// # let b = AnyBackend::from(Numpyish::new());
/// distance(&b, &b.ones([2])?, &b.ones([2])?)?;
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// [`Argument`](Error::Argument) if an array is on another backend or device; the error lists all such arrays with
/// their devices.
pub fn check_arrays(b: &AnyBackend, arrays: &[(&str, &dyn Placed)]) -> Result<()> {
    let (library, device) = (b.name(), b.device());
    let elsewhere = arrays.iter().filter(|(_, x)| (x.library(), x.place()) != (library, device.clone()));
    let elsewhere: Vec<String> =
        elsewhere.map(|(name, x)| format!("`{name}` is of {} on {}", x.library(), x.place())).collect();
    if elsewhere.is_empty() {
        return Ok(());
    }
    let why = format!("the backend is {library} on {device}: {}; convert with to_backend", elsewhere.join(", "));
    Err(Error::argument("check_arrays", why))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Creation, Numpyish, Random};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// Draws a random number from the current backend's stream. The number identifies the backend.
    fn number() -> f64 {
        let b = current().unwrap();
        b.item(b.random_uniform::<f64>([0_usize; 0]).unwrap()).unwrap()
    }

    fn first_of(seed: u64) -> f64 {
        scoped(Numpyish::seeded(seed), number)
    }

    #[test]
    fn scopes_stand_in_one_another_and_end_in_panics() {
        let outer = enter(Numpyish::seeded(1));
        {
            let _inner = enter(Numpyish::seeded(2));
            assert_eq!(number(), first_of(2));
            assert!(catch_unwind(AssertUnwindSafe(|| scoped(Numpyish::seeded(3), || panic!("as asked")))).is_err());
            assert_ne!(number(), first_of(3), "the scope of the panic has ended");
        }
        assert_eq!(number(), first_of(1), "the outer one goes on from where it was");
        drop(outer);
    }

    #[test]
    fn guards_end_their_own_scope_in_any_order() {
        let (first, second) = (enter(Numpyish::seeded(1)), enter(Numpyish::seeded(2)));
        drop(first);
        assert_eq!(number(), first_of(2), "the inner scope stands");
        drop(second);
        assert_eq!(SCOPES.with(Stack::depth), 0);
    }

    #[test]
    fn another_thread_has_the_default_unless_it_is_given_the_scope() {
        scoped(Numpyish::seeded(5), || {
            let here = capture().unwrap();
            let (own, given) = std::thread::scope(|threads| {
                let own = threads.spawn(number).join().unwrap();
                (own, threads.spawn(move || here.run(number)).join().unwrap())
            });
            assert_ne!(own, first_of(5));
            assert_eq!(given, first_of(5));
        });
    }

    #[test]
    fn many_threads_at_once_have_scopes_of_their_own() {
        std::thread::scope(|threads| {
            for seed in 0..8 {
                threads.spawn(move || {
                    for _ in 0..100 {
                        scoped(Numpyish::seeded(seed), || {
                            std::thread::yield_now();
                            assert_eq!(number(), first_of(seed));
                        });
                    }
                });
            }
        });
    }

    /// A future that is pending at the first poll and ready at the second.
    struct Twice(bool);

    impl Future for Twice {
        type Output = f64;

        fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<f64> {
            if std::mem::replace(&mut self.0, true) { Poll::Ready(number()) } else { Poll::Pending }
        }
    }

    #[test]
    fn a_future_has_its_scope_at_every_poll_and_only_then() {
        let mut future = scoped(Numpyish::seeded(9), || capture().unwrap().future(Twice(false)));
        let mut context = Context::from_waker(std::task::Waker::noop());
        assert_eq!(Pin::new(&mut future).poll(&mut context), Poll::Pending);
        let value = scoped(Numpyish::seeded(1), || {
            let other = std::thread::spawn(move || {
                let mut context = Context::from_waker(std::task::Waker::noop());
                Pin::new(&mut future).poll(&mut context)
            });
            let value = other.join().unwrap();
            assert_eq!(number(), first_of(1));
            value
        });
        assert_eq!(value, Poll::Ready(first_of(9)));
    }

    #[test]
    fn the_backend_of_arrays() {
        let b = AnyBackend::from(Numpyish::new());
        let (x, y) = (b.zeros::<f64>([2]).unwrap(), b.ones::<f64>([2]).unwrap());
        assert_eq!(choose_backend(&[&x, &y]).unwrap().name(), "numpyish");
        assert!(matches!(choose_backend(&[]), Err(Error::Argument { .. })));
        if let Some(torch) = crate::runtime::available::available("torch", crate::choose::torch("cpu")) {
            let z = torch.zeros::<f64>([2]).unwrap();
            assert_eq!(choose_backend(&[&z]).unwrap().name(), "torch");
            assert!(matches!(choose_backend(&[&x, &z]), Err(Error::Backend { .. })));
            assert_eq!(check_arrays(&b, &[("x", &x), ("y", &y)]), Ok(()));
            let why = check_arrays(&torch, &[("x", &x), ("z", &z), ("y", &y)]).unwrap_err().to_string();
            assert_eq!(
                why,
                "check_arrays: the backend is torch on cpu: `x` is of numpyish on cpu, `y` is of numpyish on cpu; convert with to_backend"
            );
            scoped(torch, || assert_eq!(choose_backend(&[&x]).unwrap().name(), "numpyish"));
        }
    }

    /// A layer of a neural network, in a framework whose users do not pass a backend to each call.
    struct Layer(AnyArray<f64>);

    impl Layer {
        fn new() -> Result<Layer> {
            crate::functions::random_normal([8, 8]).map(Layer)
        }

        fn forward(&self, x: &AnyArray<f64>) -> Result<AnyArray<f64>> {
            crate::functions::tanh(crate::functions::matmul(x, &self.0)?)
        }
    }

    /// The result of a small program: the sum of the output of two successive layers.
    fn program() -> Result<f64> {
        let x = crate::functions::ones([4, 8])?;
        let y = Layer::new()?.forward(&Layer::new()?.forward(&x)?)?;
        let b = current()?;
        b.item(crate::functions::sum(y, ..)?)
    }

    /// From a forum post: "Am I likely to run into issues later on in development by using this design?" The design in
    /// the post had three faults: its state is not restored if the code inside the scope fails, the restored state is
    /// only the kind of the backend and not the backend itself, and the state is never set.
    #[test]
    fn the_forums_first_question_the_state_is_always_the_one_before() {
        let failing = || -> Result<f64> {
            scoped(Numpyish::seeded(1), || {
                scoped(Numpyish::seeded(2), || Err::<(), _>(Error::argument("program", "as asked")))?;
                program()
            })
        };
        let outer = enter(Numpyish::seeded(3));
        let before = number();
        assert!(failing().is_err());
        let after = number();
        drop(outer);
        let alone = scoped(Numpyish::seeded(3), || (number(), number()));
        assert_eq!((before, after), alone, "the same backend, with its own random state");
        assert!("cupy".parse::<AnyBackend>().is_err(), "a name that is none is no silence");
    }

    /// From the same forum post: "Is my current design implicitly not thread safe, meaning I can e.g. no longer run
    /// tests in parallel?"
    #[test]
    fn the_forums_second_question_threads_do_not_see_each_others_state() {
        let alone: Vec<f64> = (0..8).map(|seed| scoped(Numpyish::seeded(seed), program).unwrap()).collect();
        let together: Vec<f64> = std::thread::scope(|threads| {
            let run = |seed| threads.spawn(move || scoped(Numpyish::seeded(seed), program).unwrap());
            let running: Vec<_> = (0..8).map(run).collect();
            running.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(alone, together);
    }
}
