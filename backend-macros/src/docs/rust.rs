//! Formats a method's signature as Rust code, without the paths of types.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// Maximum length of a signature that is written on one line.
const LINE: usize = 100;

/// Formats `fn name<..>(&self, ..) -> ..`, with one parameter per line if the signature is long.
pub fn signature(tokens: TokenStream) -> String {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let line = flat(&tokens);
    if line.len() <= LINE {
        return line;
    }
    let is_list = |token: &TokenTree| matches!(token, TokenTree::Group(g) if g.delimiter() == Delimiter::Parenthesis);
    let Some(list) = tokens.iter().position(is_list) else { return line };
    let TokenTree::Group(group) = &tokens[list] else { return line };
    let params: Vec<TokenTree> = group.stream().into_iter().collect();
    let mut depth = 0;
    let params = params.split(|token| {
        depth += change_of_depth(token);
        depth == 0 && is_punct(token, ',')
    });
    let params: String = params.map(|param| format!("    {},\n", flat(param))).collect();
    format!("{}(\n{params}){}", flat(&tokens[..list]), flat(&tokens[list + 1..]))
}

/// Formats tokens on one line.
fn flat(tokens: &[TokenTree]) -> String {
    let mut line = String::new();
    let mut i = 0;
    while let Some(token) = tokens.get(i) {
        // skips the module names of a path: `a::` in `a::b`, and `::` in `::a`
        let is_path = |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == ':' && p.spacing() == Spacing::Joint);
        if is_path(i) && !line.ends_with('>') && !line.ends_with("Self") {
            i += 2;
            continue;
        }
        match token {
            TokenTree::Ident(name) if is_path(i + 1) && name != "Self" => i += 3,
            TokenTree::Ident(name) => {
                if line.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
                    line.push(' ');
                }
                line += &name.to_string();
                i += 1;
            }
            TokenTree::Punct(punct) => {
                let is_joint = punct.spacing() == Spacing::Joint;
                match punct.as_char() {
                    ':' if is_path(i) => {
                        line += "::";
                        i += 1;
                    }
                    ':' => line += ": ",
                    ',' => line += ", ",
                    '+' => line += " + ",
                    '=' => line += " = ",
                    '-' if is_joint => {
                        line += " -> ";
                        i += 1;
                    }
                    '\'' if line.ends_with(|c: char| c.is_alphanumeric()) => line += " '",
                    other => line.push(other),
                }
                i += 1;
            }
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::None => ("", ""),
                };
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                line = line + open + &flat(&inner) + close;
                i += 1;
            }
            TokenTree::Literal(literal) => {
                line += &literal.to_string();
                i += 1;
            }
        }
    }
    line.trim_end_matches(", ").replace(", >", ">")
}

fn is_punct(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == wanted)
}

/// Returns the change of the nesting depth in angle brackets at a token: 1 for `<`, -1 for `>`, otherwise 0. The `>` of
/// `->` counts as well, so the tokens must not contain `->`.
fn change_of_depth(token: &TokenTree) -> i32 {
    i32::from(is_punct(token, '<')) - i32::from(is_punct(token, '>'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::quote;

    #[test]
    fn a_signature_has_no_paths() {
        let long = quote!(fn exp<'a, T: crate::runtime::Float,>(&self, x: impl crate::runtime::IntoArray<'a, Self::Array<T>>, axis: impl Into<crate::Axes>) -> crate::runtime::Result<Self::Array<T>>);
        assert_eq!(
            signature(long),
            "fn exp<'a, T: Float>(\n    &self,\n    x: impl IntoArray<'a, Self::Array<T>>,\n    axis: impl Into<Axes>,\n) -> \
             Result<Self::Array<T>>"
        );
        let plain = quote!(fn eye<T: Element>(&self, n: ::core::primitive::usize, of: &[(&str, <T as Float>::Real)]) -> Option<(T, U)>);
        assert_eq!(
            signature(plain),
            "fn eye<T: Element>(&self, n: usize, of: &[(&str, <T as Float>::Real)]) -> Option<(T, U)>"
        );
        assert_eq!(signature(quote!(fn r#where<T: A + B>(&'a self))), "fn r#where<T: A + B>(&'a self)");
    }
}
