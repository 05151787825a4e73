//! Pictures of the losses and of digits.

use colorgrad::preset;
use examples_common::{
    curve::{self, Curve},
    figure::{self, Colors, Panel, Picture},
};
use ndarray::{ArrayD, Axis};
use std::error::Error;

/// Draws the loss of each step, and the mean loss of each epoch of `epoch` steps.
pub fn losses(losses: &[f64], epoch: usize) -> Result<Picture, Box<dyn Error>> {
    let steps = losses.iter().enumerate().map(|(k, loss)| [(k + 1) as f64, *loss]);
    let means = losses.chunks(epoch).enumerate().map(|(k, part)| {
        [(k * epoch) as f64 + (part.len() + 1) as f64 / 2.0, part.iter().sum::<f64>() / part.len() as f64]
    });
    let curves = [
        Curve { name: "each step".into(), points: steps.collect() },
        Curve { name: "mean of an epoch".into(), points: means.collect() },
    ];
    curve::draw("Cross entropy while the network learns", ["steps", "loss"], &curves, [760, 420])
}

/// Draws pictures, of shape (count, 1, rows, columns), next to each other. The title of each picture is the digit that
/// the network reads, and the probability of this digit. `parts`, of shape (count, 10), has the probabilities of all
/// digits.
pub fn digits(pictures: &ArrayD<f64>, parts: &ArrayD<f64>) -> Result<Picture, Box<dyn Error>> {
    let panels: Vec<Panel> = pictures
        .outer_iter()
        .zip(parts.outer_iter())
        .map(|(picture, parts)| {
            let (digit, part) =
                parts.iter().enumerate().fold((0, 0.0), |most, (k, p)| if *p > most.1 { (k, *p) } else { most });
            // the figure draws row 0 at the bottom, so the rows are reversed
            let mut values = picture.index_axis(Axis(0), 0).to_owned();
            values.invert_axis(Axis(0));
            let extents = [0, 1].map(|axis| [0.0, values.shape()[axis] as f64]);
            Panel {
                values,
                title: format!("{digit}: {:.0} %", 100.0 * part),
                labels: Default::default(),
                extents,
                marks: vec![],
            }
        })
        .collect();
    let colors = Colors { gradient: preset::greys(), reversed: false, range: [-1.0, 2.0], name: "ink".into() };
    figure::to_scale("Digits of the test, and what the network reads", &panels, &colors, 150)
}
