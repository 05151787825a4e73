//! Decodes instructions. Branches, calls and returns are decoded here; `memory`, `together` and `arithmetic` decode all
//! other instructions.

use super::{
    body::{Body, Symbol},
    cursor::Read,
    parser::Global,
    step::{CallSite, Slot, Step},
};

impl<'a> Body<'_, 'a> {
    /// Decodes an instruction. `word` is its name with its modifiers; its operands are not read yet. If the instruction
    /// has a guard, such as `@p`, it runs only if the guard holds.
    pub(super) fn instruction(&mut self, word: &'a str, guard: Option<(Slot, bool)>) -> Read<()> {
        let mut parts = word.split('.');
        let name = parts.next().unwrap_or("");
        let modifiers: Vec<&str> = parts.collect();
        if name == "bra" {
            return self.branch(&modifiers, guard);
        }
        let skip = guard.map(|(condition, wanted)| {
            let step = self.parser.module.steps.len();
            self.emit(Step::JumpIf { condition, wanted: !wanted, to: 0 });
            step
        });
        match (name, &modifiers[..]) {
            ("ret", [] | ["uni"]) => self.emit(Step::Return),
            ("exit", []) => self.emit(Step::Exit),
            ("trap", []) => self.emit(Step::Trap),
            ("brx", ["idx"] | ["idx", "uni"]) => self.branch_by_index()?,
            ("call", [] | ["uni"]) => self.call()?,
            // fences and `nanosleep` do nothing, because threads see each other's writes immediately, and sleeping
            // takes no time
            ("membar" | "fence" | "nanosleep", _) => self.parser.cursor.skip_past(";")?,
            ("ld" | "ldu", _) => self.load(&modifiers)?,
            ("st", _) => self.store(&modifiers)?,
            ("atom" | "red", _) => self.atomic(name, &modifiers)?,
            ("bar" | "barrier", _) => self.barrier(name, &modifiers)?,
            ("shfl" | "vote" | "match" | "redux" | "activemask", _) => self.together(name, &modifiers)?,
            _ => self.arithmetic(name, &modifiers)?,
        }
        if !matches!(name, "membar" | "fence" | "nanosleep") {
            self.parser.cursor.expect(";")?;
        }
        if let Some(skip) = skip {
            let end = self.parser.module.steps.len() as u32;
            if let Step::JumpIf { to, .. } = &mut self.parser.module.steps[skip] {
                *to = end;
            }
        }
        Ok(())
    }

    /// Returns the error for an unknown instruction.
    pub(super) fn unknown<T>(&self) -> Read<T> {
        Err(self.parser.cursor.error("this device has no such instruction"))
    }

    fn branch(&mut self, modifiers: &[&str], guard: Option<(Slot, bool)>) -> Read<()> {
        if !matches!(modifiers, [] | ["uni"]) {
            return self.unknown();
        }
        let label = self.parser.cursor.next()?;
        let step = match guard {
            Some((condition, wanted)) => Step::JumpIf { condition, wanted, to: 0 },
            None => Step::Jump { to: 0 },
        };
        self.jump(step, label);
        self.parser.cursor.expect(";")
    }

    fn branch_by_index(&mut self) -> Read<()> {
        let name = self.parser.cursor.next()?;
        let index = self.register(name)?;
        self.parser.cursor.expect(",")?;
        let name = self.parser.cursor.next()?;
        let Some(Symbol::Table(table)) = self.symbol(name) else {
            return Err(self.parser.cursor.error(format!("{name} is not a table of labels")));
        };
        self.emit(Step::JumpTable { index, table });
        Ok(())
    }

    /// Decodes `call (result), function, (arguments)`; results and arguments are `.param` variables.
    fn call(&mut self) -> Read<()> {
        let mut results = Vec::new();
        if self.parser.cursor.peek() == "(" {
            results = self.passed()?;
            self.parser.cursor.expect(",")?;
        }
        let name = self.parser.cursor.next()?;
        let Some(&Global::Function(function)) = self.parser.globals.get(name) else {
            return Err(self.parser.cursor.error(format!("{name} is not a function")));
        };
        let mut arguments = Vec::new();
        if self.parser.cursor.take(",") {
            arguments = self.passed()?;
        }
        let callee = &self.parser.module.functions[function];
        if arguments.len() != callee.inputs.len() || results.len() != callee.outputs.len() {
            return Err(self.parser.cursor.error(format!("{name} has other parameters")));
        }
        let pairs = |ours: Vec<(usize, usize)>, theirs: &[(usize, usize)]| -> Vec<_> {
            ours.into_iter().zip(theirs).map(|((here, size), &(there, bytes))| (here, there, size.min(bytes))).collect()
        };
        let site = CallSite {
            function,
            arguments: pairs(arguments, &callee.inputs),
            results: pairs(results, &callee.outputs).into_iter().map(|(here, there, n)| (there, here, n)).collect(),
        };
        self.uses_module = true;
        self.emit(Step::Call { site: self.parser.module.sites.len() as u32 });
        self.parser.module.sites.push(site);
        Ok(())
    }

    /// Reads names of `.param` variables in parentheses; returns their offsets and sizes in bytes.
    fn passed(&mut self) -> Read<Vec<(usize, usize)>> {
        let mut all = Vec::new();
        self.parser.cursor.expect("(")?;
        while !self.parser.cursor.take(")") {
            let name = self.parser.cursor.next()?;
            let Some(Symbol::Param(offset, size)) = self.symbol(name) else {
                return Err(self.parser.cursor.error(format!("{name} is not a parameter")));
            };
            all.push((offset, size));
            self.parser.cursor.take(",");
        }
        Ok(all)
    }
}
