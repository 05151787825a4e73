//! The matrix from the indices of a voxel to its position.

/// The matrix of the quaternion (b, c, d) and the offset of the header. `size` has the field `pixdim[0]`, whose sign is
/// that of the third axis, and the voxel size along three axes.
pub fn of_quaternion([b, c, d]: [f64; 3], offset: [f64; 3], size: [f64; 4]) -> [[f64; 4]; 3] {
    let rest = 1.0 - (b * b + c * c + d * d);
    // rounding may make the vector longer than 1, so it is a half turn
    let (a, [b, c, d]) = match rest > 1e-7 {
        true => (rest.sqrt(), [b, c, d]),
        false => {
            let length = (b * b + c * c + d * d).sqrt();
            (0.0, [b / length, c / length, d / length])
        }
    };
    let rotation = [
        [a * a + b * b - c * c - d * d, 2.0 * (b * c - a * d), 2.0 * (b * d + a * c)],
        [2.0 * (b * c + a * d), a * a + c * c - b * b - d * d, 2.0 * (c * d - a * b)],
        [2.0 * (b * d - a * c), 2.0 * (c * d + a * b), a * a + d * d - b * b - c * c],
    ];
    let sign = if size[0] < 0.0 { -1.0 } else { 1.0 };
    let scale = [size[1], size[2], size[3] * sign];
    [0, 1, 2].map(|row| {
        let [x, y, z] = [0, 1, 2].map(|column| rotation[row][column] * scale[column]);
        [x, y, z, offset[row]]
    })
}

/// The lengths of the columns of the matrix, which are the voxel size along three axes.
pub fn sizes(rows: &[[f64; 4]; 3]) -> [f64; 3] {
    [0, 1, 2].map(|k| rows.iter().map(|row| row[k] * row[k]).sum::<f64>().sqrt())
}
