//! Tests of the example program `learn`. They start the program with arguments, like a user.

use backends::{prelude::*, runtime::available};
use backends_npz::{Npz, encode};
use examples_common::trial::Program;
use ndarray::ArrayD;
use std::{fs, path::Path, sync::LazyLock};

static PROGRAM: LazyLock<Program> = LazyLock::new(|| Program {
    path: env!("CARGO_BIN_EXE_learn"),
    folder: Path::new(env!("CARGO_TARGET_TMPDIR")).join("learn"),
});

/// The accuracies in training and in the test, from the output of the program.
fn accuracies(text: &str) -> [f64; 2] {
    let line = text.lines().find_map(|line| line.strip_prefix("accuracy ")).unwrap_or_else(|| panic!("{text}"));
    let (seen, rest) = line.split_once(" in training, ").unwrap();
    [seen.parse().unwrap(), rest.split(' ').next().unwrap().parse().unwrap()]
}

fn losses(out: &Path) -> Vec<f64> {
    Npz::open(out).unwrap().vector("losses").unwrap()
}

/// Checks that the accuracy on unseen digits is far above chance (0.1), and that a network with the saved weights reads
/// the same digits.
fn reads_digits(backend: &str, model: &str, least: f64) {
    let folder = PROGRAM.folder(&format!("{backend}_{model}"));
    let (first, second) = (folder.join("first"), folder.join("second"));
    let start = ["--backend", backend, "--model", model, "--train", "500", "--test", "200"];
    let text = PROGRAM.succeeds(&[&start[..], &["--epochs", "4", "--batch", "20", "--rate", "0.01"]].concat(), &first);
    let [seen, unseen] = accuracies(&text);
    assert!(seen > least && unseen > least, "{text}");
    let losses = losses(&first);
    assert_eq!(losses.len(), 4 * 25);
    assert!(losses[..10].iter().sum::<f64>() > 2.0 * losses[90..].iter().sum::<f64>(), "{losses:?}");
    for name in ["losses.png", "digits.png"] {
        assert!(fs::read(first.join(name)).unwrap().starts_with(b"\x89PNG"), "{name}");
    }
    let weights = first.join("weights.npz");
    let text =
        PROGRAM.succeeds(&[&start[..], &["--epochs", "0", "--weights", weights.to_str().unwrap()]].concat(), &second);
    assert_eq!(accuracies(&text), [seen, unseen], "{text}");
    assert!(!second.join("losses.png").exists());
}

#[test]
fn the_cpu_reads_digits() {
    reads_digits("numpyish", "mlp", 0.5);
    reads_digits("numpyish", "cnn", 0.5);
}

#[test]
fn libtorch_reads_digits() {
    if available("torch", Torch::cpu()).is_some() {
        reads_digits("torch", "mlp", 0.5);
        reads_digits("torch", "cnn", 0.5);
    }
}

/// Checks that the losses of a few steps equal those on the CPU. Only a few steps are made, because a software device
/// is slow.
#[test]
fn a_gpu_has_the_losses_of_the_cpu() {
    if available("cuda", Cuda::new(0)).is_none() {
        return;
    }
    let few = ["--train", "6", "--test", "8", "--batch", "3", "--epochs", "1", "--dtype", "float64"];
    let of = |backend: &str| {
        let out = PROGRAM.folder(&format!("few_{backend}"));
        PROGRAM.succeeds(&[&few[..], &["--backend", backend]].concat(), &out);
        losses(&out)
    };
    let (found, expected) = (of("cuda"), of("numpyish"));
    assert_eq!(found.len(), 2);
    assert!(found.iter().zip(&expected).all(|(x, y)| (x - y).abs() < 1e-9 * y), "{found:?} {expected:?}");
}

#[test]
fn backends_learn_alike() {
    let few = ["--train", "60", "--test", "10", "--batch", "30", "--epochs", "2", "--dtype", "float64"];
    let of = |backend: &str, seed: &str| {
        let out = PROGRAM.folder(&format!("alike_{backend}_{seed}"));
        PROGRAM.succeeds(&[&few[..], &["--backend", backend, "--seed", seed]].concat(), &out);
        losses(&out)
    };
    let first = of("numpyish", "7");
    assert_ne!(first, of("numpyish", "8"));
    if available("torch", Torch::cpu()).is_some() {
        let other = of("torch", "7");
        assert!(first.iter().zip(&other).all(|(x, y)| (x - y).abs() < 1e-9 * y), "{first:?} {other:?}");
    }
}

#[test]
fn wrong_arguments_are_explained() {
    for (arguments, why) in [
        (&["--backend", "numpy"][..], "the backends are"),
        (&["--dtype", "float16"], "float32 and float64"),
        (&["--model", "gpt"], "mlp and cnn"),
        (&["--train", "0"], "from 1 to"),
        (&["--test", "-1"], "from 1 to"),
        (&["--batch", "many"], "from 1 to"),
        (&["--epochs", "99999999999999999999"], "from 0 to"),
        (&["--rate", "0"], "positive"),
        (&["--rate", "nan"], "positive"),
        (&["--seed", "-1"], "integer"),
        (&["--weights", ""], "path is empty"),
        (&["--weights", "/nowhere/weights.npz"], "/nowhere/weights.npz"),
        (&["--device", "cuda:0"], "cpu"),
        (&["--speed", "9"], "speed"),
        (&["digits"], "digits"),
    ] {
        PROGRAM.fails(arguments, why);
    }
    let folder = PROGRAM.folder("shapes");
    let weights = folder.to_str().unwrap();
    PROGRAM.fails(&["--weights", weights], "convolution_0_weights");
    for (name, shape) in [
        ("layer_0_weights", &[256, 64][..]),
        ("layer_0_bias", &[63]),
        ("layer_1_weights", &[64, 10]),
        ("layer_1_bias", &[10]),
    ] {
        fs::write(folder.join(format!("{name}.npy")), encode(&ArrayD::<f64>::zeros(shape))).unwrap();
    }
    PROGRAM.fails(&["--model", "mlp", "--weights", weights], "`layer_0`");
    PROGRAM.fails(&["--model", "mlp", "--train", "64", "--rate", "1e30", "--epochs", "9"], "try a smaller --rate");
}
