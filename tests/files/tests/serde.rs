//! Tests that arrays and dtypes are serialized and deserialized by serde. Inconsistent data from other programs are
//! rejected.

use backends::{
    Result,
    prelude::*,
    stored::{self, ArrayData},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::fmt::Debug;

const B: Numpyish = Numpyish::new();

/// Serializes a value as JSON and in a binary format, and checks that both are deserialized to an equal value.
fn both<V: Serialize + DeserializeOwned + PartialEq + Debug>(value: &V) -> (String, Vec<u8>) {
    let (text, bytes) = (serde_json::to_string(value).unwrap(), postcard::to_allocvec(value).unwrap());
    assert_eq!(&serde_json::from_str::<V>(&text).unwrap(), value);
    assert_eq!(&postcard::from_bytes::<V>(&bytes).unwrap(), value);
    (text, bytes)
}

#[test]
fn dtypes_are_their_names() {
    for dtype in DType::ALL {
        let (text, bytes) = both(&dtype);
        assert_eq!(text, format!("\"{dtype}\""));
        assert_eq!(bytes[1..], *dtype.name().as_bytes());
    }
    let why = serde_json::from_str::<DType>("\"float99\"").unwrap_err().to_string();
    assert!(why.contains("`float99`") || why.contains("\"float99\""), "{why}");
    assert!(why.contains("the name of a dtype"), "{why}");
    assert!(serde_json::from_str::<DType>("3").is_err());
}

#[test]
fn arrays_of_every_dtype_come_back() {
    fn check<T: Element>() -> Result<()> {
        let x = B.astype::<T, _>(B.asarray([[0_i32, 1, 2], [100, -1, 7]])?)?;
        for x in
            [x.clone(), B.permute_dims(&x, [1, 0])?, B.reshape(&x, [6])?, B.zeros([0, 3])?, B.full([], T::from_i64(1))?]
        {
            let data = ArrayData::of(&B, &x)?;
            let (text, bytes) = both(&data);
            let back: ArrayData = serde_json::from_str(&text).unwrap();
            assert_eq!((back.dtype(), back.shape()), (T::DTYPE, x.shape()));
            assert_eq!(back.array::<_, T>(&B)?, x);
            let value = postcard::from_bytes::<ArrayData>(&bytes).unwrap().value(&B)?;
            assert_eq!(value.as_array().and_then(DynArray::get::<T>), Some(&x));
            assert_eq!(ArrayData::of_value(&B, &value)?, data);
        }
        Ok(())
    }
    for dtype in DType::ALL {
        let checked: Result<()> = backends::dispatch!(dtype, T => check::<T>());
        checked.unwrap();
    }
}

#[test]
fn the_format_is_the_documented_one() {
    let data = ArrayData::of(&B, B.asarray([[1.5_f32, -2.0]]).unwrap()).unwrap();
    let (text, bytes) = both(&data);
    assert_eq!(text, r#"{"dtype":"float32","shape":[1,2],"data":"AADAPwAAAMA="}"#);
    let elements = [1.5_f32, -2.0].map(f32::to_le_bytes).concat();
    assert_eq!(bytes, [&[7][..], b"float32", &[2, 1, 2], &[8], &elements].concat());
}

#[test]
fn every_bit_comes_back() {
    let bits = [f64::NAN.to_bits() | 5, (-0.0_f64).to_bits(), f64::NEG_INFINITY.to_bits(), 1];
    let x = B.asarray(bits.map(f64::from_bits)).unwrap();
    let text = serde_json::to_string(&ArrayData::of(&B, &x).unwrap()).unwrap();
    let back = serde_json::from_str::<ArrayData>(&text).unwrap().array::<_, f64>(&B).unwrap();
    assert_eq!(B.to_bytes(back), B.to_bytes(x));
}

#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct Settings {
    name: String,
    precision: DType,
    #[serde(with = "stored::array")]
    weights: HostArray<f64>,
}

#[test]
fn arrays_are_fields() {
    let weights = B.asarray([0.25, 0.75]).unwrap();
    let settings = Settings { name: "test".into(), precision: DType::Float32, weights };
    let (text, _) = both(&settings);
    let other = text.replace("\"dtype\":\"float64\"", "\"dtype\":\"int64\"");
    let why = serde_json::from_str::<Settings>(&other).unwrap_err().to_string();
    assert!(why.contains("the elements are int64, but must be float64"), "{why}");
}

#[test]
fn what_is_no_array_is_refused() {
    let json = |dtype: &str, shape: &str, data: &str| format!(r#"{{"dtype":{dtype},"shape":{shape},"data":{data}}}"#);
    let right = json("\"uint8\"", "[3]", "\"AAEC\"");
    assert_eq!(serde_json::from_str::<ArrayData>(&right).unwrap().array::<_, u8>(&B), B.asarray([0_u8, 1, 2]));
    for (text, why) in [
        (json("\"uint8\"", "[4]", "\"AAEC\""), "shape [4] does not match 3 bytes of uint8"),
        (json("\"uint16\"", "[1]", "\"AAEC\""), "does not match 3 bytes of uint16"),
        (json("\"uint8\"", "[1152921504606846976]", "\"AAEC\""), "does not match 3 bytes"),
        (json("\"float64\"", "[9223372036854775807,9223372036854775807]", "\"AAEC\""), "larger than any memory"),
        (json("\"float64\"", "[9223372036854775807,0,9223372036854775807]", "\"\""), "larger than any memory"),
        (json("\"uint8\"", "[-3]", "\"AAEC\""), "invalid value: integer `-3`"),
        (json("\"uint8\"", "[3.0]", "\"AAEC\""), "invalid type: floating point"),
        (json("\"uint8\"", "3", "\"AAEC\""), "expected a sequence"),
        (json("\"bool\"", "[3]", "\"AAEC\""), "a byte of a bool must be 0 or 1"),
        (json("\"object\"", "[3]", "\"AAEC\""), "the name of a dtype"),
        (json("\"uint8\"", "[3]", "\"AAE\""), "not in base64"),
        (json("\"uint8\"", "[3]", "\"A E=\""), "not in base64"),
        (json("\"uint8\"", "[3]", "[0,1,2]"), "expected bytes in base64"),
        (right.replace("}", ",\"more\":1}"), "unknown field `more`"),
        (right.replace("\"shape\":[3],", ""), "missing field `shape`"),
        (right.replace("\"shape\"", "\"shape\":[3],\"shape\""), "duplicate field `shape`"),
    ] {
        let found = serde_json::from_str::<ArrayData>(&text).unwrap_err().to_string();
        assert!(found.contains(why), "{text}: {found}");
    }
}

/// Any bytes give an array or an error. No allocation may be larger than the array that the given bytes could hold; a
/// larger allocation would end the test.
#[test]
fn damaged_bytes_are_errors() {
    let whole = postcard::to_allocvec(&ArrayData::of(&B, B.arange(0.0_f64, 40.0, 1.0).unwrap()).unwrap()).unwrap();
    for length in 0..whole.len() {
        assert!(postcard::from_bytes::<ArrayData>(&whole[..length]).is_err(), "cut to {length} bytes");
    }
    for at in 0..20 {
        for byte in 0..=255 {
            let mut changed = whole.clone();
            changed[at] = byte;
            // after a change, the bytes may represent another valid array
            if let Ok(data) = postcard::from_bytes::<ArrayData>(&changed) {
                let value = data.value(&B).unwrap();
                let bytes = value.as_array().unwrap().to_bytes(&B).unwrap();
                assert_eq!(data.shape().iter().product::<usize>() * data.dtype().size(), bytes.len());
            }
        }
    }
    // declares 2^60 elements, encoded in nine bytes, and 2^63 bytes, encoded in ten bytes
    let huge = [&[7][..], b"float64", &[1], &[0x80; 8], &[0x10], &[0x80; 8], &[0x80, 1], &[0; 16]].concat();
    assert!(postcard::from_bytes::<ArrayData>(&huge).is_err());
    let many = [&[7][..], b"float64", &[0xff; 9], &[1], &[0; 16]].concat();
    assert!(postcard::from_bytes::<ArrayData>(&many).is_err());
}

#[test]
fn descriptors_of_shared_memory_are_texts() {
    let text = "\"array:4711:5:00112233445566778899aabbccddeeff:float32:3x4\"";
    let descriptor: backends_shared::Descriptor = serde_json::from_str(text).unwrap();
    assert_eq!(both(&descriptor).0, text);
    assert!(serde_json::from_str::<backends_shared::Descriptor>("\"array\"").is_err());
}
