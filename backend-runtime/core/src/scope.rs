//! Nested scopes of thread-local settings.

use std::cell::{Cell, RefCell};

/// The values of a thread's scopes, with the innermost last. A stack must be stored in a `thread_local!`.
pub struct Stack<T> {
    next: Cell<u64>,
    scopes: RefCell<Vec<(u64, T)>>,
}

impl<T: Clone> Stack<T> {
    /// Creates a stack without scopes.
    #[allow(clippy::new_without_default)] // `default` cannot be `const`
    pub const fn new() -> Stack<T> {
        Stack { next: Cell::new(0), scopes: RefCell::new(Vec::new()) }
    }

    /// Returns the value of the innermost scope; `None` if there is no scope.
    pub fn innermost(&self) -> Option<T> {
        self.scopes.borrow().last().map(|(_, value)| value.clone())
    }

    /// Begins a scope. Returns the scope's number, which `end` takes.
    pub fn begin(&self, value: T) -> u64 {
        let number = self.next.replace(self.next.get() + 1);
        self.scopes.borrow_mut().push((number, value));
        number
    }

    /// Ends a scope, which need not be the innermost, and returns the scope's value. The caller drops the value after
    /// this call, when the stack is no longer borrowed, because the value's destructor may access the stack.
    pub fn end(&self, number: u64) -> Option<T> {
        let mut scopes = self.scopes.borrow_mut();
        let place = scopes.iter().rposition(|(of, _)| *of == number)?;
        Some(scopes.remove(place).1)
    }

    /// Returns the number of open scopes.
    pub fn depth(&self) -> usize {
        self.scopes.borrow().len()
    }
}
