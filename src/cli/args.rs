//! The command line, from words to what the shell is asked to do.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{ArgAction, ArgMatches, CommandFactory, FromArgMatches, Parser};

use crate::cli::output::Format;

/// Where the statements of a script come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The text of a `-c`.
    Command(String),
    /// The file of a `-f`; `-` is standard input.
    File(PathBuf),
}

/// A graph to open, and the schema it becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Archive {
    /// The schema.
    pub name: String,
    /// A path or URL.
    pub location: String,
}

/// A command line that has been understood.
#[derive(Debug)]
pub struct Args {
    /// The graphs, in the order given, under distinct names.
    pub archives: Vec<Archive>,
    /// Whether the built-in sample graph is wanted.
    pub sample: bool,
    /// Statements to run, in the order given; empty means standard input.
    pub sources: Vec<Source>,
    /// How results are written.
    pub format: Format,
    /// Partitions per query and worker threads.
    pub threads: Option<NonZeroUsize>,
    /// Most bytes that operators may hold.
    pub memory_limit: Option<usize>,
    /// Whether the prompt goes without greeting and row counts.
    pub quiet: bool,
}

/// SQL over Apache GraphAr archives.
///
/// Each archive becomes a schema with one table per vertex type and per edge type. The first one
/// is the default schema, so its tables need no prefix. Without -c and -f, statements are read
/// from standard input; on a terminal that is an interactive prompt.
#[derive(Debug, Parser)]
#[command(name = "graphar-sql", version, max_term_width = 100)]
struct Words {
    /// Path or URL of a .graph.yml, of a directory with one, or of a .vertex.yml or .edge.yml
    #[arg(value_name = "[NAME=]ARCHIVE")]
    archives: Vec<String>,

    /// Run these statements and exit; may be repeated and mixed with -f
    #[arg(
        short = 'c', long = "command", value_name = "SQL", action = ArgAction::Append,
        allow_hyphen_values = true
    )]
    commands: Vec<String>,

    /// Run the statements of this file and exit; - is standard input
    #[arg(short = 'f', long = "file", value_name = "FILE", action = ArgAction::Append)]
    files: Vec<PathBuf>,

    /// How results are written
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,

    /// Open the built-in sample graph as schema "sample"
    #[arg(long)]
    sample: bool,

    /// Partitions per query and worker threads [default: one per processor]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,

    /// Most memory that queries may hold, such as 512M or 2G; larger sorts and joins spill to disk
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    memory_limit: Option<usize>,

    /// No greeting and no row counts at the prompt
    #[arg(short, long)]
    quiet: bool,
}

impl Args {
    /// Reads a command line, program name first.
    pub fn parse<I, T>(words: I) -> Result<Self, clap::Error>
    where
        I: IntoIterator<Item = T>,
        T: Into<OsString> + Clone,
    {
        let mut command = Words::command();
        let matches = command.try_get_matches_from_mut(words)?;
        let words = Words::from_arg_matches(&matches)?;
        let sources = in_order(&matches, &words);
        let archives = name_archives(&words.archives, words.sample)
            .map_err(|message| command.error(ErrorKind::ArgumentConflict, message))?;
        Ok(Self {
            archives,
            sample: words.sample,
            sources,
            format: words.format,
            threads: words.threads,
            memory_limit: words.memory_limit,
            quiet: words.quiet,
        })
    }
}

/// `-c` and `-f` mixed as they stand on the command line, which clap keeps apart.
fn in_order(matches: &ArgMatches, words: &Words) -> Vec<Source> {
    let commands = matches.indices_of("commands").into_iter().flatten();
    let files = matches.indices_of("files").into_iter().flatten();
    let mut sources: Vec<(usize, Source)> = commands
        .zip(words.commands.iter().cloned().map(Source::Command))
        .chain(files.zip(words.files.iter().cloned().map(Source::File)))
        .collect();
    sources.sort_by_key(|(position, _)| *position);
    sources.into_iter().map(|(_, source)| source).collect()
}

/// Schemas that DataFusion itself has.
const TAKEN: [&str; 2] = ["public", "information_schema"];

/// Gives every archive its schema; names are compared without case, because unquoted SQL names are.
fn name_archives(words: &[String], sample: bool) -> Result<Vec<Archive>, String> {
    let mut taken: Vec<String> = TAKEN.iter().map(|name| (*name).to_owned()).collect();
    if sample {
        taken.push("sample".to_owned());
    }
    let explicit = |word: &str| -> Option<(String, String)> {
        let (name, location) = word.split_once('=')?;
        let plain = !name.is_empty() && !name.contains(['/', '\\', ':', '.']);
        plain.then(|| (name.to_owned(), location.to_owned()))
    };
    for (name, _) in words.iter().filter_map(|word| explicit(word)) {
        if taken.contains(&name.to_lowercase()) {
            return Err(format!(
                "the schema name '{name}' is used twice or reserved"
            ));
        }
        taken.push(name.to_lowercase());
    }
    let mut archives = Vec::with_capacity(words.len());
    for word in words {
        let (name, location) = explicit(word).unwrap_or_else(|| {
            let stem = stem(word);
            let mut name = stem.clone();
            let mut number = 2;
            while taken.contains(&name.to_lowercase()) {
                name = format!("{stem}_{number}");
                number += 1;
            }
            taken.push(name.to_lowercase());
            (name, word.clone())
        });
        archives.push(Archive { name, location });
    }
    Ok(archives)
}

/// The schema name that a location suggests.
fn stem(location: &str) -> String {
    let path = location.split(['?', '#']).next().unwrap_or(location);
    let last = path
        .trim_end_matches(['/', '\\'])
        .rsplit(['/', '\\', ':'])
        .next();
    let last = match last {
        Some("." | ".." | "") | None => Path::new(location)
            .canonicalize()
            .ok()
            .and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
            .unwrap_or_default(),
        Some(last) => last.to_owned(),
    };
    let endings = [
        ".graph.yml",
        ".graph.yaml",
        ".vertex.yml",
        ".vertex.yaml",
        ".edge.yml",
        ".edge.yaml",
        ".yml",
        ".yaml",
    ];
    let stem = endings
        .iter()
        .find_map(|ending| last.strip_suffix(ending))
        .unwrap_or(&last);
    if stem.is_empty() {
        "graph".to_owned()
    } else {
        stem.to_owned()
    }
}

/// Reads a number of bytes with an optional binary unit.
fn parse_size(text: &str) -> Result<usize, String> {
    let hint = || format!("'{text}' is not a size; write a number with K, M, G or T, such as 512M");
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit: u32 = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "K" | "KB" | "KIB" => 10,
        "M" | "MB" | "MIB" => 20,
        "G" | "GB" | "GIB" => 30,
        "T" | "TB" | "TIB" => 40,
        _ => return Err(hint()),
    };
    let number: usize = digits.trim().parse().map_err(|_| hint())?;
    if number == 0 {
        return Err("a memory limit of zero lets no query run".to_owned());
    }
    number
        .checked_mul(1 << unit)
        .ok_or_else(|| format!("'{text}' is more than this machine can address"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Args {
        Args::parse(std::iter::once(&"graphar-sql").chain(words)).unwrap()
    }

    fn named(words: &[&str]) -> Vec<String> {
        parse(words)
            .archives
            .into_iter()
            .map(|archive| archive.name)
            .collect()
    }

    #[test]
    fn commands_and_files_keep_their_order() {
        let args = parse(&["-c", "a", "-f", "b.sql", "-c", "-- c"]);
        assert_eq!(
            args.sources,
            [
                Source::Command("a".into()),
                Source::File("b.sql".into()),
                Source::Command("-- c".into())
            ]
        );
    }

    #[test]
    fn names_come_from_the_location() {
        let words = [
            "x/Ldbc.graph.yml",
            "s3://b/movies/",
            "person.vertex.yml",
            "g=a/b=c.graph.yml",
        ];
        assert_eq!(named(&words), ["Ldbc", "movies", "person", "g"]);
        assert_eq!(named(&["a/ldbc.graph.yml", "b/LDBC"]), ["ldbc", "LDBC_2"]);
        assert_eq!(
            named(&["a/public", "--sample", "b/sample"]),
            ["public_2", "sample_2"]
        );
        assert_eq!(named(&["/"]), ["graph"]);
        assert_eq!(
            parse(&["dir/a=b.graph.yml"]).archives[0].location,
            "dir/a=b.graph.yml"
        );
    }

    #[test]
    fn an_explicit_name_is_given_once() {
        let error = Args::parse(["graphar-sql", "g=a", "G=b"])
            .unwrap_err()
            .to_string();
        assert!(error.contains("'G' is used twice"), "{error}");
    }

    #[test]
    fn sizes() {
        for (text, size) in [
            ("64K", 65_536),
            ("1m", 1 << 20),
            ("2GiB", 2 << 30),
            ("17", 17),
        ] {
            assert_eq!(parse_size(text), Ok(size), "{text}");
        }
        for text in [
            "",
            "M",
            "-1M",
            "1.5G",
            "12 apples",
            "1Q",
            "0",
            "99999999999T",
        ] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }
}
