//! The main part of the program: trains and tests a network, generic over the backend and the precision.

use crate::{
    cli::Options,
    digits::{self, Digits},
    network::Network,
    picture,
};
use backends::{Backend, Precision, Real, expr, grad::value_and_grad};
use backends_npz::encode;
use backends_solvers::minimize::Adam;
use examples_common::{
    console::Console,
    output::{File, Output},
};
use ndarray::{Array1, ArrayD};
use std::{error::Error, time::Instant};

/// The names of the files that [`run`] writes.
pub fn file_names(_options: &Options) -> Vec<String> {
    ["weights.npz", "losses.npy", "losses.png", "digits.png"].map(String::from).into()
}

/// The number of test pictures that the network reads at a time.
const AT_ONCE: usize = 500;

/// Trains the network, tests it, and writes the files.
pub fn run<B: Backend, T: Precision>(
    b: &B,
    options: &Options,
    output: &Output,
    console: &mut Console,
) -> Result<(), Box<dyn Error>> {
    b.seed(options.seed);
    let mut network = match &options.weights {
        Some(path) => Network::<B, T>::open(b, options.model, path)?,
        None => Network::new(b, options.model)?,
    };
    // the digits are drawn from a separate seed, so that they do not depend on the network
    b.seed(options.seed.wrapping_add(0x5EED));
    let test = digits::draw::<B, T>(b, options.test)?;
    let train = digits::draw::<B, T>(b, options.train)?;
    let start = Instant::now();
    let losses = learn(b, options, &mut network, &train, console)?;
    let seconds = start.elapsed().as_secs_f64();
    let (seen, unseen) = (accuracy(b, &network, &train)?, accuracy(b, &network, &test)?);
    console.say(format!("{} steps in {seconds:.2} s", losses.len()));
    console.say(format!("accuracy {seen:.4} in training, {unseen:.4} in the test of {} digits", options.test));
    let (_, weights) = output.begin("weights.npz")?;
    network.save(b, weights.path())?;
    let mut files = vec![File { name: "losses.npy".into(), bytes: encode(&Array1::from(losses.clone()).into_dyn()) }];
    if !losses.is_empty() {
        files.push(File {
            name: "losses.png".into(),
            bytes: picture::losses(&losses, options.train.div_ceil(options.batch))?.png()?,
        });
    }
    files.push(File { name: "digits.png".into(), bytes: show(b, &network, &test)? });
    output.write(&files, vec![weights])?;
    console.say(format!("wrote {} files to {}", files.len() + 1, options.out.display()));
    Ok(())
}

/// Trains on all digits in batches, in a new random order in each epoch. Returns the loss of each step.
fn learn<B: Backend, T: Precision>(
    b: &B,
    options: &Options,
    network: &mut Network<B, T>,
    digits: &Digits<B, T>,
    console: &mut Console,
) -> Result<Vec<f64>, Box<dyn Error>> {
    let right = b.one_hot::<T>(&digits.names, 10)?;
    let steps = options.epochs * options.train.div_ceil(options.batch);
    let bar = console.progress("steps", steps);
    let mut adam = Adam::new(options.rate);
    let mut losses = Vec::with_capacity(steps);
    for epoch in 1..=options.epochs {
        let order = b.random_permutation::<i64>(options.train)?;
        let mut sum = 0.0;
        for from in (0..options.train).step_by(options.batch) {
            let batch = b.getitem(&order, backends::slices![from..(from + options.batch).min(options.train)])?;
            let (pictures, right) = (b.take(&digits.pictures, &batch, 0)?, b.take(&right, &batch, 0)?);
            let (loss, gradient) =
                value_and_grad(b, |d, network| network.loss(d, &d.constant(pictures), &d.constant(right)), &*network)?;
            // the learning rate falls to a tenth by the end, so that the weights settle
            adam.rate = options.rate * 0.1_f64.powf(losses.len() as f64 / steps as f64);
            adam.step(b, network, &gradient)?;
            let loss = b.item(loss)?.to_f64();
            if !loss.is_finite() {
                return Err(format!("the loss is {loss} after {} steps: try a smaller --rate", losses.len()).into());
            }
            losses.push(loss);
            sum += loss * b.shape(&batch)[0] as f64;
            bar.set_position(losses.len() as u64);
        }
        let mean = sum / options.train as f64;
        bar.suspend(|| console.say(format!("epoch {epoch}: mean loss {mean:.4}")));
    }
    bar.finish_and_clear();
    Ok(losses)
}

/// The fraction of the digits that the network reads correctly.
fn accuracy<B: Backend, T: Precision>(b: &B, network: &Network<B, T>, digits: &Digits<B, T>) -> backends::Result<f64> {
    let count = b.shape(&digits.names)[0];
    let mut right = 0;
    for from in (0..count).step_by(AT_ONCE) {
        let part = [backends::Slice::from(from as isize..(from + AT_ONCE).min(count) as isize)];
        let (pictures, names) = (b.getitem(&digits.pictures, part)?, b.getitem(&digits.names, part)?);
        let read = b.argmax(network.read(b, &pictures)?, 1)?;
        right += b.item(expr!(b, count_nonzero(read == names, ..))?)?;
    }
    Ok(right as f64 / count as f64)
}

/// Draws the first digits of the test set, each with the digit that the network reads.
fn show<B: Backend, T: Precision>(
    b: &B,
    network: &Network<B, T>,
    digits: &Digits<B, T>,
) -> Result<Vec<u8>, Box<dyn Error>> {
    let pictures = b.getitem(&digits.pictures, backends::slices![..6])?;
    let parts = b.exp(b.log_softmax(network.read(b, &pictures)?, 1)?)?;
    let host = |x: &B::Array<T>| -> backends::Result<ArrayD<f64>> { Ok(b.to_ndarray(x)?.mapv(Real::to_f64)) };
    Ok(picture::digits(&host(&pictures)?, &host(&parts)?)?.png()?)
}
