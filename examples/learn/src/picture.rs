//! Pictures of the losses and of digits.

use backends_plot::{ColorMap, Picture, Result, imshow, plot, subplots};
use ndarray::{ArrayD, Axis};

/// Draws the loss of each step, and the mean loss of each epoch of `epoch` steps.
pub fn losses(losses: &[f64], epoch: usize) -> Result<Picture> {
    let steps: Vec<usize> = (1..=losses.len()).collect();
    let middles = losses.chunks(epoch).enumerate().map(|(k, part)| (k * epoch) as f64 + (part.len() + 1) as f64 / 2.0);
    let means = losses.chunks(epoch).map(|part| part.iter().sum::<f64>() / part.len() as f64);
    let (middles, means): (Vec<f64>, Vec<f64>) = (middles.collect(), means.collect());
    // the first curve is thin, because it has many points
    let axes = plot(&steps, losses).label("each step").color([150, 178, 220]).size_of_marks(1.0);
    let axes = axes.plot(&middles, &means).label("mean of an epoch").color([200, 60, 40]).size_of_marks(3.0);
    let axes = axes.log_y().title("Cross entropy while the network learns").xlabel("steps").ylabel("loss (nats)");
    axes.size(660, 320).draw()
}

/// Draws pictures, of shape (count, 1, rows, columns), next to each other. The title of each picture is the digit that
/// the network reads, and the probability of this digit. `parts`, of shape (count, 10), has the probabilities of all
/// digits.
pub fn digits(pictures: &ArrayD<f64>, parts: &ArrayD<f64>) -> Result<Picture> {
    let title = "Digits of the test, and what the network reads";
    let mut figure = subplots(1, pictures.shape()[0]).title(title).common_colors().same_scale();
    for (column, (picture, parts)) in pictures.outer_iter().zip(parts.outer_iter()).enumerate() {
        let (digit, part) =
            parts.iter().enumerate().fold((0, 0.0), |most, (k, p)| if *p > most.1 { (k, *p) } else { most });
        let image = imshow(&picture.index_axis(Axis(0), 0)).cmap(ColorMap::gray().reversed()).range(-1.0, 2.0);
        let image = image.label("ink").title(format!("{digit}: {:.0} %", 100.0 * part)).no_ticks().size(150, 150);
        figure = figure.at(0, column, image);
    }
    figure.draw()
}
