//! `MrcInfo`: what the header of an MRC file says beside the shape and the dtype.

/// Information of the header of an MRC file. [`MrcReader::info`](crate::MrcReader::info) returns it, and
/// [`MrcFiles::save_mrc`](crate::MrcFiles::save_mrc) writes it. Lists of three numbers are in the order of the axes of
/// the array: sections, rows, columns.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MrcInfo {
    /// The distances of neighbouring voxels along the axes of the array, in ångström; `None` if the header has none.
    pub voxel_size: Option<[f64; 3]>,
    /// The position of the origin along the axes of the array, in ångström (the fields `ORIGIN`).
    pub origin: [f64; 3],
    /// The index of the first voxel in the unit cell, along the axes of the array (the fields `NXSTART` to `NZSTART`).
    pub start: [i32; 3],
    /// The axes of the unit cell to which the axes of the array belong: `['z', 'y', 'x']` in most files (the fields
    /// `MAPC`, `MAPR`, `MAPS`).
    pub axes: [char; 3],
    /// The space group: 0 for a stack of images, 1 for a volume, 401 and more for a stack of volumes. `None` makes
    /// `save_mrc` choose the number by the shape.
    pub space_group: Option<i32>,
    /// At most ten lines of text, of at most 80 characters each.
    pub labels: Vec<String>,
}

impl Default for MrcInfo {
    fn default() -> MrcInfo {
        MrcInfo {
            voxel_size: None,
            origin: [0.0; 3],
            start: [0; 3],
            axes: ['z', 'y', 'x'],
            space_group: None,
            labels: Vec::new(),
        }
    }
}

impl MrcInfo {
    /// No information: `voxel_size` is `None`, the origin is zero, and there are no labels.
    pub fn new() -> MrcInfo {
        MrcInfo::default()
    }

    /// Sets the voxel size along (sections, rows, columns), in ångström.
    pub fn voxel_size(mut self, size: [f64; 3]) -> MrcInfo {
        self.voxel_size = Some(size);
        self
    }

    /// Sets the origin along (sections, rows, columns), in ångström.
    pub fn origin(mut self, origin: [f64; 3]) -> MrcInfo {
        self.origin = origin;
        self
    }

    /// Sets the index of the first voxel along (sections, rows, columns).
    pub fn start(mut self, start: [i32; 3]) -> MrcInfo {
        self.start = start;
        self
    }

    /// Sets the space group.
    pub fn space_group(mut self, number: i32) -> MrcInfo {
        self.space_group = Some(number);
        self
    }

    /// Adds a line of text.
    pub fn label(mut self, text: impl Into<String>) -> MrcInfo {
        self.labels.push(text.into());
        self
    }
}
