//! Removes rows and mappings for which no code can be generated, because the table has mistakes.

use crate::{
    expr::compose,
    model::{Elem, Map, Model},
};
use std::collections::BTreeSet;

impl Model {
    /// Removes rows and mappings for which no code can be generated, because the table has mistakes. Other rows with a
    /// mistake keep their methods but lose their mappings; compositions that call a removed row are removed, too.
    pub fn keep_what_is_right(&mut self) {
        let (broken, sets) = (&self.broken, &self.sets);
        let has_set = |name: &str| sets.iter().any(|s| s.name == name && !s.dtypes.is_empty());
        let groups = &self.groups;
        let has_group = |name: &str| name.is_empty() || groups.iter().any(|g| g.name == name);
        self.ops.retain(|op| {
            let elems = op.result.elems();
            let has_dtypes = has_set(&op.set) && (op.second.is_some() || !elems.contains(&Elem::U));
            // a clashing name would cause a second error in the generated code
            let clashes = self.clashing.contains(&op.name);
            op.params_are_whole && has_dtypes && has_group(&op.group) && !clashes
        });
        self.ops.iter_mut().filter(|op| broken.contains(&op.name)).for_each(|op| op.maps.clear());
        let names: BTreeSet<String> = self.ops.iter().map(|op| op.name.clone()).collect();
        for op in &mut self.ops {
            op.maps.retain(|_, map| match map {
                Map::Compose(form) => compose::calls(&form.expr).iter().all(|call| names.contains(&call.text)),
                _ => true,
            });
        }
    }
}
