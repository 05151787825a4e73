//! Lists of related ops. The page of each op links to the other ops of its lists.

use crate::{
    model::{Model, Op},
    report::{Report, SourceFile, did_you_mean},
};

impl Model {
    /// The ops that tables list as related to an op, with the descriptions of the lists.
    pub fn related_to<'m>(&'m self, op: &'m Op) -> impl Iterator<Item = (&'m str, Vec<&'m Op>)> {
        let lists = self.related.iter().filter(|list| list.ops.iter().any(|name| name.text == op.name));
        lists.map(|list| {
            let others = list.ops.iter().filter(|name| name.text != op.name);
            (list.name.as_str(), others.filter_map(|name| self.op(&name.text)).collect())
        })
    }
}

/// Reports names in lists of related ops that are not the names of ops, or that occur twice in a list. Does nothing if
/// the table has other mistakes, because a row with a mistake may be missing from the model.
pub(crate) fn check(source: &SourceFile, model: &Model, report: &mut Report) {
    if !report.is_empty() {
        return;
    }
    for list in model.related.iter().filter(|list| list.own) {
        for (i, name) in list.ops.iter().enumerate() {
            let (text, shown) = (&name.text, name.text.escape_debug());
            if list.ops[..i].iter().any(|other| other.text == *text) {
                report.at(source, name.span.clone(), format!("`{shown}` is listed twice"), None);
            } else if model.op(text).is_none() && !model.broken.contains(text) {
                let help = did_you_mean(text, model.ops.iter().map(|op| op.name.as_str()));
                report.at(source, name.span.clone(), format!("`{shown}` is not an op"), help);
            }
        }
    }
}
