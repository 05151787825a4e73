//! The libtorch ops that the functions of this backend call.

use super::call::Schema;

macro_rules! ops {
    ($($name:ident = $op:literal $(. $overload:literal)?;)*) => {
        $(
            #[doc = concat!("`", $op, $(".", $overload,)? "`")]
            pub static $name: Schema = Schema::new(concat!("aten::", $op), concat!("", $($overload)?));
        )*

        /// All ops of this file, so that a test can check that libtorch has them.
        #[cfg(test)]
        pub static EVERY: &[&Schema] = &[$(&$name,)* &COPY_IN_PLACE, &INDEX_PUT_IN_PLACE];
    };
}

ops! {
    ABS = "abs";
    ACOS = "acos";
    ADD = "add"."Tensor";
    ALIAS = "alias";
    ALL = "all"."dims";
    ALL_DIM = "all"."dim";
    AMAX = "amax";
    AMIN = "amin";
    AMINMAX = "aminmax";
    ANY = "any"."dims";
    ARANGE = "arange";
    ARGMAX = "argmax";
    ARGMIN = "argmin";
    AS_STRIDED = "as_strided";
    ATAN2 = "atan2";
    AVG_POOL1D = "avg_pool1d";
    AVG_POOL2D = "avg_pool2d";
    AVG_POOL3D = "avg_pool3d";
    BITWISE_AND = "bitwise_and"."Tensor";
    BITWISE_OR = "bitwise_or"."Tensor";
    BITWISE_XOR = "bitwise_xor"."Tensor";
    CAT = "cat";
    CEIL = "ceil";
    CLAMP = "clamp";
    CLONE = "clone";
    COMPLEX = "complex";
    CONJ_PHYSICAL = "conj_physical";
    CONSTANT_PAD = "constant_pad_nd";
    CONTIGUOUS = "contiguous";
    CONV1D = "conv1d";
    CONV2D = "conv2d";
    CONV3D = "conv3d";
    CONV_TRANSPOSE1D = "conv_transpose1d";
    CONV_TRANSPOSE2D = "conv_transpose2d"."input";
    CONV_TRANSPOSE3D = "conv_transpose3d"."input";
    COPYSIGN = "copysign"."Tensor";
    COS = "cos";
    CUMPROD = "cumprod";
    CUMSUM = "cumsum";
    DIAGONAL = "diagonal";
    DIV = "div"."Tensor";
    ELU = "elu";
    EMPTY = "empty"."memory_format";
    EQ = "eq"."Tensor";
    ERFC = "erfc";
    EXPAND = "expand";
    EXPM1 = "expm1";
    FFT = "fft_fft";
    FFTN = "fft_fftn";
    FLIP = "flip";
    FLOOR = "floor";
    FLOOR_DIVIDE = "floor_divide";
    FMOD = "fmod"."Tensor";
    FULL = "full";
    GATHER = "gather";
    GE = "ge"."Tensor";
    GT = "gt"."Tensor";
    HEAVISIDE = "heaviside";
    HFFT = "fft_hfft";
    HYPOT = "hypot";
    IFFT = "fft_ifft";
    IFFTN = "fft_ifftn";
    IHFFT = "fft_ihfft";
    IMAG = "imag";
    INDEX = "index"."Tensor";
    INDEX_ADD = "index_add";
    INDEX_REDUCE = "index_reduce";
    INDEX_SELECT = "index_select";
    IRFFT = "fft_irfft";
    IRFFTN = "fft_irfftn";
    ISFINITE = "isfinite";
    ISINF = "isinf";
    ISNAN = "isnan";
    LE = "le"."Tensor";
    LEAKY_RELU = "leaky_relu";
    LERP = "lerp"."Tensor";
    LINALG_CHOLESKY_EX = "linalg_cholesky_ex";
    LINALG_DET = "linalg_det";
    LINALG_EIG = "linalg_eig";
    LINALG_EIGH = "linalg_eigh";
    LINALG_EIGVALS = "linalg_eigvals";
    LINALG_EIGVALSH = "linalg_eigvalsh";
    LINALG_QR = "linalg_qr";
    LINALG_SLOGDET = "linalg_slogdet";
    LINALG_SOLVE_EX = "linalg_solve_ex";
    LINALG_SOLVE_TRIANGULAR = "linalg_solve_triangular";
    LINALG_SVD = "linalg_svd";
    LINALG_SVDVALS = "linalg_svdvals";
    LOG = "log";
    LOG1P = "log1p";
    LOGICAL_AND = "logical_and";
    LOGICAL_NOT = "logical_not";
    LOGICAL_OR = "logical_or";
    LT = "lt"."Tensor";
    MASKED_FILL = "masked_fill"."Tensor";
    MASKED_SELECT = "masked_select";
    MATMUL = "matmul";
    MAX_POOL1D = "max_pool1d";
    MAX_POOL2D = "max_pool2d";
    MAX_POOL3D = "max_pool3d";
    MAXIMUM = "maximum";
    MEAN = "mean"."dim";
    MINIMUM = "minimum";
    MOVEDIM = "movedim"."int";
    MUL = "mul"."Tensor";
    NARROW = "narrow";
    NE = "ne"."Tensor";
    NEG = "neg";
    NEW_FULL = "new_full";
    NONZERO = "nonzero";
    ONES_LIKE = "ones_like";
    PERMUTE = "permute";
    POW = "pow"."Tensor_Tensor";
    PROD = "prod"."dim_int";
    REAL = "real";
    RECIPROCAL = "reciprocal";
    REMAINDER = "remainder"."Tensor";
    RESHAPE = "reshape";
    RFFT = "fft_rfft";
    RFFTN = "fft_rfftn";
    ROLL = "roll";
    ROUND = "round";
    SCATTER = "scatter"."src";
    SCATTER_REDUCE = "scatter_reduce"."two";
    SEARCHSORTED = "searchsorted"."Tensor";
    SELECT = "select"."int";
    SGN = "sgn";
    SHIFT_LEFT = "bitwise_left_shift"."Tensor";
    SHIFT_RIGHT = "bitwise_right_shift"."Tensor";
    SIN = "sin";
    SOFTPLUS = "softplus";
    SORT = "sort"."stable";
    SQRT = "sqrt";
    SQUEEZE = "squeeze"."dims";
    STACK = "stack";
    STD = "std"."correction";
    SUB = "sub"."Tensor";
    SUM = "sum"."dim_IntList";
    TAKE = "take";
    TANH = "tanh";
    TO_DTYPE = "to"."dtype";
    TO_OTHER = "to"."other";
    TRANSPOSE = "transpose"."int";
    TRIL = "tril";
    TRIU = "triu";
    UNBIND = "unbind"."int";
    UNSQUEEZE = "unsqueeze";
    VAR = "var"."correction";
    VIEW_AS_COMPLEX = "view_as_complex";
    VIEW_AS_REAL = "view_as_real";
    VIEW_DTYPE = "view"."dtype";
    WHERE = "where"."self";
    ZEROS_LIKE = "zeros_like";
}

/// `copy_`, which writes to its argument, so it may be used only for tensors without another handle.
pub static COPY_IN_PLACE: Schema = Schema::in_place("aten::copy_", "");

/// `index_put_`, which writes to its argument, so it may be used only for tensors without another handle.
pub static INDEX_PUT_IN_PLACE: Schema = Schema::in_place("aten::index_put_", "");
