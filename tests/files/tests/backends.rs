//! Tests that arrays can be stored and read again (as NumPy files, bytes, serde data and shared memory), on every
//! backend and in every dtype.

use backends::{Result, Value, dispatch, prelude::*, runtime::available, stored::ArrayData};
use backends_npz::{Mapped, MappedMut, NpyReader, NpyWriter, Npz, NpzWriter, NumpyFiles};
use std::{fs, path::PathBuf};

type Checked = std::result::Result<(), Box<dyn std::error::Error>>;

macro_rules! on_every_backend {
    ($check:path) => {
        $check(&Numpyish::new()).unwrap_or_else(|e| panic!("numpyish: {e}"));
        if let Some(torch) = available("torch", Torch::cpu()) {
            $check(&AnyBackend::from(torch)).unwrap_or_else(|e| panic!("torch: {e}"));
        }
        if let Some(cuda) = available("cuda", Cuda::new(0)) {
            $check(&AnyBackend::from(cuda)).unwrap_or_else(|e| panic!("cuda: {e}"));
        }
    };
}

/// Creates an empty folder for a test.
fn folder(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("files-{name}"));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

/// Returns a 6 x 4 array of dtype `T`. On backends that have views, its memory layout is not C order.
fn numbers<B: Backend, T: Element>(b: &B) -> Result<B::Array<T>> {
    b.permute_dims(b.astype::<T, i32>(b.reshape(b.arange(-3, 21, 1)?, [4, 6])?)?, [1, 0])
}

#[test]
fn bytes_are_a_key_and_come_back() {
    fn typed<B: Backend, T: Element>(b: &B) -> Checked {
        let x = numbers::<B, T>(b)?;
        let bytes = b.to_bytes(&x)?;
        assert_eq!(bytes.len(), 24 * T::DTYPE.size());
        assert_eq!(b.to_bytes(b.reshape(b.frombuffer::<T>(&bytes)?, [6, 4])?)?, bytes);
        assert!(b.array_equal(b.reshape(b.frombuffer::<T>(&bytes)?, [6, 4])?, &x)?, "{}", T::DTYPE);
        let value = DynArray::<B>::of::<T>(x);
        assert_eq!(value.to_bytes(b)?, bytes);
        let back = DynArray::from_bytes(b, T::DTYPE, &[6, 4], &bytes)?;
        assert_eq!((back.dtype(), back.shape(b), back.to_bytes(b)?), (T::DTYPE, &[6, 4][..], bytes.clone()));
        assert!(DynArray::from_bytes(b, T::DTYPE, &[6, 5], &bytes).is_err());
        Ok(())
    }
    fn check<B: Backend>(b: &B) -> Checked {
        assert_eq!(b.to_bytes(b.asarray([1.5_f32])?)?, 1.5_f32.to_ne_bytes());
        assert_eq!(b.to_bytes(b.zeros::<f64>([3, 0])?)?.len(), 0);
        DType::ALL.into_iter().try_for_each(|dtype| -> Checked { dispatch!(dtype, T => typed::<B, T>(b)) })
    }
    on_every_backend!(check);
}

#[test]
fn files_of_every_dtype() {
    fn typed<B: Backend, T: Element>(b: &B) -> Checked {
        let here = folder(&format!("dtypes-{}-{}", B::NAME, T::DTYPE));
        let x = numbers::<B, T>(b)?;
        let same = |y: B::Array<T>| -> Result<()> {
            assert_eq!(y.shape(), [6, 4]);
            assert_eq!(b.to_bytes(y)?, b.to_bytes(&x)?, "{} {}", B::NAME, T::DTYPE);
            Ok(())
        };
        let of =
            |value: Value<B>| value.as_array().and_then(DynArray::get::<T>).cloned().expect("the dtype of the file");
        let path = here.join("x.npy");
        b.save_npy(&path, &x)?;
        same(b.load_npy(&path)?)?;
        let value = b.load_npy_value(&path)?;
        b.save_npy_value(here.join("y.npy"), &value)?;
        same(of(value))?;
        assert_eq!(fs::read(here.join("y.npy"))?, fs::read(&path)?);

        for packed in [false, true] {
            let path = here.join("all.npz");
            let mut file = if packed { NpzWriter::create_compressed(&path)? } else { NpzWriter::create(&path)? };
            file.add_array(b, "x", &x)?;
            file.add_value(b, "y", &Value::array::<T>(x.clone()))?;
            file.add_value(b, "n", &Value::Integer(7))?;
            file.finish()?;
            let file = Npz::open(&path)?;
            assert_eq!((file.names(), file.dtype("y")?), (vec!["n", "x", "y"], T::DTYPE));
            same(file.array(b, "x")?)?;
            same(of(file.value(b, "y")?))?;
            assert_eq!(b.item(file.array::<_, i64>(b, "n")?)?, 7);
        }

        // reads rows with a mapped file and with a reader; writes them with a writer and with a mapped file
        let mapped = Mapped::open(&path)?;
        let mut reader = NpyReader::open(&path)?;
        let mut writer = NpyWriter::<T>::create(here.join("written.npy"), &[6, 4])?;
        let mut target = MappedMut::create::<T>(here.join("target.npy"), &[6, 4])?;
        for row in (0..6).step_by(4) {
            let rows = slices![row..row + 4, ..];
            writer.write_array(b, &[row, 0], reader.array::<B, T>(b, rows)?)?;
            target.write_array::<B, T>(b, &[row, 0], mapped.array(b, rows)?)?;
        }
        drop((writer, target));
        same(b.load_npy(here.join("written.npy"))?)?;
        same(b.load_npy(here.join("target.npy"))?)?;

        // serializes and deserializes the array by serde
        let data = postcard::to_allocvec(&ArrayData::of(b, &x)?)?;
        let data: ArrayData =
            serde_json::from_str(&serde_json::to_string(&postcard::from_bytes::<ArrayData>(&data)?)?)?;
        same(data.array(b)?)?;
        same(of(data.value(b)?))?;
        fs::remove_dir_all(here)?;
        Ok(())
    }
    fn check<B: Backend>(b: &B) -> Checked {
        DType::ALL.into_iter().try_for_each(|dtype| -> Checked { dispatch!(dtype, T => typed::<B, T>(b)) })
    }
    on_every_backend!(check);
}

#[cfg(target_os = "linux")]
#[test]
fn shared_arrays_of_every_dtype() {
    use backends_shared::{SharedArray, SharedBuffer};

    fn typed<B: Backend, T: Element>(b: &B) -> Checked {
        let x = numbers::<B, T>(b)?;
        let bytes = b.to_bytes(&x)?;
        let shared = SharedArray::of(b, &x)?;
        let text = shared.descriptor().to_string();
        let opened = SharedArray::open(&text.parse()?)?;
        assert_eq!((opened.dtype(), opened.shape()), (T::DTYPE, &[6, 4][..]));
        assert_eq!(b.to_bytes(opened.array::<B, T>(b)?)?, bytes);
        let value = opened.value(b)?;
        assert_eq!(value.as_array().map(|x| x.to_bytes(b)), Some(Ok(bytes.clone())));
        assert_eq!(SharedArray::of_value(b, &value)?.view::<T>()?, opened.view::<T>()?);

        let buffer = SharedBuffer::zeros::<T>(&[6, 4])?;
        let results = SharedBuffer::open(&buffer.descriptor())?;
        for row in 0..6 {
            let part = b.asarray(opened.view::<T>()?.slice(ndarray::s![row..row + 1, ..]))?;
            results.write_array(b, &[row, 0], part)?;
        }
        assert_eq!(b.to_bytes(buffer.array::<B, T>(b, ..)?)?, bytes);
        Ok(())
    }
    fn check<B: Backend>(b: &B) -> Checked {
        DType::ALL.into_iter().try_for_each(|dtype| -> Checked { dispatch!(dtype, T => typed::<B, T>(b)) })
    }
    on_every_backend!(check);
}

#[test]
fn what_is_no_array_is_not_written() {
    let (b, here) = (Numpyish::new(), folder("refused"));
    let path = here.join("x.npy");
    let why = b.save_npy_value(&path, &Value::Text("x".into())).unwrap_err().to_string();
    assert!(why.contains("`x` is neither an array nor a number"), "{why}");
    assert!(b.save_npy_value(&path, &Value::Integer(1 << 70)).unwrap_err().to_string().contains("has no dtype"));
    for (value, dtype) in [
        (Value::Bool(true), DType::Bool),
        (Value::Integer(-1), DType::Int64),
        (Value::Integer(u64::MAX.into()), DType::UInt64),
        (Value::Float(0.5), DType::Float64),
        (Value::Complex(Complex::new(0.0, 1.0)), DType::Complex128),
    ] {
        b.save_npy_value(&path, &value).unwrap();
        let back = b.load_npy_value(&path).unwrap();
        assert_eq!(back.as_array().map(|x| (x.dtype(), x.shape(&b).len())), Some((dtype, 0)));
    }
    // errors name the file
    let missing = b.load_npy::<f64>(here.join("missing.npy")).unwrap_err().to_string();
    assert!(missing.contains("missing.npy: "), "{missing}");
    b.save_npy(&path, b.asarray([0.5]).unwrap()).unwrap();
    let why = b.load_npy::<i32>(&path).unwrap_err().to_string();
    assert!(
        why.ends_with("x.npy: int32 does not hold elements of float64; read them as such, and convert with astype"),
        "{why}"
    );
    let mut file = NpzWriter::create(here.join("x.npz")).unwrap();
    file.add_array(&b, "x", &b.asarray([0.5]).unwrap()).unwrap();
    let twice = file.add_array(&b, "x", &b.asarray([1.5]).unwrap()).unwrap_err().to_string();
    assert!(twice.contains("x.npz: `x`: "), "{twice}");
    file.finish().unwrap();
    assert_eq!(Npz::open(here.join("x.npz")).unwrap().vector("x").unwrap(), [0.5]);
}
