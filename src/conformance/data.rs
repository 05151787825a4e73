//! Reads the files that `cargo xtask golden` writes: the samples (test arrays), and NumPy's results for each group of
//! ops.

use super::Values;
use backend_runtime::DType;
use std::{collections::HashMap, sync::LazyLock};

/// The advice in error messages if the data and the table do not match.
pub(crate) const REGENERATE: &str = "run `cargo xtask golden`";

/// First lines of the file of samples and of each file of results. They contain the version of the format.
const SAMPLES: &[u8] = b"backends-samples-1\n";
const GOLDEN: &[u8] = b"backends-golden-1\n";

/// The file of NumPy's results for a group of ops in this crate's op table; `None` for an unknown group.
pub fn golden(group: &str) -> Option<&'static [u8]> {
    backends_golden::of_group(group)
}

/// The sample (test array) of this name in this dtype.
pub(crate) fn sample(dtype: DType, name: &str) -> Option<Values> {
    static ALL: LazyLock<HashMap<(DType, String), Values>> = LazyLock::new(|| {
        samples(backends_golden::samples()).unwrap_or_else(|| panic!("the samples cannot be read: {REGENERATE}"))
    });
    ALL.get(&(dtype, name.to_owned())).cloned()
}

fn samples(bytes: &[u8]) -> Option<HashMap<(DType, String), Values>> {
    let mut from = Reader(bytes.strip_prefix(SAMPLES)?);
    let mut all = HashMap::new();
    while !from.0.is_empty() {
        let name = from.text()?.to_owned();
        let values = from.values()?;
        all.insert((values.dtype, name), values);
    }
    Some(all)
}

/// NumPy's results for each case of a row, in one dtype. The error text says why the file or the row's data are
/// unusable.
pub(crate) fn results(
    file: &[u8],
    signature: &str,
    cases: &[&str],
    dtype: DType,
    to: Option<DType>,
) -> Result<Vec<Vec<Values>>, String> {
    let unreadable = || format!("the data cannot be read: {REGENERATE}");
    let mut file = Reader(file.strip_prefix(GOLDEN).ok_or_else(unreadable)?);
    while !file.0.is_empty() {
        let mut row = file.block().ok_or_else(unreadable)?;
        if row.text() != Some(signature) {
            continue;
        }
        let known = row.list(Reader::text).ok_or_else(unreadable)?;
        if known != cases {
            return Err(format!("the data are of the cases {known:?}: {REGENERATE}"));
        }
        while !row.0.is_empty() {
            let key = row.key().ok_or_else(unreadable)?;
            let mut results = row.block().ok_or_else(unreadable)?;
            if key == (dtype, to) {
                let case = |results: &mut Reader<'_>| results.list(Reader::values);
                return cases.iter().map(|_| case(&mut results).ok_or_else(unreadable)).collect();
            }
        }
    }
    Err(format!("there are no data of `{signature}` in {dtype}: {REGENERATE}"))
}

/// Reads values from the start of the remaining bytes of a file. All numbers are little-endian.
pub(super) struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (front, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(front)
    }

    pub fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|b| b[0])
    }

    pub fn length(&mut self) -> Option<usize> {
        let bytes = self.take(4)?.try_into().ok()?;
        Some(u32::from_le_bytes(bytes) as usize)
    }

    fn block(&mut self) -> Option<Reader<'a>> {
        let n = self.length()?;
        self.take(n).map(Reader)
    }

    pub fn text(&mut self) -> Option<&'a str> {
        str::from_utf8(self.block()?.0).ok()
    }

    fn list<R>(&mut self, one: impl Fn(&mut Self) -> Option<R>) -> Option<Vec<R>> {
        let n = self.byte()?;
        (0..n).map(|_| one(self)).collect()
    }

    /// Reads a dtype, stored as its index in [`DType::ALL`].
    fn dtype(&mut self) -> Option<DType> {
        DType::ALL.get(usize::from(self.byte()?)).copied()
    }

    /// Reads the dtype of a call and, if the op has one, the second dtype.
    fn key(&mut self) -> Option<(DType, Option<DType>)> {
        let dtype = self.dtype()?;
        let to = self.byte()?;
        Some((dtype, DType::ALL.get(usize::from(to)).copied()))
    }

    pub fn values(&mut self) -> Option<Values> {
        let dtype = self.dtype()?;
        let shape = self.list(Reader::length)?;
        let bytes = match self.byte()? {
            0 => None,
            _ => Some(self.take(shape.iter().product::<usize>().checked_mul(dtype.size())?)?.to_vec()),
        };
        Some(Values { dtype, shape, bytes })
    }
}

/// Writes the format that [`Reader`] reads.
pub(super) struct Writer(pub Vec<u8>);

impl Writer {
    pub fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    pub fn length(&mut self, length: usize) {
        let length = u32::try_from(length).expect("lengths in these files are below 2^32");
        self.0.extend(length.to_le_bytes());
    }

    pub fn text(&mut self, text: &str) {
        self.length(text.len());
        self.0.extend(text.as_bytes());
    }

    pub fn values(&mut self, values: &Values) {
        let place = DType::ALL.iter().position(|dtype| *dtype == values.dtype).expect("a dtype is one of all");
        self.byte(place as u8);
        self.byte(values.shape.len() as u8);
        values.shape.iter().for_each(|&length| self.length(length));
        self.byte(values.bytes.is_some().into());
        self.0.extend(values.bytes.iter().flatten());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(bytes: &[u8]) -> Vec<u8> {
        [&(bytes.len() as u32).to_le_bytes(), bytes].concat()
    }

    /// Makes a file of results for one op, which has one case in one dtype (uint8) with the result [7, 8].
    fn file() -> Vec<u8> {
        let result = [&[1, 5, 1][..], &2_u32.to_le_bytes(), &[1, 7, 8]].concat();
        let row = [block(b"f(x) -> array = np.f"), vec![1], block(b"m"), vec![5, 255], block(&result)].concat();
        [GOLDEN.to_vec(), block(&row)].concat()
    }

    #[test]
    fn results_are_found_and_stale_ones_refused() {
        let file = file();
        let found = results(&file, "f(x) -> array = np.f", &["m"], DType::UInt8, None).unwrap();
        assert_eq!(found, [[Values { dtype: DType::UInt8, shape: vec![2], bytes: Some(vec![7, 8]) }]]);
        for (signature, cases, dtype) in [
            ("f(x, axis) -> array = np.f", ["m"], DType::UInt8),
            ("f(x) -> array = np.f", ["n"], DType::UInt8),
            ("f(x) -> array = np.f", ["m"], DType::Int8),
        ] {
            assert!(results(&file, signature, &cases, dtype, None).unwrap_err().contains(REGENERATE));
        }
        assert!(results(&file[..file.len() - 1], "f(x) -> array = np.f", &["m"], DType::UInt8, None).is_err());
    }

    #[test]
    fn every_group_of_the_table_has_its_file() {
        let mut groups: Vec<_> = crate::OPS.iter().map(|op| op.group).collect();
        groups.dedup();
        assert_eq!(groups, backends_golden::GROUPS);
        for group in backends_golden::GROUPS {
            assert!(golden(group).unwrap().starts_with(GOLDEN), "{group}");
        }
    }

    #[test]
    fn every_dtype_has_the_samples() {
        for dtype in DType::ALL {
            for name in [
                "m", "n", "v", "u", "row", "col", "t", "mat", "tmat", "col3", "s", "e", "mt", "mstep", "mrev", "w",
                "wt", "wv", "dup", "sorted", "fp", "q",
            ] {
                assert_eq!(sample(dtype, name).expect(name).dtype, dtype);
            }
        }
        assert_eq!(sample(DType::Int64, "i").unwrap().elements::<i64>().unwrap(), [0, 2, 1]);
    }
}
