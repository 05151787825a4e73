//! Reads the body of a function: its scopes, declarations and labels. A register gets an index (slot) on its first use.

use super::{
    cursor::{Read, immediate},
    module::Param,
    parser::{Global, Parser},
    step::{Access, Function, LaneMask, Slot, Space, Special, Step},
};
use crate::memory::POISON;
use std::collections::HashMap;

/// The value of a register before the first write.
const UNSET: u64 = u64::from_le_bytes([POISON; 8]);

/// The meaning of a name within a function. Names of registers are stored separately.
#[derive(Clone, Copy, Debug)]
pub(super) enum Symbol {
    /// A parameter: its offset and size in bytes.
    Param(usize, usize),
    /// A variable in local memory: its offset in bytes from the start of the function's variables.
    Local(usize),
    /// A variable in shared memory: its offset in bytes.
    Shared(usize),
    /// A table of labels: its index in the module.
    Table(u32),
}

#[derive(Default)]
struct Scope<'a> {
    /// Registers declared as ranges, such as `%r<9>`: the name and the number of registers.
    ranges: Vec<(&'a str, usize)>,
    /// Registers declared by name, and registers of `ranges` that have been used. The slot is `None` before the first
    /// use.
    registers: HashMap<&'a str, Option<Slot>>,
    symbols: HashMap<&'a str, Symbol>,
    labels: HashMap<&'a str, u32>,
    /// The length of `Body::waiting` at the start of the scope.
    waiting: usize,
}

/// A jump, or an entry of a table of labels, whose label is not resolved yet. The index of the target step is set at
/// the end of the scope that has the label.
enum Waiting {
    Step(usize),
    Entry(usize, usize),
}

/// An operand of an instruction.
#[derive(Clone, Debug)]
pub(super) enum Operand {
    Register(Slot),
    /// A negated predicate, such as `!p`.
    Not(Slot),
    Vector(Vec<Slot>),
    Address(Slot, i32),
}

/// A function while it is being read.
pub(super) struct Body<'p, 'a> {
    pub parser: &'p mut Parser<'a>,
    pub function: Function,
    scopes: Vec<Scope<'a>>,
    constants: HashMap<u64, Slot>,
    waiting: Vec<(Waiting, &'a str, u32)>,
    /// The register for carries, if an instruction has used it.
    carry: Option<Slot>,
    /// The offset in bytes at which the function's next shared variable can begin.
    shared: usize,
    pub uses_module: bool,
    line: u32,
}

impl<'p, 'a> Body<'p, 'a> {
    pub fn new(parser: &'p mut Parser<'a>, mut function: Function, shared: usize) -> Self {
        function.start = Some(parser.module.steps.len() as u32);
        Body {
            parser,
            function,
            scopes: vec![Scope::default()],
            constants: HashMap::new(),
            waiting: Vec::new(),
            carry: None,
            shared,
            uses_module: false,
            line: 0,
        }
    }

    /// Declares the names of parameters.
    pub fn params(&mut self, params: &[(&'a str, Param)]) {
        let named = params.iter().map(|(name, param)| (*name, Symbol::Param(param.offset, param.size)));
        self.scopes[0].symbols.extend(named);
    }

    /// Reads the function up to its closing brace. Returns the function, the offset in bytes of the end of its shared
    /// memory, and whether it may use shared variables of the module.
    pub fn read(mut self) -> Read<(Function, usize, bool)> {
        while !self.scopes.is_empty() {
            self.statement()?;
        }
        if let Some((_, label, line)) = self.waiting.first() {
            return Err(self.parser.cursor.error_at(*line, format!("there is no label {label}")));
        }
        Ok((self.function, self.shared, self.uses_module))
    }

    fn statement(&mut self) -> Read<()> {
        let word = self.parser.cursor.next()?;
        self.line = self.parser.cursor.line();
        match word {
            "{" => self.scopes.push(Scope { waiting: self.waiting.len(), ..Scope::default() }),
            "}" => self.close()?,
            ";" => {}
            "@" => {
                let negated = self.parser.cursor.take("!");
                let name = self.parser.cursor.next()?;
                let condition = self.register(name)?;
                let word = self.parser.cursor.next()?;
                self.instruction(word, Some((condition, !negated)))?;
            }
            ".reg" => self.registers()?,
            ".pragma" => self.parser.cursor.skip_past(";")?,
            ".loc" => self.parser.cursor.skip_line(),
            ".param" | ".local" | ".shared" => self.memory(word)?,
            _ if self.parser.cursor.take(":") => {
                let symbol = if self.parser.cursor.take(".branchtargets") { Some(self.targets()?) } else { None };
                let place = self.parser.module.steps.len() as u32;
                let scope = self.scope();
                match symbol {
                    Some(table) => drop(scope.symbols.insert(word, table)),
                    None => drop(scope.labels.insert(word, place)),
                }
            }
            _ => self.instruction(word, None)?,
        }
        Ok(())
    }

    fn scope(&mut self) -> &mut Scope<'a> {
        self.scopes.last_mut().expect("a statement is within a scope")
    }

    /// Ends a scope, and resolves jumps within the scope to labels of the scope.
    fn close(&mut self) -> Read<()> {
        let scope = self.scopes.pop().expect("a statement is within a scope");
        if self.scopes.is_empty() {
            // a function returns at its end; this step is also the target of labels at the end
            self.emit(Step::Return);
        }
        for (waiting, label, line) in self.waiting.split_off(scope.waiting.min(self.waiting.len())) {
            let Some(&place) = scope.labels.get(label) else {
                self.waiting.push((waiting, label, line));
                continue;
            };
            match waiting {
                Waiting::Step(step) => match &mut self.parser.module.steps[step] {
                    Step::Jump { to } | Step::JumpIf { to, .. } => *to = place,
                    _ => {}
                },
                Waiting::Entry(table, entry) => self.parser.module.tables[table][entry] = place,
            }
        }
        Ok(())
    }

    fn targets(&mut self) -> Read<Symbol> {
        let table = self.parser.module.tables.len();
        let mut entries = 0;
        loop {
            let label = self.parser.cursor.next()?;
            self.waiting.push((Waiting::Entry(table, entries), label, self.line));
            entries += 1;
            if !self.parser.cursor.take(",") {
                break;
            }
        }
        self.parser.cursor.expect(";")?;
        self.parser.module.tables.push(vec![0; entries]);
        Ok(Symbol::Table(table as u32))
    }

    /// Reads a declaration of registers, such as `.reg .b32 %r<9>, %x;`.
    fn registers(&mut self) -> Read<()> {
        let ty = self.parser.cursor.next()?;
        if ty.starts_with(".v") || ty == ".b128" {
            return Err(self.parser.cursor.error(format!("registers of type {ty} are not known")));
        }
        loop {
            let name = self.parser.cursor.next()?;
            if self.parser.cursor.take("<") {
                let count = self.parser.cursor.size()?;
                self.parser.cursor.expect(">")?;
                self.scope().ranges.push((name, count));
            } else {
                self.scope().registers.insert(name, None);
            }
            if !self.parser.cursor.take(",") {
                break;
            }
        }
        self.parser.cursor.expect(";")
    }

    fn memory(&mut self, space: &str) -> Read<()> {
        let declared = self.parser.declared()?;
        let (counter, symbol): (_, fn(usize, usize) -> Symbol) = match space {
            ".param" => (&mut self.function.param_bytes, Symbol::Param),
            ".local" => (&mut self.function.local_bytes, |place, _| Symbol::Local(place)),
            _ => (&mut self.shared, |place, _| Symbol::Shared(place)),
        };
        let place = counter.next_multiple_of(declared.align);
        *counter = place + declared.bytes;
        self.scope().symbols.insert(declared.name, symbol(place, declared.bytes));
        self.parser.cursor.expect(";")
    }

    /// Appends a step to the module.
    pub fn emit(&mut self, step: Step) {
        self.parser.module.steps.push(step);
        self.parser.module.lines.push(self.line);
    }

    /// Appends a jump to a label. The index of the target step is set at the end of the scope that has the label.
    pub fn jump(&mut self, step: Step, label: &'a str) {
        self.waiting.push((Waiting::Step(self.parser.module.steps.len()), label, self.line));
        self.emit(step);
    }

    /// Creates a register; `value` is its value when the function is entered.
    pub fn new_register(&mut self, value: u64) -> Read<Slot> {
        let slot = Slot::try_from(self.function.registers.len());
        let slot = slot.map_err(|_| self.parser.cursor.error("the function has too many registers"))?;
        self.function.registers.push(value);
        Ok(slot)
    }

    pub fn temporary(&mut self) -> Read<Slot> {
        self.new_register(UNSET)
    }

    pub fn constant(&mut self, value: u64) -> Read<Slot> {
        if let Some(&slot) = self.constants.get(&value) {
            return Ok(slot);
        }
        let slot = self.new_register(value)?;
        self.constants.insert(value, slot);
        Ok(slot)
    }

    pub fn special(&mut self, special: Special) -> Read<Slot> {
        let known = self.function.specials.iter().find(|(_, other)| *other == special);
        if let Some(&(slot, _)) = known {
            return Ok(slot);
        }
        let slot = self.new_register(0)?;
        self.function.specials.push((slot, special));
        Ok(slot)
    }

    fn variable(&mut self, variable: usize, addend: i64) -> Read<Slot> {
        let known = self.function.variables.iter().find(|(_, other, plus)| (*other, *plus) == (variable, addend));
        if let Some(&(slot, ..)) = known {
            return Ok(slot);
        }
        let slot = self.new_register(0)?;
        self.function.variables.push((slot, variable, addend));
        Ok(slot)
    }

    /// Returns the register for carries, and creates it on the first call.
    pub fn carry(&mut self) -> Read<Slot> {
        match self.carry {
            Some(slot) => Ok(slot),
            None => {
                let slot = self.new_register(0)?;
                self.carry = Some(slot);
                Ok(slot)
            }
        }
    }

    fn declared_register(&mut self, name: &'a str) -> Read<Option<Slot>> {
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        let (stem, number) = name.split_at(name.len() - digits);
        for scope in (0..self.scopes.len()).rev() {
            match self.scopes[scope].registers.get(name) {
                Some(Some(slot)) => return Ok(Some(*slot)),
                None => {
                    let number: Option<usize> = number.parse().ok();
                    let in_range = |&(range, count): &(&str, usize)| range == stem && number.is_some_and(|n| n < count);
                    if !self.scopes[scope].ranges.iter().any(in_range) {
                        continue;
                    }
                }
                Some(None) => {}
            }
            let slot = self.temporary()?;
            self.scopes[scope].registers.insert(name, Some(slot));
            return Ok(Some(slot));
        }
        Ok(None)
    }

    pub fn register(&mut self, name: &'a str) -> Read<Slot> {
        match self.declared_register(name)? {
            Some(slot) => Ok(slot),
            None => Err(self.parser.cursor.error(format!("there is no register {name}"))),
        }
    }

    /// Reads the name of the register for a result. For the name `_`, creates a register that nothing reads.
    pub fn target(&mut self) -> Read<Slot> {
        match self.parser.cursor.next()? {
            "_" => self.temporary(),
            name => self.register(name),
        }
    }

    /// Reads a comma and a source operand, and returns the register that holds its value. Numbers and addresses of
    /// variables are held in registers, too.
    pub fn source(&mut self) -> Read<Slot> {
        self.parser.cursor.expect(",")?;
        match self.operand()? {
            Operand::Register(slot) => Ok(slot),
            _ => Err(self.parser.cursor.error("expected a register or number")),
        }
    }

    /// Reads an address. If it is not the first operand, a comma precedes it.
    pub fn place(&mut self, first: bool) -> Read<(Slot, i32)> {
        if !first {
            self.parser.cursor.expect(",")?;
        }
        match self.operand()? {
            Operand::Address(base, offset) => Ok((base, offset)),
            _ => Err(self.parser.cursor.error("expected an address")),
        }
    }

    pub fn symbol(&self, name: &str) -> Option<Symbol> {
        self.scopes.iter().rev().find_map(|scope| scope.symbols.get(name)).copied()
    }

    /// Returns the register that holds the value of `word`, which is a name or a number.
    fn value(&mut self, word: &'a str) -> Read<Slot> {
        if let Some(bits) = immediate(word) {
            return self.constant(bits);
        }
        if let Some(slot) = self.declared_register(word)? {
            return Ok(slot);
        }
        if let Some(special) = special(word) {
            return self.special(special);
        }
        if word == "WARP_SZ" {
            return self.constant(32);
        }
        let addend = if self.parser.cursor.take("+") { self.parser.cursor.integer()? } else { 0 };
        self.named(word, addend)
    }

    /// Returns the register that holds the address of a variable or parameter, plus `addend`.
    fn named(&mut self, name: &'a str, addend: i64) -> Read<Slot> {
        let plus = |place: usize| (place as u64).wrapping_add_signed(addend);
        match (self.symbol(name), self.parser.globals.get(name)) {
            (Some(Symbol::Param(place, _) | Symbol::Shared(place)), _) => self.constant(plus(place)),
            (Some(Symbol::Local(place)), _) => match u32::try_from(plus(place)) {
                Ok(place) => self.special(Special::Local(place)),
                Err(_) => Err(self.parser.cursor.error("outside of the variable")),
            },
            (None, Some(&Global::Variable(variable))) => self.variable(variable, addend),
            (None, Some(&Global::Shared(place))) => {
                self.uses_module = true;
                self.constant(plus(place))
            }
            (None, Some(Global::Dynamic)) if addend == 0 => {
                self.uses_module = true;
                self.special(Special::Dynamic)
            }
            _ => Err(self.parser.cursor.error(format!("{name} is not known"))),
        }
    }

    /// Reads the next operand.
    pub fn operand(&mut self) -> Read<Operand> {
        let word = self.parser.cursor.next()?;
        match word {
            "{" => {
                let mut all = Vec::with_capacity(4);
                while !self.parser.cursor.take("}") {
                    let word = self.parser.cursor.next()?;
                    all.push(self.signed(word)?);
                    self.parser.cursor.take(",");
                }
                Ok(Operand::Vector(all))
            }
            "[" => self.address(),
            "!" => {
                let name = self.parser.cursor.next()?;
                Ok(Operand::Not(self.register(name)?))
            }
            _ => {
                let slot = self.signed(word)?;
                Ok(Operand::Register(slot))
            }
        }
    }

    fn signed(&mut self, word: &'a str) -> Read<Slot> {
        if word != "-" {
            return self.value(word);
        }
        let word = self.parser.cursor.next()?;
        let bits = immediate(word).ok_or_else(|| self.parser.cursor.error(format!("{word} is not a number")))?;
        self.constant(bits.wrapping_neg())
    }

    /// Reads `base+offset]`, where the base is a register, a name or a number.
    fn address(&mut self) -> Read<Operand> {
        let word = self.parser.cursor.next()?;
        let named = self.declared_register(word)?;
        // an offset from a variable is stored in the access and not added to the address, so that all accesses to the
        // variable use one register
        let base = match (named, self.parser.cursor.peek()) {
            (Some(slot), _) => slot,
            (None, "+") if immediate(word).is_none() => self.named(word, 0)?,
            _ => self.value(word)?,
        };
        let offset = if self.parser.cursor.take("+") { self.parser.cursor.integer()? } else { 0 };
        self.parser.cursor.expect("]")?;
        let offset = i32::try_from(offset).map_err(|_| self.parser.cursor.error("the offset is too large"))?;
        Ok(Operand::Address(base, offset))
    }

    /// Creates the description of a memory access, with a new index (`site`).
    pub fn access(&mut self, space: Space, (base, offset): (Slot, i32), size: usize, count: usize) -> Access {
        let site = (self.parser.module.accesses % (1 << 16)) as u16;
        self.parser.module.accesses += 1;
        Access { space, count: count as u8, size: size as u8, strong: false, site, base, offset }
    }
}

/// Returns the special register with this name, such as `%tid.x`.
fn special(name: &str) -> Option<Special> {
    let (stem, axis) = match name.as_bytes() {
        [stem @ .., b'.', axis @ b'x'..=b'z'] => (&name[..stem.len()], (axis - b'x') as usize),
        _ => (name, 3),
    };
    Some(match (stem, axis) {
        ("%tid", 0..3) => Special::Thread(axis),
        ("%ntid", 0..3) => Special::Threads(axis),
        ("%ctaid", 0..3) => Special::Block(axis),
        ("%nctaid", 0..3) => Special::Blocks(axis),
        ("%laneid", 3) => Special::Lane,
        ("%warpid", 3) => Special::Warp,
        ("%nwarpid", 3) => Special::Warps,
        ("%lanemask_eq", 3) => Special::LaneMask(LaneMask::Equal),
        ("%lanemask_lt", 3) => Special::LaneMask(LaneMask::Less),
        ("%lanemask_le", 3) => Special::LaneMask(LaneMask::LessEqual),
        ("%lanemask_gt", 3) => Special::LaneMask(LaneMask::Greater),
        ("%lanemask_ge", 3) => Special::LaneMask(LaneMask::GreaterEqual),
        ("%dynamic_smem_size", 3) => Special::DynamicBytes,
        _ => return None,
    })
}
