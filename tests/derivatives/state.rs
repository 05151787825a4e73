//! Tests of `state_dict` and `load_state_dict`: the names of arrays in structs, vectors and tuples, and what does not
//! fit.

use backends::{
    Complex, DynArray, Result,
    grad::{Params, StateDict, load_state_dict, names, state_dict},
    prelude::*,
};

#[derive(Params)]
struct Layer<B: Backend, T: Float> {
    weight: B::Array<T>,
    r#type: B::Array<f32>,
}

#[derive(Params)]
struct Model<B: Backend> {
    layers: Vec<Layer<B, f64>>,
    ends: (B::Array<f64>, B::Array<Complex<f64>>),
    #[constant]
    heads: usize,
}

const NAMES: [&str; 6] = ["layers.0.weight", "layers.0.type", "layers.1.weight", "layers.1.type", "ends.0", "ends.1"];

fn model<B: Backend>(b: &B, from: f64) -> Result<Model<B>> {
    let layer = |k: f64| -> Result<Layer<B, f64>> {
        Ok(Layer { weight: b.full([2, 3], from + k)?, r#type: b.full(4, from as f32)? })
    };
    Ok(Model {
        layers: vec![layer(0.0)?, layer(1.0)?],
        ends: (b.asarray(from)?, b.asarray([Complex::new(from, 1.0)])?),
        heads: from as usize,
    })
}

fn round_trip<B: Backend>(b: &B) -> Result<()> {
    let (trained, fresh) = (model(b, 5.0)?, model(b, 0.0)?);
    assert_eq!(names::<B, _, _>(&&trained), NAMES);
    let state = state_dict(b, &trained)?;
    let mut sorted = NAMES;
    sorted.sort_unstable();
    assert_eq!(state.keys().collect::<Vec<_>>(), sorted);
    let loaded = load_state_dict(b, &fresh, &state)?;
    let same = state_dict(b, &loaded)?;
    for (name, x) in &state {
        assert_eq!(x.to_bytes(&Numpyish::new())?, same[name].to_bytes(&Numpyish::new())?, "{name}");
    }
    assert_eq!(loaded.heads, 0, "a constant stays as it is");

    let why = |state: &StateDict| load_state_dict(b, &fresh, state).err().expect("an error").to_string();
    let with = |name: &str, x: DynArray<Numpyish>| {
        let mut state = state.clone();
        state.insert(name.into(), x);
        state
    };
    let host = Numpyish::new();
    let wrong = why(&with("ends.0", DynArray::of::<f64>(host.ones([2])?)));
    assert!(wrong.contains("`ends.0` has the shape [2] instead of []"), "{wrong}");
    let wrong = why(&with("ends.0", DynArray::of::<Complex<f32>>(host.asarray(Complex::new(1.0_f32, 0.0))?)));
    assert!(wrong.contains("`ends.0` has the dtype complex64 instead of float64"), "{wrong}");
    let wrong = why(&with("ends.2", DynArray::of::<f64>(host.ones([2])?)));
    assert!(wrong.contains("no array `ends.2`") && wrong.contains("`layers.1.type`"), "{wrong}");
    let mut missing = state.clone();
    missing.remove("layers.1.weight");
    assert!(why(&missing).contains("no array `layers.1.weight`"), "{}", why(&missing));
    // reals convert to the dtype of the model
    let narrow = with("ends.0", DynArray::of::<f32>(host.asarray(2.5_f32)?));
    assert_eq!(b.item(&load_state_dict(b, &fresh, &narrow)?.ends.0)?, 2.5);
    // a single array, and a tuple
    let x = b.ones::<f64>([2])?;
    assert_eq!(state_dict(b, &x)?.keys().collect::<Vec<_>>(), ["array"]);
    assert_eq!(state_dict(b, (&x, vec![&x]))?.keys().collect::<Vec<_>>(), ["0", "1.0"]);
    Ok(())
}

#[test]
fn arrays_have_the_names_of_their_fields() {
    on_every_backend!(round_trip);
}
