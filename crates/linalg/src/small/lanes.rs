//! Eight numbers at a time: one element of each of eight matrices, or eight elements of a row of one matrix.
//!
//! [`Vector`] has an implementation for each instruction set, because compilers generate slow code
//! for comparisons of arrays. No implementation fuses multiplications and subtractions, because not
//! every processor supports this. Results therefore have the same bits with every instruction set.

/// Number of lanes.
pub const WIDTH: usize = crate::GROUP;

/// Eight numbers in memory.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct AlignedVector(pub [f64; WIDTH]);

impl AlignedVector {
    /// The number 0 in each lane.
    pub const ZERO: AlignedVector = AlignedVector([0.0; WIDTH]);
}

/// A condition on each lane.
pub trait Mask: Copy {
    /// The lanes in which both conditions hold.
    fn and(self, other: Self) -> Self;

    /// The lanes in which either condition holds.
    fn or(self, other: Self) -> Self;

    /// Bit `l` is 1 if the condition holds in lane `l`.
    fn bits(self) -> u8;
}

/// Eight numbers in registers.
pub trait Vector: Copy {
    type Mask: Mask;

    /// Reads numbers from memory.
    fn load(from: &AlignedVector) -> Self;

    /// Writes the numbers to memory.
    fn store(self, to: &mut AlignedVector);

    /// A vector of these numbers.
    fn of(x: [f64; WIDTH]) -> Self;

    /// A vector with this number in each lane.
    fn splat(x: f64) -> Self;

    /// The magnitudes.
    fn abs(self) -> Self;

    /// `self * other`
    fn times(self, other: Self) -> Self;

    /// `self / other`
    fn over(self, other: Self) -> Self;

    /// `self - factor * other`, where the product is rounded first.
    fn minus_product(self, factor: Self, other: Self) -> Self;

    /// The lanes in which `self > other`.
    fn exceeds(self, other: Self) -> Self::Mask;

    /// The lanes in which `self >= other`.
    fn reaches(self, other: Self) -> Self::Mask;

    /// The lanes in which `self == other`.
    fn equals(self, other: Self) -> Self::Mask;

    /// The numbers of `other` in the lanes of the mask, and the numbers of `self` in the other lanes.
    fn replaced(self, mask: Self::Mask, other: Self) -> Self;
}

/// Eight numbers in an array, for any processor.
#[derive(Clone, Copy)]
pub struct Plain([f64; WIDTH]);

/// An array of the values of an expression for each lane.
macro_rules! each_lane {
    ($zero:expr, $l:ident => $e:expr) => {{
        let mut out = [$zero; WIDTH];
        for $l in 0..WIDTH {
            out[$l] = $e;
        }
        out
    }};
}

impl Mask for [bool; WIDTH] {
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        each_lane!(false, l => self[l] & other[l])
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        each_lane!(false, l => self[l] | other[l])
    }

    #[inline(always)]
    fn bits(self) -> u8 {
        (0..WIDTH).fold(0, |bits, l| bits | u8::from(self[l]) << l)
    }
}

impl Vector for Plain {
    type Mask = [bool; WIDTH];

    #[inline(always)]
    fn load(from: &AlignedVector) -> Self {
        Plain(from.0)
    }

    #[inline(always)]
    fn store(self, to: &mut AlignedVector) {
        to.0 = self.0;
    }

    #[inline(always)]
    fn of(x: [f64; WIDTH]) -> Self {
        Plain(x)
    }

    #[inline(always)]
    fn splat(x: f64) -> Self {
        Plain([x; WIDTH])
    }

    #[inline(always)]
    fn abs(self) -> Self {
        Plain(each_lane!(0.0, l => self.0[l].abs()))
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        Plain(each_lane!(0.0, l => self.0[l] * other.0[l]))
    }

    #[inline(always)]
    fn over(self, other: Self) -> Self {
        Plain(each_lane!(0.0, l => self.0[l] / other.0[l]))
    }

    #[inline(always)]
    fn minus_product(self, factor: Self, other: Self) -> Self {
        Plain(each_lane!(0.0, l => self.0[l] - factor.0[l] * other.0[l]))
    }

    #[inline(always)]
    fn exceeds(self, other: Self) -> Self::Mask {
        each_lane!(false, l => self.0[l] > other.0[l])
    }

    #[inline(always)]
    fn reaches(self, other: Self) -> Self::Mask {
        each_lane!(false, l => self.0[l] >= other.0[l])
    }

    #[inline(always)]
    fn equals(self, other: Self) -> Self::Mask {
        each_lane!(false, l => self.0[l] == other.0[l])
    }

    #[inline(always)]
    fn replaced(self, mask: Self::Mask, other: Self) -> Self {
        Plain(each_lane!(0.0, l => if mask[l] { other.0[l] } else { self.0[l] }))
    }
}
