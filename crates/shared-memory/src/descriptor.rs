//! `Descriptor`: a short text that identifies a shared array, for other processes.

use backend_runtime::{DType, Error, Result};
use std::{
    fmt,
    hash::{BuildHasher, Hasher, RandomState},
    str::FromStr,
};

const OP: &str = "descriptor";

/// The access to the memory: read only, or read and write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// Memory that is only read.
    Array,
    /// Memory that is read and written.
    Buffer,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Array => "array",
            Kind::Buffer => "buffer",
        }
    }
}

/// The description of an array in shared memory and of the process that shares it. `to_string` and `parse` convert it
/// to and from a text such as `array:4711:5:91f0..:float32:3x4`, which can be sent to other processes. With the feature
/// `serde` it is serialised as this text.
///
/// ```
/// use backends_shared::Descriptor;
///
/// let text = "array:4711:5:00112233445566778899aabbccddeeff:float32:3x4";
/// let descriptor: Descriptor = text.parse()?;
/// assert_eq!((descriptor.dtype().name(), descriptor.shape()), ("float32", &[3, 4][..]));
/// assert_eq!(descriptor.to_string(), text);
/// assert!("array:4711".parse::<Descriptor>().is_err());
/// # Ok::<(), backends::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(into = "String", try_from = "String")
)]
pub struct Descriptor {
    pub(crate) process: u32,
    /// The number of the file descriptor in the process that shares the array.
    pub(crate) file: u32,
    /// A random number that identifies the array.
    pub(crate) id: u128,
    pub(crate) layout: Layout,
}

/// The kind of the memory, and the dtype and shape of its array. The header of the memory contains this description as
/// a text, such as `array:float32:3x4`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Layout {
    pub(crate) kind: Kind,
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<usize>,
}

impl Descriptor {
    /// The dtype of the elements.
    pub fn dtype(&self) -> DType {
        self.layout.dtype
    }

    /// The shape of the array.
    pub fn shape(&self) -> &[usize] {
        &self.layout.shape
    }
}

/// Returns a random identifier for a new array. It is computed from the standard library's hash keys, which differ
/// between processes.
pub(crate) fn new_id() -> u128 {
    let half = || u128::from(RandomState::new().build_hasher().finish());
    half() << 64 | half()
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:", self.kind.name(), self.dtype)?;
        for (axis, length) in self.shape.iter().enumerate() {
            write!(f, "{}{length}", if axis > 0 { "x" } else { "" })?;
        }
        Ok(())
    }
}

impl fmt::Display for Descriptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let layout = self.layout.to_string();
        let (kind, rest) = layout.split_once(':').unwrap_or_default();
        write!(f, "{kind}:{}:{}:{:032x}:{rest}", self.process, self.file, self.id)
    }
}

/// Parses a number that consists of digits only.
fn number<N: FromStr>(text: &str) -> Option<N> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

impl FromStr for Descriptor {
    type Err = Error;

    fn from_str(text: &str) -> Result<Descriptor> {
        let read = || {
            let [kind, process, file, id, dtype, shape] = text.splitn(6, ':').collect::<Vec<_>>()[..] else {
                return None;
            };
            let kind = [Kind::Array, Kind::Buffer].into_iter().find(|of| of.name() == kind)?;
            let lengths = shape.split('x').map(number);
            let shape = if shape.is_empty() { Vec::new() } else { lengths.collect::<Option<_>>()? };
            let is_hex = id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
            let id = is_hex.then(|| u128::from_str_radix(id, 16).ok())??;
            let layout = Layout { kind, dtype: dtype.parse().ok()?, shape };
            Some(Descriptor { process: number(process)?, file: number(file)?, id, layout })
        };
        // shows at most the first 100 characters of a long text
        let shown: String = text.chars().take(100).collect();
        read().ok_or_else(|| {
            Error::argument(OP, format!("`{}` is not the descriptor of a shared array", shown.escape_debug()))
        })
    }
}

impl From<Descriptor> for String {
    fn from(descriptor: Descriptor) -> String {
        descriptor.to_string()
    }
}

impl TryFrom<String> for Descriptor {
    type Error = Error;

    fn try_from(text: String) -> Result<Descriptor> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back() {
        for (kind, shape) in [(Kind::Array, vec![]), (Kind::Buffer, vec![3]), (Kind::Array, vec![0, usize::MAX, 1])] {
            for dtype in DType::ALL {
                let layout = Layout { kind, dtype, shape: shape.clone() };
                let descriptor = Descriptor { process: u32::MAX, file: 0, id: new_id(), layout };
                assert_eq!(descriptor.to_string().parse::<Descriptor>(), Ok(descriptor));
            }
        }
        assert_ne!(new_id(), new_id());
    }

    #[test]
    fn other_texts_are_refused() {
        let id = "00112233445566778899aabbccddeeff";
        assert!(format!("array:1:2:{id}:bool:1").parse::<Descriptor>().is_ok());
        for text in [
            String::new(),
            format!("file:1:2:{id}:bool:1"),
            format!("array:-1:2:{id}:bool:1"),
            format!("array:+1:2:{id}:bool:1"),
            format!("array:1:4294967296:{id}:bool:1"),
            format!("array:1:2:{id}0:bool:1"),
            format!("array:1:2:+{}:bool:1", &id[1..]),
            format!("array:1:2:{id}:bools:1"),
            format!("array:1:2:{id}:bool:1x"),
            format!("array:1:2:{id}:bool:1x-1"),
            format!("array:1:2:{id}:bool:99999999999999999999"),
            format!("array:1:2:{id}:bool"),
            format!("array:1:2:{id}:bool:1:1"),
            format!("array:../..:2:{id}:bool:1"),
            "\u{e9}".repeat(1000),
        ] {
            let why = text.parse::<Descriptor>().unwrap_err().to_string();
            assert!(why.contains("is not the descriptor of a shared array") && why.len() < 900, "{why}");
        }
    }
}
