//! Combines the best scores of all ranks, each of which has searched a different set of rotations.

use backends::{Backend, Precision, Result};
use backends_sharded::{Collectives, World, world::Join};
use template_match::matching::Best;

/// The best score of all ranks at each position. Among equal scores, the rotation with the lowest index counts, as if
/// one rank had searched all rotations in order.
pub fn joined<B: Backend, T: Precision>(b: &B, world: &World, best: &Best<B, T>) -> Result<Best<B, T>> {
    let scores = world.all_reduce_array::<B, T>(b, &best.scores, Join::Max)?;
    let rotations = b.r#where(b.equal(&best.scores, &scores)?, &best.rotations, i32::MAX)?;
    Ok(Best { rotations: world.all_reduce_array::<B, i32>(b, &rotations, Join::Min)?, scores })
}

#[cfg(test)]
mod tests {
    use super::*;
    use backends::prelude::*;
    use backends_sharded::world::threads;

    #[test]
    fn of_equal_scores_the_first_rotation_wins() {
        let found = threads::run(3, |world| {
            let b = Numpyish::new();
            // rank 1 has found nothing, which happens if there are fewer rotations than ranks
            let none = f64::NEG_INFINITY;
            let scores = [[5.0, 1.0, 2.0, none], [none; 4], [5.0, 3.0, 2.0, none]][world.rank()];
            let rotations = [[4, 1, 2, 0], [0; 4], [7, 8, 9, 0]][world.rank()];
            let own = Best { scores: b.asarray(scores)?, rotations: b.asarray(rotations)? };
            let all = joined::<_, f64>(&b, world, &own)?;
            Ok::<_, backends::Error>((b.to_vec(&all.scores)?, b.to_vec(&all.rotations)?))
        });
        for found in found {
            assert_eq!(found.unwrap(), (vec![5.0, 3.0, 2.0, f64::NEG_INFINITY], vec![4, 8, 2, 0]));
        }
    }
}
