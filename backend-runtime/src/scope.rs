//! What holds within a part of a program, for one thread: scopes that stand in one another.

use std::cell::{Cell, RefCell};

/// The values of the scopes of a thread, the innermost last. To be kept in a `thread_local!`.
pub struct Stack<T> {
    next: Cell<u64>,
    scopes: RefCell<Vec<(u64, T)>>,
}

impl<T: Clone> Stack<T> {
    /// No scopes.
    #[allow(clippy::new_without_default)] // which cannot be `const`
    pub const fn new() -> Stack<T> {
        Stack { next: Cell::new(0), scopes: RefCell::new(Vec::new()) }
    }

    /// The value of the innermost scope.
    pub fn innermost(&self) -> Option<T> {
        self.scopes.borrow().last().map(|(_, value)| value.clone())
    }

    /// A scope begins; its number ends it.
    pub fn begin(&self, value: T) -> u64 {
        let number = self.next.replace(self.next.get() + 1);
        self.scopes.borrow_mut().push((number, value));
        number
    }

    /// A scope ends, which need not be the innermost. Its value is given to the caller, who drops it when the list is free again: its
    /// end may ask for the innermost.
    pub fn end(&self, number: u64) -> Option<T> {
        let mut scopes = self.scopes.borrow_mut();
        let place = scopes.iter().rposition(|(of, _)| *of == number)?;
        Some(scopes.remove(place).1)
    }

    /// How many there are.
    pub fn depth(&self) -> usize {
        self.scopes.borrow().len()
    }
}
