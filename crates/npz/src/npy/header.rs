//! The header of a `.npy` file: a Python dictionary, as text, with dtype, order of axes and shape.

use super::{MAGIC, damaged, explain};
use std::io::{Read, Result};

/// The longest header that is read, in bytes. NumPy itself rejects headers of more than 10,000 bytes by default.
const LONGEST: usize = 1 << 16;

/// The content of a `.npy` header: dtype, order and shape of the data.
#[derive(Debug, PartialEq)]
pub struct Header {
    /// NumPy's name of the elements' type, such as `<f8`.
    pub descr: String,
    /// True if the first index changes fastest (Fortran order).
    pub fortran: bool,
    pub shape: Vec<usize>,
    /// The offset at which the data begin, in bytes.
    pub length: u64,
}

impl Header {
    /// Reads a file up to the beginning of its data.
    pub fn read(from: &mut impl Read) -> Result<Header> {
        let mut magic = [0; 6];
        from.read_exact(&mut magic).map_err(|e| explain(e, "not a .npy file"))?;
        if magic != MAGIC {
            return Err(damaged("not a .npy file"));
        }
        let short = |e| explain(e, "the file ends within its header");
        let mut version = [0; 2];
        from.read_exact(&mut version).map_err(short)?;
        let mut size = [0; 4];
        let size = match version[0] {
            1 => &mut size[..2],
            2 | 3 => &mut size[..],
            other => return Err(damaged(format!("version {other} of the .npy format is unknown"))),
        };
        from.read_exact(size).map_err(short)?;
        let before = (MAGIC.len() + version.len() + size.len()) as u64;
        let length = size.iter().rev().fold(0, |n, &byte| n << 8 | usize::from(byte));
        if length > LONGEST {
            return Err(damaged(format!("a header of {length} bytes; at most {LONGEST} are read")));
        }
        let mut text = vec![0; length];
        from.read_exact(&mut text).map_err(short)?;
        let text = std::str::from_utf8(&text).map_err(|_| damaged("the header is not text"))?;
        Ok(Header { length: before + length as u64, ..parse(text)? })
    }
}

/// Reads the dictionary `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`.
fn parse(text: &str) -> Result<Header> {
    let mut rest = Rest(text);
    let (mut descr, mut fortran, mut shape) = (None, None, None);
    rest.expect('{', "the header is not a dictionary")?;
    while !rest.eat('}') {
        let key = rest.text().ok_or_else(|| damaged("a key of the header is not a string"))?;
        rest.expect(':', "a key of the header has no value")?;
        let given_before = match key {
            "descr" => {
                let value = rest.text().ok_or_else(|| damaged("the elements are not numbers"))?;
                descr.replace(value.to_owned()).is_some()
            }
            "fortran_order" => {
                let value = rest.flag().ok_or_else(|| damaged("`fortran_order` is neither True nor False"))?;
                fortran.replace(value).is_some()
            }
            "shape" => {
                let value = rest.lengths().ok_or_else(|| damaged("`shape` is not a tuple of lengths"))?;
                shape.replace(value).is_some()
            }
            other => return Err(damaged(format!("the header has the unknown key `{}`", other.escape_debug()))),
        };
        if given_before {
            return Err(damaged(format!("the header has `{key}` twice")));
        }
        if !rest.eat(',') {
            rest.expect('}', "the entries of the header are not separated by commas")?;
            break;
        }
    }
    if !rest.0.trim_start().is_empty() {
        return Err(damaged("text after the header's dictionary"));
    }
    let absent = |key: &str| damaged(format!("the header has no `{key}`"));
    Ok(Header {
        descr: descr.ok_or_else(|| absent("descr"))?,
        fortran: fortran.ok_or_else(|| absent("fortran_order"))?,
        shape: shape.ok_or_else(|| absent("shape"))?,
        length: 0,
    })
}

/// The rest of a header's text, which has not been parsed yet. The methods skip white space before each token.
struct Rest<'a>(&'a str);

impl<'a> Rest<'a> {
    fn eat(&mut self, letter: char) -> bool {
        let after = self.0.trim_start().strip_prefix(letter);
        self.0 = after.unwrap_or(self.0);
        after.is_some()
    }

    fn expect(&mut self, letter: char, otherwise: &str) -> Result<()> {
        if self.eat(letter) { Ok(()) } else { Err(damaged(otherwise)) }
    }

    /// Reads a quoted string. Escapes are not supported, because no expected name contains any.
    fn text(&mut self) -> Option<&'a str> {
        let start = self.0.trim_start();
        let quote = start.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
        let (inside, after) = start[1..].split_once(quote)?;
        self.0 = after;
        Some(inside)
    }

    fn flag(&mut self) -> Option<bool> {
        let start = self.0.trim_start();
        let (value, after) = match start.strip_prefix("True") {
            Some(after) => (true, after),
            None => (false, start.strip_prefix("False")?),
        };
        self.0 = after;
        Some(value)
    }

    /// Reads a tuple of integers. Python 2 wrote an `L` after large integers.
    fn lengths(&mut self) -> Option<Vec<usize>> {
        if !self.eat('(') {
            return None;
        }
        let mut lengths = Vec::new();
        while !self.eat(')') {
            let start = self.0.trim_start();
            let digits = start.len() - start.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            lengths.push(start[..digits].parse().ok()?);
            self.0 = start[digits..].strip_prefix('L').unwrap_or(&start[digits..]);
            if !self.eat(',') {
                return self.eat(')').then_some(lengths);
            }
        }
        Some(lengths)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notations_of_python_are_read() {
        let expected =
            |fortran, shape: &[usize]| Header { descr: "<f8".into(), fortran, shape: shape.to_vec(), length: 0 };
        for (text, header) in [
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }   \n", expected(false, &[3, 4])),
            ("{\"shape\":(3L,4L),\"descr\":\"<f8\",\"fortran_order\":True}", expected(true, &[3, 4])),
            (" { 'shape' : ( ) , 'descr' : '<f8' , 'fortran_order' : False } ", expected(false, &[])),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (7,), }\n", expected(false, &[7])),
            ("{'descr': '<f8',\n'fortran_order': False,\t'shape': (0, 2)}", expected(false, &[0, 2])),
        ] {
            assert_eq!(parse(text).unwrap(), header, "{text}");
        }
    }

    #[test]
    fn what_is_no_header_is_explained() {
        for (text, why) in [
            ("", "not a dictionary"),
            ("('descr', '<f8')", "not a dictionary"),
            ("{'descr': '<f8', 'fortran_order': False}", "no `shape`"),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), 'shape': (3,)}", "`shape` twice"),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), 'x': 1}", "unknown key `x`"),
            ("{'descr': '<f8', 'fortran_order': 0, 'shape': (2,)}", "neither True nor False"),
            ("{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (2,)}", "not numbers"),
            ("{'descr': '<f8' 'fortran_order': False, 'shape': (2,)}", "commas"),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (2,)} 1", "text after"),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (2", "not a tuple"),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (,)}", "not a tuple"),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (-2,)}", "not a tuple"),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (2.0,)}", "not a tuple"),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}", "not a tuple"),
            ("{descr: '<f8'}", "not a string"),
        ] {
            assert!(parse(text).unwrap_err().to_string().contains(why), "{text}: {:?}", parse(text));
        }
    }
}
