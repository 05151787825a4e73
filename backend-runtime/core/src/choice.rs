//! Enums for parameters that accept one of a few names. Each enum belongs to a section of the base table, such as
//! `[choice.norm]`. A user's table defines its own choices with the same macro.

/// Defines the enum of a choice, a parameter that accepts one of a few names. Each variant has such a name.
#[doc(hidden)]
#[macro_export]
macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $v:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$vdoc])* $v,)*
        }

        impl $name {
            /// The names of all variants.
            pub const NAMES: &'static [&'static str] = &[$($text),*];

            /// All variants, in the order of [`Self::NAMES`].
            pub const ALL: &'static [Self] = &[$($name::$v),*];

            /// Returns the name of the variant in the table, which is the name in NumPy.
            pub const fn name(self) -> &'static str {
                match self { $($name::$v => $text,)* }
            }
        }

        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl ::core::str::FromStr for $name {
            type Err = $crate::Error;
            fn from_str(text: &str) -> $crate::Result<Self> {
                match text {
                    $($text => Ok($name::$v),)*
                    other => Err($crate::Error::argument(
                        stringify!($name),
                        format!("`{other}` is given, but must be one of {}", $name::NAMES.join(", ")),
                    )),
                }
            }
        }

        impl $crate::by_name::ToLiteral for $name {
            fn text(&self) -> String {
                $crate::by_name::ToLiteral::text(&self.name())
            }
        }

        impl $crate::by_name::FromValue for $name {
            fn wanted() -> String {
                format!("one of {}", $name::NAMES.join(", "))
            }

            fn from_value<B: $crate::Arrays>(value: &$crate::Value<B>) -> Option<$name> {
                match value {
                    $crate::Value::Text(name) => name.parse().ok(),
                    _ => None,
                }
            }
        }
    };
}

/// Returns whether two lists have the same names in the same order. Constant code calls this function to check that
/// these enums agree with the base table.
pub const fn same_names(a: &[&str], b: &[&str]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        let (x, y) = (a[i].as_bytes(), b[i].as_bytes());
        if x.len() != y.len() {
            return false;
        }
        let mut at = 0;
        while at < x.len() {
            if x[at] != y[at] {
                return false;
            }
            at += 1;
        }
        i += 1;
    }
    true
}

choice! {
    /// Scaling of a Fourier transform of n points.
    Norm {
        /// 1 for the forward transform, 1/n for the inverse.
        Backward = "backward",
        /// 1/sqrt(n) for both directions.
        Ortho = "ortho",
        /// 1/n for the forward transform, 1 for the inverse.
        Forward = "forward",
    }
}

choice! {
    /// The order of the axes in the results of `meshgrid`.
    MeshIndexing {
        /// Cartesian indexing: axis 0 belongs to coordinate 1, and axis 1 to coordinate 0.
        Xy = "xy",
        /// Matrix indexing: axis k belongs to coordinate k.
        Ij = "ij",
    }
}

choice! {
    /// The treatment of indices outside of the range of their axis.
    IndexMode {
        /// Such an index is an error.
        Raise = "raise",
        /// The index is taken modulo the length of the axis.
        Wrap = "wrap",
        /// The index is replaced by the nearest index of the axis.
        Clip = "clip",
    }
}

choice! {
    /// The position among equal elements at which `searchsorted` inserts a value.
    Side {
        /// Before the first equal element.
        Left = "left",
        /// After the last equal element.
        Right = "right",
    }
}

choice! {
    /// The value of a quantile that falls between two elements.
    Interpolation {
        /// The value between the two elements by linear interpolation.
        Linear = "linear",
        /// The lower of the two elements.
        Lower = "lower",
        /// The higher of the two elements.
        Higher = "higher",
        /// The mean of the two elements.
        Midpoint = "midpoint",
        /// The nearer of the two elements; at a tie, the element with the even index.
        Nearest = "nearest",
    }
}

choice! {
    /// The norm of a matrix.
    MatrixNorm {
        /// The Frobenius norm: the square root of the sum of all squared magnitudes.
        Fro = "fro",
        /// The sum of singular values.
        Nuc = "nuc",
        /// The largest column sum of magnitudes.
        One = "one",
        /// The smallest column sum of magnitudes.
        MinusOne = "minus_one",
        /// The largest singular value.
        Two = "two",
        /// The least singular value.
        MinusTwo = "minus_two",
        /// The largest row sum of magnitudes.
        Infinity = "infinity",
        /// The smallest row sum of magnitudes.
        MinusInfinity = "minus_infinity",
    }
}

choice! {
    /// The number of columns of the orthonormal factor in a QR decomposition.
    QrMode {
        /// The number of rows or the number of columns of the matrix, whichever is smaller.
        Reduced = "reduced",
        /// The number of rows of the matrix.
        Complete = "complete",
    }
}

choice! {
    /// The values beyond the edges of an image. The names are SciPy's.
    Boundary {
        /// A constant value everywhere outside of the image. The values jump at the edge, because nothing is
        /// interpolated beyond the outermost elements.
        Constant = "constant",
        /// The value of the edge element.
        Nearest = "nearest",
        /// The image is mirrored about the edge, so that the edge element is repeated.
        Reflect = "reflect",
        /// The image is mirrored about the edge element, which is not repeated.
        Mirror = "mirror",
        /// The image is continued periodically; its last element coincides with its first.
        Wrap = "wrap",
        /// A constant value at every grid point outside of the image. Between the outermost elements and these
        /// points, values are interpolated.
        GridConstant = "grid_constant",
        /// The image is continued periodically; its first element follows its last.
        GridWrap = "grid_wrap",
    }
}

choice! {
    /// The elements that fill the border of a padded array.
    PadMode {
        /// A constant value.
        Constant = "constant",
        /// The value of the edge element.
        Edge = "edge",
        /// The array is mirrored about the edge element, which is not repeated.
        Reflect = "reflect",
        /// The array is mirrored about the edge, so that the edge element is repeated.
        Symmetric = "symmetric",
        /// The array is continued periodically.
        Wrap = "wrap",
    }
}

choice! {
    /// The elements of the full convolution that an op returns.
    ConvolutionMode {
        /// All elements: the sums at all positions at which the two arrays overlap at least partly.
        Full = "full",
        /// The middle elements, as many as one of the two arrays has. The op determines which one.
        Same = "same",
        /// The sums at the positions at which the smaller array lies fully inside the larger one.
        Valid = "valid",
    }
}

choice! {
    /// The method that computes a convolution.
    ConvolutionMethod {
        /// Direct sums for small kernels and for integers, Fourier transforms otherwise.
        Auto = "auto",
        /// Direct sums of products.
        Direct = "direct",
        /// Fourier transforms, whose rounding error is relative to the largest element.
        Fft = "fft",
    }
}

choice! {
    /// The value of a loss function: the loss of each element, or one number that is computed from these losses.
    LossReduction {
        /// The loss of each element.
        Each = "each",
        /// The mean of the losses.
        Mean = "mean",
        /// The sum of the losses.
        Sum = "sum",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_have_names() {
        assert_eq!("ortho".parse::<Norm>().unwrap(), Norm::Ortho);
        assert!("orto".parse::<Norm>().unwrap_err().to_string().contains("backward, ortho, forward"));
    }

    #[test]
    fn names_are_compared_in_their_order() {
        assert!(same_names(Side::NAMES, &["left", "right"]));
        for other in [&["right", "left"][..], &["left"], &["left", "righ"], &["left", "rights"]] {
            assert!(!same_names(Side::NAMES, other), "{other:?}");
        }
    }
}
