//! The ops of libtorch that the functions of this backend are composed of.

use super::call::Schema;

macro_rules! ops {
    ($($name:ident = $op:literal $(. $overload:literal)?;)*) => {
        $(
            #[doc = concat!("`", $op, $(".", $overload,)? "`")]
            pub static $name: Schema = Schema::new(concat!("aten::", $op), concat!("", $($overload)?));
        )*

        /// All of them.
        #[cfg(test)]
        pub static ALL: &[&Schema] = &[$(&$name),*];
    };
}

ops! {
    ALIAS = "alias";
    BITWISE_XOR = "bitwise_xor"."Tensor";
    CONTIGUOUS = "contiguous";
    VIEW_AS_COMPLEX = "view_as_complex";
    VIEW_AS_REAL = "view_as_real";
    VIEW_DTYPE = "view"."dtype";
}
