//! The order in which blocks and threads run.

/// The order in which blocks, and threads of a block, run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// From the first to the last.
    Forward,
    /// From the last to the first.
    Reverse,
    /// A random order, in which a thread also pauses after a random number of steps. The state of the random generator
    /// continues from launch to launch.
    Random(u64),
}

impl Order {
    /// Arranges the indices of threads in this order.
    pub(super) fn arrange(&mut self, threads: &mut [u32]) {
        match self {
            Order::Forward => threads.sort_unstable(),
            Order::Reverse => threads.sort_unstable_by(|a, b| b.cmp(a)),
            Order::Random(state) => {
                for i in (1..threads.len()).rev() {
                    threads.swap(i, (random(state) % (i as u64 + 1)) as usize);
                }
            }
        }
    }

    /// Returns the number of steps that a thread may run before other threads run. In random order, it is a random
    /// power of two from 1 to 128. So other threads can run between a read and the next write of a thread.
    pub(super) fn turn(&mut self) -> u64 {
        match self {
            Order::Forward | Order::Reverse => u64::MAX,
            Order::Random(state) => 1 << (random(state) % 8),
        }
    }

    /// Iterates over the block indices below `count`, in this order. The indices are computed one by one, because a
    /// list of all blocks of a launch may not fit into memory.
    pub(super) fn blocks(&mut self, count: u64) -> impl Iterator<Item = u64> + use<> {
        // `i -> (i * step + start) % count` visits all numbers if `step` and `count` have no common factor
        let (step, start) = match self {
            Order::Forward => (1, 0),
            Order::Reverse => (count - 1, count - 1),
            Order::Random(state) => {
                let mut step = random(state) % count;
                while divisor(step, count) != 1 {
                    step = (step + 1) % count;
                }
                (step, random(state) % count)
            }
        };
        let (step, start, all) = (u128::from(step), u128::from(start), u128::from(count));
        (0..count).map(move |i| ((u128::from(i) * step + start) % all) as u64)
    }
}

fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

/// The SplitMix64 generator.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_and_thread_comes_once() {
        for mut order in [Order::Forward, Order::Reverse, Order::Random(7)] {
            for count in [1, 2, 3, 12, 97] {
                let mut blocks: Vec<u64> = order.blocks(count).collect();
                if order == Order::Reverse {
                    assert!(blocks.is_sorted_by(|a, b| a > b), "{blocks:?}");
                }
                blocks.sort_unstable();
                assert_eq!(blocks, (0..count).collect::<Vec<_>>(), "{order:?}");
                let mut threads: Vec<u32> = (0..count as u32).collect();
                order.arrange(&mut threads);
                threads.sort_unstable();
                assert_eq!(threads, (0..count as u32).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn random_orders_differ() {
        let mut order = Order::Random(1);
        let first: Vec<u64> = order.blocks(1000).collect();
        assert_ne!(first, order.blocks(1000).collect::<Vec<_>>());
    }
}
