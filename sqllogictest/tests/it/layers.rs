//! A module of the library imports only from its own layer and the layers below.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Top-level modules, lowest layer first.
const LAYERS: [&[&str]; 15] = [
    &["error", "config"],
    &["format"],
    &["storage"],
    &["graph"],
    &["check"],
    &["writer"],
    &["physical"],
    &["table"],
    &["logical"],
    &["planner"],
    &["optimizer"],
    &["sql"],
    &["session"],
    &["sample", "synthetic"],
    &["cli"],
];

/// A file of the library and the path of its module: `["storage", "payload", "csv"]`.
struct Source {
    file: PathBuf,
    module: Vec<String>,
    tokens: Vec<Token>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Token {
    line: usize,
    text: String,
}

/// A path in code that leads to a top-level module.
#[derive(Debug, PartialEq, Eq)]
struct Import {
    line: usize,
    module: String,
}

fn rank(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

#[test]
fn no_module_imports_from_a_layer_above() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../src");
    let sources = read_sources(&root);
    let (modules, test_modules) = declared(&sources);
    let mut faults = Vec::new();
    for module in modules.iter().filter(|module| rank(module).is_none()) {
        faults.push(format!("src: module {module} stands in no layer"));
    }
    for source in &sources {
        let of_tests = test_modules
            .iter()
            .any(|module| source.module.starts_with(module));
        if let (Some(top), false) = (source.module.first(), of_tests) {
            for import in imports(&source.tokens, &source.module) {
                if !modules.contains(&import.module) {
                    continue;
                }
                if rank(&import.module) > rank(top) {
                    let file = Path::new("src").join(source.file.strip_prefix(&root).unwrap());
                    faults.push(format!(
                        "{}:{}: {top} imports {}",
                        file.display(),
                        import.line,
                        import.module
                    ));
                }
            }
        }
    }
    assert!(!sources.is_empty());
    assert!(faults.is_empty(), "upward imports:\n{}", faults.join("\n"));
}

fn read_sources(root: &Path) -> Vec<Source> {
    let (mut sources, mut folders) = (Vec::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let file = entry.unwrap().path();
            if file.is_dir() {
                // A binary is a crate of its own and sees only what is public.
                if file != root.join("bin") {
                    folders.push(file);
                }
            } else if file.extension().is_some_and(|extension| extension == "rs") {
                let tokens = without_tests(&tokens(&fs::read_to_string(&file).unwrap()));
                sources.push(Source {
                    module: module_path(root, &file),
                    file,
                    tokens,
                });
            }
        }
    }
    sources.sort_by(|a, b| a.file.cmp(&b.file));
    sources
}

fn module_path(root: &Path, file: &Path) -> Vec<String> {
    let relative = file.strip_prefix(root).unwrap().with_extension("");
    let mut module: Vec<_> = relative
        .components()
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .collect();
    if module.last().is_some_and(|last| last == "mod") || module == ["lib"] {
        module.pop();
    }
    module
}

/// The top-level modules, and all modules that exist only in tests.
fn declared(sources: &[Source]) -> (BTreeSet<String>, Vec<Vec<String>>) {
    let (mut modules, mut tests) = (BTreeSet::new(), Vec::new());
    for source in sources {
        for window in source.tokens.windows(3) {
            let name = match window {
                [keyword, name, end] if keyword.text == "mod" && end.text == ";" => name,
                _ => continue,
            };
            match name.text.strip_prefix(TEST_ONLY) {
                Some(name) => {
                    let mut module = source.module.clone();
                    module.push(name.to_owned());
                    tests.push(module);
                }
                None if source.module.is_empty() => {
                    modules.insert(name.text.clone());
                }
                None => {}
            }
        }
    }
    (modules, tests)
}

/// All paths that begin at the root of the crate, or at a parent by `super`.
fn imports(tokens: &[Token], module: &[String]) -> Vec<Import> {
    let mut imports = Vec::new();
    // The file's module, then inline modules, each with the depth of braces of its body.
    let (mut path, mut inline, mut depth) = (module.to_vec(), Vec::new(), 0_usize);
    for (at, token) in tokens.iter().enumerate() {
        let text = |offset: usize| {
            tokens
                .get(at + offset)
                .map_or("", |token| token.text.as_str())
        };
        let continues = at > 0 && tokens[at - 1].text == "::";
        match token.text.as_str() {
            "{" => depth += 1,
            "}" => {
                depth = depth.saturating_sub(1);
                if inline.last() == Some(&depth) {
                    inline.pop();
                    path.pop();
                }
            }
            "mod" if text(2) == "{" => {
                path.push(text(1).to_owned());
                inline.push(depth);
            }
            "crate" if text(1) == "::" && !continues => {
                imports.extend(
                    heads(&tokens[at + 2..]).map(|(line, name)| Import { line, module: name }),
                );
            }
            "super"
                if text(1) == "::"
                    && !(continues
                        && matches!(tokens[at.saturating_sub(2)].text.as_str(), "super")) =>
            {
                let mut supers = 1;
                while text(2 * supers) == "super" && text(2 * supers + 1) == "::" {
                    supers += 1;
                }
                match path.len().checked_sub(supers) {
                    Some(0) => {
                        let found = heads(&tokens[at + 2 * supers..]);
                        imports.extend(found.map(|(line, name)| Import { line, module: name }));
                    }
                    Some(_) => imports.push(Import {
                        line: token.line,
                        module: path[0].clone(),
                    }),
                    None => {}
                }
            }
            _ => {}
        }
    }
    imports
}

/// The first names of a path or of a group of paths: `a::b` gives `a`, `{a::{b, c}, d}` gives
/// `a` and `d`.
fn heads(tokens: &[Token]) -> impl Iterator<Item = (usize, String)> {
    let mut heads = Vec::new();
    if tokens.first().is_some_and(|token| token.text == "{") {
        let mut depth = 0;
        for pair in tokens.windows(2) {
            match pair[0].text.as_str() {
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
            if depth == 1 && matches!(pair[0].text.as_str(), "{" | ",") && is_name(&pair[1].text) {
                heads.push((pair[1].line, pair[1].text.clone()));
            }
        }
    } else if let Some(token) = tokens.first().filter(|token| is_name(&token.text)) {
        heads.push((token.line, token.text.clone()));
    }
    heads.into_iter()
}

fn is_name(text: &str) -> bool {
    text.starts_with(|character: char| character.is_alphabetic() || character == '_')
}

/// Marks the name of a module that is declared only for tests.
const TEST_ONLY: &str = "test:";

/// Leaves out what stands under `#[cfg(test)]`; of a module in a file of its own, the
/// declaration stays with a marked name.
fn without_tests(tokens: &[Token]) -> Vec<Token> {
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let text = |offset: usize| {
            tokens
                .get(at + offset)
                .map_or("", |token| token.text.as_str())
        };
        let is_test = ["#", "[", "cfg", "(", "test", ")", "]"]
            .iter()
            .enumerate()
            .all(|(i, part)| text(i) == *part);
        if !is_test {
            kept.push(tokens[at].clone());
            at += 1;
            continue;
        }
        at += 7;
        let begin = at;
        at = item_end(tokens, at);
        let item = &tokens[begin..at];
        let declaration = item.iter().position(|token| token.text == "mod");
        if let (Some(keyword), Some(";")) =
            (declaration, item.last().map(|token| token.text.as_str()))
        {
            let name = &item[keyword + 1];
            let line = name.line;
            for text in ["mod", &format!("{TEST_ONLY}{}", name.text), ";"] {
                kept.push(Token {
                    line,
                    text: text.to_owned(),
                });
            }
        }
    }
    kept
}

/// Behind the item that begins here: its semicolon, or the end of its body.
fn item_end(tokens: &[Token], begin: usize) -> usize {
    let (mut depth, mut is_use) = (0_usize, false);
    for (at, token) in tokens.iter().enumerate().skip(begin) {
        match token.text.as_str() {
            "use" if depth == 0 => is_use = true,
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => {
                depth = depth.saturating_sub(1);
                if depth == 0 && token.text == "}" && !is_use {
                    return at + 1;
                }
            }
            ";" if depth == 0 => return at + 1,
            _ => {}
        }
    }
    tokens.len()
}

/// Names, `::` and single signs, without comments and without what literals hold.
fn tokens(code: &str) -> Vec<Token> {
    let characters: Vec<char> = code.chars().collect();
    let (mut tokens, mut at, mut line) = (Vec::new(), 0, 1);
    while at < characters.len() {
        let begin = at;
        let rest = &characters[at..];
        let name_end = rest
            .iter()
            .position(|c| !(c.is_alphanumeric() || *c == '_'))
            .unwrap_or(rest.len());
        let mut push = |text: String| tokens.push(Token { line, text });
        match rest {
            ['/', '/', ..] => at += rest.iter().position(|c| *c == '\n').unwrap_or(rest.len()),
            ['/', '*', ..] => at += block_comment(rest),
            ['"', ..] => at += string(rest),
            ['r' | 'b' | 'c', ..] if raw_string(rest).is_some() => at += raw_string(rest).unwrap(),
            ['\'', '\\', ..] => at += 3 + rest[3..].iter().position(|c| *c == '\'').unwrap() + 1,
            ['\'', _, '\'', ..] => at += 3,
            [':', ':', ..] => {
                push("::".to_owned());
                at += 2;
            }
            _ if name_end > 0 => {
                push(rest[..name_end].iter().collect());
                at += name_end;
            }
            [sign, ..] => {
                if !sign.is_whitespace() {
                    push(sign.to_string());
                }
                at += 1;
            }
            [] => {}
        }
        line += characters[begin..at].iter().filter(|c| **c == '\n').count();
    }
    tokens
}

fn block_comment(rest: &[char]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        match &rest[at..] {
            ['/', '*', ..] => (depth, at) = (depth + 1, at + 2),
            ['*', '/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

fn string(rest: &[char]) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != '"' {
        at += if rest[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

/// The length of a raw string that begins here.
fn raw_string(rest: &[char]) -> Option<usize> {
    let r = rest.iter().take(2).position(|c| *c == 'r')?;
    let hashes = rest[r + 1..].iter().take_while(|c| **c == '#').count();
    let body = r + 1 + hashes;
    if rest.get(body) != Some(&'"') {
        return None;
    }
    let closes = |at: &usize| {
        rest[*at] == '"'
            && rest[at + 1..]
                .iter()
                .take_while(|c| **c == '#')
                .take(hashes)
                .count()
                == hashes
    };
    (body + 1..rest.len())
        .find(closes)
        .map(|at| at + 1 + hashes)
}

fn found(code: &str, module: &[&str]) -> Vec<(usize, String)> {
    let module: Vec<_> = module.iter().map(|part| (*part).to_owned()).collect();
    let tokens = without_tests(&tokens(code));
    imports(&tokens, &module)
        .into_iter()
        .map(|import| (import.line, import.module))
        .collect()
}

#[test]
fn imports_and_paths_are_found_with_their_line() {
    let code = "use crate::table::VertexTable;\nfn f() {\n    crate::session::g::<crate::format::X>();\n}\n";
    let expected = [
        (1, "table".to_owned()),
        (3, "session".to_owned()),
        (3, "format".to_owned()),
    ];
    assert_eq!(found(code, &["storage"]), expected);
}

#[test]
fn groups_give_each_of_their_modules() {
    let code =
        "pub(crate) use crate::{\n    error::{self, Result},\n    table::x::Y,\n    Z,\n};\n";
    let names: Vec<_> = found(code, &["storage"])
        .into_iter()
        .map(|(_, name)| name)
        .collect();
    assert_eq!(names, ["error", "table", "Z"]);
}

#[test]
fn super_leads_out_of_a_module_or_stays_inside() {
    assert_eq!(
        found("use super::table::X;", &["storage"]),
        [(1, "table".to_owned())]
    );
    assert_eq!(
        found("use super::super::table::X;", &["storage", "csv"]),
        [(1, "table".to_owned())]
    );
    assert_eq!(
        found("use super::{table::X};", &["storage"]),
        [(1, "table".to_owned())]
    );
    assert_eq!(
        found("use super::table::X;", &["storage", "csv"]),
        [(1, "storage".to_owned())]
    );
    assert_eq!(
        found("mod a { use super::super::table::X; }", &["storage"]),
        [(1, "table".to_owned())]
    );
    let behind = "mod a { use super::X; }\nuse super::table::X;";
    assert_eq!(
        found(behind, &["storage"]),
        [(1, "storage".to_owned()), (2, "table".to_owned())]
    );
}

#[test]
fn comments_and_literals_hold_no_code() {
    let code = r##"
// use crate::cli;
/* use crate::cli; /* */ use crate::cli; */
/// [`crate::cli`]
const A: &str = "crate::cli \" crate::cli";
const B: &str = r#"crate::cli " crate::cli"#;
const C: [char; 3] = ['"', '\'', '\u{22}'];
fn f<'a>(a: &'a str) -> crate::format::X<'a> {}
"##;
    assert_eq!(found(code, &["storage"]), [(8, "format".to_owned())]);
}

#[test]
fn tests_may_import_anything() {
    let code = "#[cfg(test)]\nuse crate::{cli, table};\n\
                #[cfg(test)]\nmod tests {\n    use crate::cli;\n    fn f() {}\n}\n\
                #[cfg(test)]\n#[allow(dead_code)]\nfn g(a: [u8; 2]) -> crate::cli::X { h() }\n\
                use crate::error::Result;\n";
    assert_eq!(found(code, &["storage"]), [(11, "error".to_owned())]);
}

#[test]
fn modules_in_files_are_told_from_test_modules() {
    let source = |module: &[&str], code: &str| Source {
        file: PathBuf::new(),
        module: module.iter().map(|part| (*part).to_owned()).collect(),
        tokens: without_tests(&tokens(code)),
    };
    let sources = [
        source(
            &[],
            "//! x\npub mod error;\npub(crate) mod storage;\n#[cfg(test)]\nmod test_util;\n",
        ),
        source(&["storage"], "mod csv;\n#[cfg(test)]\nmod tests;\n"),
    ];
    let (modules, tests) = declared(&sources);
    assert_eq!(
        modules.into_iter().collect::<Vec<_>>(),
        ["error", "storage"]
    );
    assert_eq!(
        tests,
        [
            vec!["test_util".to_owned()],
            vec!["storage".to_owned(), "tests".to_owned()]
        ]
    );
}
