//! Generates the reference page of an op.

use super::*;
use std::fmt::Write;

/// The reference page of a row.
pub fn page(op: &Op, places: &Places, model: &Model) -> String {
    let page = Page { op, places, model };
    let mut s = page.head();
    s += &page.parameters();
    let _ = write!(s, "\n# Returns\n\n{}\n", page.returns());
    let _ = write!(s, "\n# Errors\n\n{}", page.errors());
    let _ = write!(s, "\n# Dtypes and accuracy\n\n{}", page.dtypes());
    let _ = write!(s, "\n# Implementation\n\n{}", page.libraries());
    if let Some(gradients) = page.gradients() {
        let _ = write!(s, "\n# Gradients\n\n{gradients}\n");
    }
    if let Some(waits) = &op.facts.waits {
        let _ =
            writeln!(s, "\nOn a GPU, the call waits for {} bytes from the device: {}.", waits.bytes, text(&waits.why));
    }
    let related = page.related();
    if !related.is_empty() {
        let _ = write!(s, "\n# See also\n\n{related}");
    }
    if !op.example.is_empty() {
        let example = match places.links {
            Links::None => example::visible(&op.example),
            Links::Base | Links::User => example::program(&op.example),
        };
        let _ = write!(s, "\n# Example\n\n{example}");
    }
    s
}

/// The items to which a page may have links.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Links {
    /// All items of the crate `backends` (the facade). Used for the ops of that crate.
    Base,
    /// Only items generated from the user's table. When rustdoc documents a user's crate alone, it does not find the
    /// pages of the crate `backends`.
    User,
    /// No items, because rustdoc does not process the text.
    None,
}

/// The names of the trait and of the modules that contain a row's items.
pub struct Places<'m> {
    /// The trait that has the op's method.
    pub owner: &'m str,
    /// The module of the structs of options.
    pub options: &'m str,
    /// The module of the structs of results.
    pub results: &'m str,
    /// The items to which the page may have links.
    pub links: Links,
    /// The method's signature in Rust.
    pub rust: String,
}

struct Page<'m> {
    op: &'m Op,
    places: &'m Places<'m>,
    model: &'m Model,
}

impl Page<'_> {
    fn link(&self, shown: &str, path: &str) -> String {
        let leads = match self.places.links {
            Links::Base => true,
            Links::User => path.starts_with("super::") || path.starts_with("self::"),
            Links::None => false,
        };
        if leads { format!("[{shown}]({path})") } else { shown.into() }
    }

    /// The op's summary, details, signature and methods.
    fn head(&self) -> String {
        let (op, owner) = (self.op, self.places.owner);
        let mut s = format!("{}\n\n", text(&op.summary));
        if !op.detail.is_empty() {
            let _ = write!(s, "{}\n\n", text(&op.detail));
        }
        let path = |name: &str| self.link(&format!("`{owner}::{name}`"), &format!("super::{owner}::{name}"));
        let _ = write!(s, "```text\n{}\n```\n\nIn Rust, it is the method {}", signature(op), path(&op.name));
        if op.has_options() {
            let _ = write!(s, "; {} sets parameters with defaults", path(&format!("{}_with", op.name)));
        }
        let _ = write!(s, ".\n\n```text\n{}\n```\n\n", self.places.rust);
        s
    }

    fn parameters(&self) -> String {
        let op = self.op;
        let mut s = String::new();
        for p in &op.params {
            let _ = write!(s, "- `{}`: {}", p.name, self.kind(&p.kind));
            if p.default.is_some() {
                let (options, name) = (self.places.options, format!("{}Options", op.camel()));
                let setter =
                    self.link(&format!("`{name}::{}`", p.name), &format!("super::{options}::{name}::{}", p.name));
                let _ = write!(s, "; default `{}`, set by {setter}", p.default_text);
            }
            s.push('\n');
        }
        if s.is_empty() { s } else { format!("# Parameters\n\n{s}") }
    }

    fn kind(&self, kind: &Kind) -> String {
        let text = match kind.link() {
            Some((part, path)) => kind.describe().replacen(&part, &self.link(&part, &path), 1),
            None => kind.describe(),
        };
        let is_input = matches!(kind, Kind::Array(_) | Kind::Operand(..));
        if is_input && self.broadcasts() { format!("{text}, broadcast with the other inputs") } else { text }
    }

    fn is_each(&self) -> bool {
        self.op.maps.values().any(|map| matches!(map, Map::Each { .. }))
    }

    fn broadcasts(&self) -> bool {
        self.op.inputs().count() > 1 && self.is_each()
    }

    fn returns(&self) -> String {
        let op = self.op;
        if !op.reference.returns.is_empty() {
            return text(&op.reference.returns);
        }
        let has = |name: &str| op.param(name).is_some();
        let inputs: Vec<String> = op.inputs().map(|p| format!("`{}`", p.name)).collect();
        let shape = if self.is_each() {
            match &inputs[..] {
                [x] => format!(" with the shape of {x}"),
                _ => format!(" with the shape to which {} broadcast", inputs.join(" and ")),
            }
        } else if has("keepdims") {
            " without the reduced axes; with `keepdims`, these axes stay, with length 1".into()
        } else if matches!(op.params.first().map(|p| &p.kind), Some(Kind::Shape)) {
            format!(" of shape `{}`", op.params[0].name)
        } else {
            String::new()
        };
        if let Some(target) = op.target() {
            return format!(
                "Nothing, because the op changes `{}`. A call by name changes no argument, and returns the result.",
                target.name
            );
        }
        match &op.result {
            Out::One(e) => format!("An array{}{shape}.", e.describe()),
            Out::List(e) => format!("A list of arrays{}.", e.describe()),
            Out::Fields(fields) => {
                let (results, name) = (self.places.results, format!("{}Result", op.camel()));
                let fields = fields.iter().map(|f| format!("`{}`, an array{}", f.name, f.elem.describe()));
                let fields: Vec<String> = fields.collect();
                let result = self.link(&format!("`{name}`"), &format!("super::{results}::{name}"));
                format!("{result}: {}.", fields.join("; "))
            }
            Out::Plain(t) => format!("A `{}`. The op waits until its value is known.", t.name()),
        }
    }

    /// The inputs that have gradients, and the reasons why other inputs have no gradient; `None` for rows without float
    /// dtypes.
    fn gradients(&self) -> Option<String> {
        let inputs: Vec<&str> = self.op.differentiable().map(|p| p.name.as_str()).collect();
        let named = |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        match &self.op.gradient {
            Gradient::OfParts => Some("The gradients of the ops of which this op is composed.".into()),
            Gradient::None(why) if !why.is_empty() => Some(format!("None: {}.", text(why))),
            Gradient::Rules(rules) => {
                let rule = |name: &str| rules.iter().find(|rule| rule.input == name).map(|rule| &rule.function);
                let has: Vec<&str> = inputs.iter().copied().filter(|name| matches!(rule(name), Some(Ok(_)))).collect();
                let mut s = match &has[..] {
                    [] if rules.is_empty() => "Zero, because the result is piecewise constant.".into(),
                    [] => String::new(),
                    has => format!("With respect to {}.", named(has)),
                };
                for name in inputs {
                    if let Some(Err(why)) = rule(name) {
                        let _ = write!(s, " None with respect to `{name}`: {}.", text(why));
                    }
                }
                Some(s.trim().into()).filter(|s: &String| !s.is_empty())
            }
            Gradient::Unsaid | Gradient::Said(_) | Gradient::None(_) => None,
        }
    }

    /// The errors that the row lists, and the errors that follow from its parameters.
    fn errors(&self) -> String {
        let op = self.op;
        let mut all: Vec<(&str, String)> =
            op.reference.errors.iter().map(|(variant, when)| (variant.as_str(), text(when))).collect();
        let named = |wanted: &dyn Fn(&Kind) -> bool| {
            let names = op.params.iter().filter(|p| wanted(&p.kind)).map(|p| format!("`{}`", p.name));
            let names: Vec<String> = names.collect();
            (!names.is_empty()).then(|| names.join(", "))
        };
        if self.broadcasts() {
            let names: Vec<String> = op.inputs().map(|p| format!("`{}`", p.name)).collect();
            all.push(("Shapes", format!("the shapes of {} do not broadcast", names.join(" and "))));
        }
        if let Some(names) = named(&|kind| matches!(kind, Kind::Axes | Kind::Axis | Kind::AxisOrAll)) {
            all.push(("Axis", format!("{names} names an axis that does not exist")));
        }
        let is_said = all.iter().any(|(variant, _)| *variant == "RepeatedAxis");
        if let Some(names) = named(&|kind| matches!(kind, Kind::Axes)).filter(|_| !is_said) {
            all.push(("RepeatedAxis", format!("{names} names an axis twice")));
        }
        if let Some(names) = named(&|kind| matches!(kind, Kind::Slices)) {
            all.push(("Index", format!("a single index in {names} is outside its axis")));
            all.push(("Shape", format!("{names} has more entries than the array has axes")));
            all.push(("Argument", format!("the step of a slice in {names} is 0")));
        }
        if let Some(names) = named(&|kind| matches!(kind, Kind::Index)) {
            all.push(("Index", format!("a single index in {names}, or an index in an array, is outside its axis")));
            all.push((
                "Shape",
                format!("{names} has more entries than the array has axes, or a mask with the wrong shape"),
            ));
            all.push(("Shapes", format!("the arrays of {names} do not broadcast")));
            all.push(("Argument", format!("the step of a slice in {names} is 0, or `...` occurs twice")));
        }
        let mut s = String::new();
        // an empty text in the table states that this error does not occur
        for (variant, when) in all.iter().filter(|(_, when)| !when.is_empty()) {
            let _ = writeln!(s, "- {}: {when}.", self.variant(variant));
        }
        let any = ["Memory", "Library", "Unsupported", "Backend", "Device"].map(|variant| self.variant(variant));
        let [memory, library, unsupported, backend, device] = any;
        let _ = writeln!(
            s,
            "- The errors of every op: {memory} if the result does not fit into memory, {backend} or {device} for an \
             array of another backend or device, {unsupported} on a backend without the op, {library} for an error of \
             a library."
        );
        s
    }

    fn variant(&self, variant: &str) -> String {
        self.link(&format!("`{variant}`"), &format!("crate::Error::{variant}"))
    }

    fn dtypes(&self) -> String {
        let (op, model) = (self.op, self.model);
        let mut s = format!("- `T`: {}\n", self.set(&op.set));
        if let Some(second) = &op.second_set {
            let _ = writeln!(s, "- `U`: {}", self.set(second));
        }
        if let Some(accuracy) = model.accuracies.iter().find(|a| a.name == op.accuracy) {
            let _ = write!(s, "- Accuracy: {}", accuracy.summary);
            for (dtype, ulp) in &op.ulp {
                let _ = write!(s, "; {dtype}: {ulp} ulp");
            }
            if !op.reason.is_empty() {
                let _ = write!(s, " ({})", text(&op.reason));
            }
            s.push('\n');
        }
        s
    }

    /// Describes a set of dtypes by its bound for generic code and its members.
    fn set(&self, name: &str) -> String {
        let Some(set) = self.model.set(name) else {
            return name.into();
        };
        let (root, bound) = match set.is_narrower {
            true if set.own => ("super", camel(&set.name)),
            true => ("crate", camel(&set.name)),
            false => ("crate", set.bound.clone()),
        };
        let bound = self.link(&format!("`{bound}`"), &format!("{root}::{bound}"));
        format!("{bound}: {}", set.dtypes.join(", "))
    }

    fn libraries(&self) -> String {
        let op = self.op;
        let mut s = String::from("| backend | implementation |\n|---|---|\n");
        for backend in &self.model.backends {
            if let Some(runs) = op.runs(backend) {
                let _ = writeln!(s, "| {} | {} |", backend.ty, cell(&runs));
            }
        }
        let table = if op.group.is_empty() { "the crate's op table" } else { "`ops.toml`" };
        let _ = write!(s, "\nThe row `[op.{}]` of {table}, line {}, defines the op.\n", op.name, op.line);
        let also = self.also();
        if !also.is_empty() {
            let _ = write!(s, "\nIn other libraries: {}.\n", also.join(", "));
        }
        s
    }

    /// The related ops, one line for each list that has the op.
    fn related(&self) -> String {
        let mut s = String::new();
        for (name, ops) in self.model.related_to(self.op) {
            let link = |op: &Op| {
                let shown = format!("`{}`", op.name);
                if op.own { self.link(&shown, &format!("self::{}", op.name)) } else { shown }
            };
            let ops: Vec<String> = ops.into_iter().map(link).collect();
            let _ = writeln!(s, "- {}: {}", text(name), ops.join(", "));
        }
        s
    }

    /// The names of the op in NumPy, CuPy and PyTorch.
    fn also(&self) -> Vec<String> {
        let op = self.op;
        let given = |library: &str| op.reference.also.iter().any(|name| name.starts_with(library));
        let mut names = Vec::new();
        for library in ["numpy", "cupy"] {
            if !op.numpy.is_empty() && !given(&format!("{library}.")) {
                names.push(format!("{library}.{}", op.numpy));
            }
        }
        names.extend(op.reference.also.iter().cloned());
        let aten = op.maps.values().find_map(|map| match map {
            Map::Aten(aten) => Some(aten.python_name()),
            _ => None,
        });
        names.extend(aten.filter(|_| !given("torch.")));
        names.iter().map(|name| format!("`{name}`")).collect()
    }
}
