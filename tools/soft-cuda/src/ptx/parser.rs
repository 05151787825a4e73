//! The state of the parser of a module, and the method that parses declarations of variables. Such declarations occur
//! in modules and in functions.

use super::{
    cursor::{Cursor, Read, width},
    module::Module,
};
use std::collections::HashMap;

/// The meaning of a name that a module declares.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Global {
    /// A variable in device memory: its index in the module.
    Variable(usize),
    /// A variable in shared memory: its offset in bytes.
    Shared(usize),
    /// The start of dynamic shared memory.
    Dynamic,
    Function(usize),
}

/// A module while it is being read.
pub(crate) struct Parser<'a> {
    pub cursor: Cursor<'a>,
    pub module: Module,
    pub globals: HashMap<&'a str, Global>,
    /// The offset in bytes at which the module's next shared variable can begin.
    pub shared: usize,
    /// The alignment of the start of dynamic shared memory.
    pub dynamic_align: usize,
}

/// A declared variable or parameter.
pub(crate) struct Declared<'a> {
    pub name: &'a str,
    pub ty: &'a str,
    pub align: usize,
    pub bytes: usize,
    /// Whether the declaration has no length (`name[]`), as for dynamic shared memory.
    pub open: bool,
}

impl<'a> Parser<'a> {
    /// Creates a parser at the beginning of a text.
    pub fn new(text: &'a str) -> Parser<'a> {
        Parser {
            cursor: Cursor::new(text),
            module: Module { text: text.to_string(), ..Module::default() },
            globals: HashMap::new(),
            shared: 0,
            dynamic_align: 16,
        }
    }

    /// Reads a declaration from the word after its state space on: `.align 8 .b8 name[16]`.
    pub fn declared(&mut self) -> Read<Declared<'a>> {
        let (mut align, mut pointee) = (None, false);
        let mut ty = "";
        let name = loop {
            match self.cursor.next()? {
                ".align" if pointee => drop(self.cursor.size()?),
                ".align" => align = Some(self.cursor.size()?),
                ".ptr" => pointee = true,
                ".global" | ".shared" | ".const" | ".local" if pointee => {}
                word if word.starts_with('.') => ty = &word[1..],
                name => break name,
            }
        };
        let Some((size, _)) = width(ty) else {
            return Err(self.cursor.error(format!("there is no type .{ty}")));
        };
        let (mut bytes, mut open) = (size, false);
        while self.cursor.take("[") {
            if self.cursor.take("]") {
                open = true;
                continue;
            }
            let count = self.cursor.size()?;
            bytes = bytes.checked_mul(count).ok_or_else(|| self.cursor.error("too large"))?;
            self.cursor.expect("]")?;
        }
        let align = align.unwrap_or(size);
        if !align.is_power_of_two() || bytes > 1 << 30 {
            return Err(self.cursor.error("no such alignment or size"));
        }
        Ok(Declared { name, ty, align, bytes, open })
    }
}
