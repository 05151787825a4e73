//! Reads a module: its directives, variables, functions and kernels.

use super::{
    body::Body,
    cursor::{Read, immediate, width},
    error::Error,
    module::{Kernel, KernelInfo, Module, Param, Variable},
    parser::{Global, Parser},
    step::Function,
};

impl Module {
    /// Parses the text of a module.
    pub fn parse(text: &str) -> Result<Module, Error> {
        let mut parser = Parser::new(text);
        while !parser.cursor.at_end() {
            parser.item()?;
        }
        Ok(parser.module)
    }
}

impl<'a> Parser<'a> {
    fn item(&mut self) -> Read<()> {
        let mut external = false;
        loop {
            match self.cursor.next()? {
                ".visible" | ".weak" | ".common" => {}
                ".extern" => external = true,
                ".version" | ".target" | ".address_size" | ".file" | ".loc" => {
                    self.cursor.skip_line();
                    return Ok(());
                }
                ".global" | ".const" => return self.variable(),
                ".shared" => return self.shared_variable(external),
                ".entry" => return self.kernel(),
                ".func" => return self.function(),
                ".pragma" => return self.cursor.skip_past(";"),
                ".section" => return self.cursor.skip_past("}"),
                ";" => return Ok(()),
                other => return Err(self.cursor.error(format!("{other} is not known"))),
            }
        }
    }

    fn variable(&mut self) -> Read<()> {
        let declared = self.declared()?;
        let mut variable = Variable { name: declared.name.to_string(), ..Variable::default() };
        let size = width(declared.ty).map_or(1, |(size, _)| size);
        if self.cursor.take("=") {
            self.initial(size, &mut variable)?;
        }
        let bytes = if declared.open { variable.initial.len() } else { declared.bytes };
        variable.initial.resize(bytes, 0);
        if variable.pointers.iter().any(|(offset, ..)| offset + 8 > bytes) {
            return Err(self.cursor.error("an address needs 64 bits"));
        }
        self.globals.insert(declared.name, Global::Variable(self.module.variables.len()));
        self.module.variables.push(variable);
        self.cursor.expect(";")
    }

    /// Reads the initial value of a variable: one element, or elements in braces, which may be nested.
    fn initial(&mut self, size: usize, variable: &mut Variable) -> Read<()> {
        if self.cursor.take("{") {
            while !self.cursor.take("}") {
                self.initial(size, variable)?;
                self.cursor.take(",");
            }
            return Ok(());
        }
        let word = self.cursor.peek();
        let generic = word == "generic";
        if generic || (immediate(word).is_none() && word != "-") {
            self.cursor.next()?;
            let name = if generic {
                self.cursor.expect("(")?;
                self.cursor.next()?
            } else {
                word
            };
            if generic {
                self.cursor.expect(")")?;
            }
            let addend = if self.cursor.take("+") { self.cursor.integer()? } else { 0 };
            let Some(&Global::Variable(target)) = self.globals.get(name) else {
                return Err(self.cursor.error(format!("{name} is not a variable")));
            };
            variable.pointers.push((variable.initial.len(), target, addend));
            variable.initial.extend([0; 8]);
            return Ok(());
        }
        let value = self.cursor.integer()?;
        variable.initial.extend(&value.to_le_bytes()[..size]);
        Ok(())
    }

    fn shared_variable(&mut self, external: bool) -> Read<()> {
        let declared = self.declared()?;
        if external || declared.open {
            self.dynamic_align = self.dynamic_align.max(declared.align);
            self.globals.insert(declared.name, Global::Dynamic);
        } else {
            let place = self.shared.next_multiple_of(declared.align);
            self.shared = place + declared.bytes;
            self.globals.insert(declared.name, Global::Shared(place));
        }
        self.cursor.expect(";")
    }

    /// Reads parameters in parentheses, assigns offsets to them from `offset` on, and adds their size in bytes to
    /// `offset`.
    fn params(&mut self, offset: &mut usize) -> Read<Vec<(&'a str, Param)>> {
        let mut params = Vec::new();
        self.cursor.expect("(")?;
        while !self.cursor.take(")") {
            let word = self.cursor.next()?;
            if word != ".param" {
                return Err(self.cursor.error(format!("parameters in {word} are not known")));
            }
            let declared = self.declared()?;
            *offset = offset.next_multiple_of(declared.align);
            params.push((declared.name, Param { offset: *offset, size: declared.bytes, align: declared.align }));
            *offset += declared.bytes;
            self.cursor.take(",");
        }
        Ok(params)
    }

    fn kernel(&mut self) -> Read<()> {
        let name = self.cursor.next()?;
        let mut info = KernelInfo { name: name.to_string(), ..KernelInfo::default() };
        let params = if self.cursor.peek() == "(" { self.params(&mut info.param_bytes)? } else { Vec::new() };
        loop {
            match self.cursor.next()? {
                ".maxntid" | ".reqntid" => {
                    let mut threads = self.cursor.integer()?;
                    while self.cursor.take(",") {
                        threads = threads.saturating_mul(self.cursor.integer()?);
                    }
                    info.max_threads = Some(u32::try_from(threads).unwrap_or(u32::MAX));
                }
                ".minnctapersm" | ".maxnreg" => drop(self.cursor.integer()?),
                ".pragma" => self.cursor.skip_past(";")?,
                "{" => break,
                other => return Err(self.cursor.error(format!("{other} is not known"))),
            }
        }
        info.params = params.iter().map(|(_, param)| param.clone()).collect();
        let function = Function {
            name: info.name.clone(),
            inputs: spans(&params),
            param_bytes: info.param_bytes,
            ..Function::default()
        };
        let shared = self.shared;
        let mut body = Body::new(self, function, shared);
        body.params(&params);
        let (function, end, uses_module) = body.read()?;
        info.shared_bytes = if uses_module || end > shared { end } else { 0 };
        info.local_bytes = function.local_bytes;
        info.registers = function.registers.len();
        let dynamic = info.shared_bytes.next_multiple_of(self.dynamic_align);
        let index = self.module.kernels.len();
        self.module.names.insert(info.name.clone(), index);
        self.module.kernels.push(Kernel { info, function: self.module.functions.len(), dynamic });
        self.module.functions.push(function);
        Ok(())
    }

    fn function(&mut self) -> Read<()> {
        let mut offset = 0;
        let results = if self.cursor.peek() == "(" { self.params(&mut offset)? } else { Vec::new() };
        let name = self.cursor.next()?;
        let params = if self.cursor.peek() == "(" { self.params(&mut offset)? } else { Vec::new() };
        let function = Function {
            name: name.to_string(),
            inputs: spans(&params),
            outputs: spans(&results),
            param_bytes: offset,
            ..Function::default()
        };
        let index = match self.globals.get(name) {
            Some(&Global::Function(index)) => index,
            _ => {
                self.module.functions.push(function.clone());
                self.module.functions.len() - 1
            }
        };
        self.globals.insert(name, Global::Function(index));
        loop {
            match self.cursor.next()? {
                ".noreturn" => {}
                ";" => return Ok(()),
                "{" => break,
                other => return Err(self.cursor.error(format!("{other} is not known"))),
            }
        }
        let shared = self.shared;
        let mut body = Body::new(self, function, shared);
        body.params(&results);
        body.params(&params);
        let (function, end, _) = body.read()?;
        if end > shared {
            return Err(self.cursor.error("shared variables of a function that is not a kernel are not known"));
        }
        self.module.functions[index] = function;
        Ok(())
    }
}

fn spans(params: &[(&str, Param)]) -> Vec<(usize, usize)> {
    params.iter().map(|(_, param)| (param.offset, param.size)).collect()
}
