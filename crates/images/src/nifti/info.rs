//! `NiftiInfo`: what the header of a NIfTI image says beside the shape and the dtype.

/// Information of the header of a NIfTI image. [`NiftiReader::info`](crate::NiftiReader::info) returns it, and
/// [`NiftiFiles::save_nifti`](crate::NiftiFiles::save_nifti) writes it.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct NiftiInfo {
    /// The distance of neighbouring elements along each axis, in [`space_unit`](NiftiInfo::space_unit) and
    /// [`time_unit`](NiftiInfo::time_unit) (the fields `pixdim`). If the list is empty or short, `save_nifti` takes the
    /// lengths of the columns of the affine, and 1 for the other axes.
    pub voxel_size: Vec<f64>,
    /// The first three rows of the matrix from indices (i, j, k, 1) to positions (x, y, z): the field `srow` if its
    /// code is positive, otherwise the quaternion if its code is positive, otherwise `None`.
    pub affine: Option<[[f64; 4]; 3]>,
    /// The unit of space: `meter`, `mm` or `micron`, as in `nibabel`.
    pub space_unit: Option<&'static str>,
    /// The unit of time: `sec`, `msec`, `usec`, `hz`, `ppm` or `rads`, as in `nibabel`.
    pub time_unit: Option<&'static str>,
    /// A text of at most 80 bytes.
    pub description: String,
}

impl NiftiInfo {
    /// No information.
    pub fn new() -> NiftiInfo {
        NiftiInfo::default()
    }

    /// Sets the distance of neighbouring elements along each axis.
    pub fn voxel_size(mut self, size: impl Into<Vec<f64>>) -> NiftiInfo {
        self.voxel_size = size.into();
        self
    }

    /// Sets the first three rows of the matrix from indices to positions.
    pub fn affine(mut self, rows: [[f64; 4]; 3]) -> NiftiInfo {
        self.affine = Some(rows);
        self
    }

    /// Sets the unit of space: `meter`, `mm` or `micron`.
    pub fn space_unit(mut self, unit: &'static str) -> NiftiInfo {
        self.space_unit = Some(unit);
        self
    }

    /// Sets the unit of time: `sec`, `msec`, `usec`, `hz`, `ppm` or `rads`.
    pub fn time_unit(mut self, unit: &'static str) -> NiftiInfo {
        self.time_unit = Some(unit);
        self
    }

    /// Sets the description.
    pub fn description(mut self, text: impl Into<String>) -> NiftiInfo {
        self.description = text.into();
        self
    }
}
