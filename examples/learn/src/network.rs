//! The networks: structs of arrays (the weights), and functions that compute scores of pictures. No code here deals
//! with gradients.

use crate::digits::SIDE;
use backends::{Backend, ConvOptions, Error, Precision, RandomNormalOptions, Result, expr, grad::Params};
use backends_npz::{Npz, NpzWriter};
use std::{io, path::Path, str::FromStr};

/// The available networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A network with one hidden layer.
    Mlp,
    /// A network with convolutions, each followed by pooling, and one dense layer.
    Cnn,
}

impl FromStr for Kind {
    type Err = &'static str;

    fn from_str(name: &str) -> std::result::Result<Kind, &'static str> {
        match name {
            "mlp" => Ok(Kind::Mlp),
            "cnn" => Ok(Kind::Cnn),
            _ => Err("the models are mlp and cnn"),
        }
    }
}

/// A layer with a bias. The weights of a dense layer have the shape (inputs, outputs). The weights of a convolution
/// have the shape (output channels, input channels, rows, columns).
#[derive(Params)]
pub struct Layer<B: Backend, T: Precision> {
    pub weights: B::Array<T>,
    pub bias: B::Array<T>,
}

/// A network that computes a score for each of the ten digits. The digit with the largest score is the network's
/// answer.
#[derive(Params)]
pub struct Network<B: Backend, T: Precision> {
    pub convolutions: Vec<Layer<B, T>>,
    pub layers: Vec<Layer<B, T>>,
}

/// The shapes of the weights of the convolutions, and the shapes of the weights of the dense layers.
fn shapes(kind: Kind) -> (Vec<[usize; 4]>, Vec<[usize; 2]>) {
    match kind {
        Kind::Mlp => (vec![], vec![[SIDE * SIDE, 64], [64, 10]]),
        Kind::Cnn => (vec![[8, 1, 3, 3], [16, 8, 3, 3]], vec![[16 * (SIDE / 4).pow(2), 10]]),
    }
}

impl<B: Backend, T: Precision> Network<B, T> {
    /// Creates random weights, scaled so that values keep their magnitude from layer to layer (He et al., "Delving deep
    /// into rectifiers", 2015).
    pub fn new(b: &B, kind: Kind) -> Result<Self> {
        let layer = |shape: &[usize], inputs: usize, outputs: usize| -> Result<Layer<B, T>> {
            let std = (2.0 / inputs as f64).sqrt();
            let weights = b.random_normal_with::<T>(shape, RandomNormalOptions::new().std(std))?;
            Ok(Layer { weights, bias: b.zeros([outputs])? })
        };
        let (convolutions, layers) = shapes(kind);
        Ok(Network {
            convolutions: convolutions.iter().map(|s| layer(s, s[1] * s[2] * s[3], s[0])).collect::<Result<_>>()?,
            layers: layers.iter().map(|s| layer(s, s[0], s[1])).collect::<Result<_>>()?,
        })
    }

    /// Computes the scores, of shape (count, 10), of pictures of shape (count, 1, rows, columns).
    pub fn read(&self, b: &B, pictures: &B::Array<T>) -> Result<B::Array<T>> {
        let mut x = pictures.clone();
        for Layer { weights, bias } in &self.convolutions {
            // the convolution pads the picture with zeros, so the size of the picture does not change; pooling halves
            // the size
            let found = b.conv_with(&x, weights, ConvOptions::new().bias(bias).padding([1]))?;
            x = b.max_pool(expr!(b, maximum(found, 0))?, [2, 2])?;
        }
        let mut x = b.reshape(&x, [b.shape(&x)[0] as i64, -1])?;
        for (k, Layer { weights, bias }) in self.layers.iter().enumerate() {
            x = if k + 1 < self.layers.len() {
                expr!(b, maximum(x @ weights + bias, 0))?
            } else {
                expr!(b, x @ weights + bias)?
            };
        }
        Ok(x)
    }

    /// The mean cross entropy: minus the logarithm of the probability that the network assigns to the correct digit.
    /// `right` is one-hot: it has a row for each picture, with 1 at the picture's digit.
    pub fn loss(&self, b: &B, pictures: &B::Array<T>, right: &B::Array<T>) -> Result<B::Array<T>> {
        let parts = b.log_softmax(self.read(b, pictures)?, 1)?;
        let count = b.shape(right)[0] as f64;
        expr!(b, -sum(parts * right, ..) / count)
    }

    /// The layers with their names.
    fn named(&self) -> Vec<(String, &Layer<B, T>)> {
        let convolutions = self.convolutions.iter().enumerate().map(|(k, layer)| (format!("convolution_{k}"), layer));
        convolutions.chain(self.layers.iter().enumerate().map(|(k, layer)| (format!("layer_{k}"), layer))).collect()
    }

    /// Writes the weights into an `.npz` file.
    pub fn save(&self, b: &B, path: &Path) -> io::Result<()> {
        let mut file = NpzWriter::create(path)?;
        for (name, Layer { weights, bias }) in self.named() {
            file.add_array(b, &format!("{name}_weights"), weights)?;
            file.add_array(b, &format!("{name}_bias"), bias)?;
        }
        file.finish()
    }

    /// Reads the weights of a network of this kind that [`Network::save`] wrote.
    pub fn open(b: &B, kind: Kind, path: &Path) -> std::result::Result<Self, Box<dyn std::error::Error>> {
        let file = Npz::open(path)?;
        let layer = |name: String, shape: &[usize], outputs: usize| {
            let weights = file.array::<B, T>(b, &format!("{name}_weights"))?;
            let bias = file.array::<B, T>(b, &format!("{name}_bias"))?;
            if b.shape(&weights) != shape || b.shape(&bias) != [outputs] {
                let why = Error::shapes("weights", shape, b.shape(&weights));
                return Err(Box::<dyn std::error::Error>::from(format!("{}: `{name}`: {why}", path.display())));
            }
            Ok(Layer { weights, bias })
        };
        let (convolutions, layers) = shapes(kind);
        let convolutions = convolutions.iter().enumerate().map(|(k, s)| layer(format!("convolution_{k}"), s, s[0]));
        let convolutions = convolutions.collect::<std::result::Result<_, _>>()?;
        let layers = layers.iter().enumerate().map(|(k, s)| layer(format!("layer_{k}"), s, s[1]));
        Ok(Network { convolutions, layers: layers.collect::<std::result::Result<_, _>>()? })
    }
}
