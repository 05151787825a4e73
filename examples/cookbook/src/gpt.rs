//! A small GPT.
//!
//! Trains a transformer by AdamW to continue a text, letter by letter.

use backends::grad::{Diff, Params, value_and_grad};
use backends::{Result, prelude::*};
use backends_solvers::minimize::Adam;

/// The parameters of a block: a layer of attention and two dense layers.
#[derive(Params)]
pub struct Block<B: Backend, T: Precision> {
    /// The weights of queries, keys and values (width, 3 width).
    pub qkv: B::Array<T>,
    /// The weights of the results of all heads (width, width).
    pub out: B::Array<T>,
    /// The weights of the first dense layer (width, 4 width).
    pub up: B::Array<T>,
    /// The offsets of the first dense layer (4 width,).
    pub up_bias: B::Array<T>,
    /// The weights of the second dense layer (4 width, width).
    pub down: B::Array<T>,
}

/// The parameters of the network.
#[derive(Params)]
pub struct Gpt<B: Backend, T: Precision> {
    /// A vector for each letter (letters, width), for the input and for the scores.
    pub tokens: B::Array<T>,
    /// A vector for each position (length, width).
    pub positions: B::Array<T>,
    /// The blocks, in the order in which they run.
    pub blocks: Vec<Block<B, T>>,
}

impl<B: Backend, T: Precision> Block<B, T> {
    fn run(&self, b: &B, x: B::Array<T>, heads: usize) -> Result<B::Array<T>> {
        let [batch, length, width] = b.shape(&x)[..] else { unreachable!("three axes") };
        let sizes = [batch, length, 3, heads, width / heads];
        let qkv = expr!(b, permute_dims(reshape(layer_norm(x) @ self.qkv, sizes), [2, 0, 3, 1, 4]))?;
        let attention = expr!(b, scaled_dot_product_attention(qkv[0], qkv[1], qkv[2], causal = true))?;
        let x = expr!(b, x + reshape(permute_dims(attention, [0, 2, 1, 3]), [batch, length, width]) @ self.out)?;
        expr!(b, x + gelu(layer_norm(x) @ self.up + self.up_bias) @ self.down)
    }
}

impl<B: Backend, T: Precision> Gpt<B, T> {
    /// The scores (texts, length, letters) of the letter after each letter of `tokens` (texts, length).
    pub fn scores(&self, b: &B, tokens: &B::Array<i64>, heads: usize) -> Result<B::Array<T>> {
        let mut x = expr!(b, take(self.tokens, tokens, 0) + self.positions)?;
        for block in &self.blocks {
            x = block.run(b, x, heads)?;
        }
        expr!(b, layer_norm(x) @ transpose(self.tokens))
    }
}

/// Trains with each batch of texts (texts, length + 1) once, and returns the losses.
pub fn train<B: Backend, T: Precision>(
    b: &B, gpt: &mut Gpt<B, T>, batches: &[B::Array<i64>], heads: usize, rate: f64,
) -> Result<Vec<f64>> {
    let mut optimizer = Adam::new(rate).weight_decay(0.01).decoupled(true);
    let mut losses = vec![];
    for batch in batches {
        let (given, next) = (expr!(b, batch[.., ..-1])?, expr!(b, flatten(batch[.., 1..]))?);
        let loss = |d: &Diff<B>, gpt: &Gpt<Diff<B>, T>| {
            let scores = gpt.scores(d, &d.constant(given.clone()), heads)?;
            let letters = d.shape(&scores)[2] as i64;
            expr!(d, cross_entropy(reshape(scores, [-1, letters]), { d.constant(next.clone()) }))
        };
        let (loss, gradient) = value_and_grad(b, loss, &*gpt)?;
        optimizer.step(b, gpt, &gradient)?;
        losses.push(b.item(loss)?.to_f64());
    }
    Ok(losses)
}
