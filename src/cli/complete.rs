//! What the tab key offers.

use datafusion::common::HashMap;
use datafusion::prelude::SessionContext;
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer, Word};

use crate::cli::command::all_tables;
use crate::cli::error::ShellError;

/// Words of statements people type; the parser knows hundreds more.
const KEYWORDS: [&str; 62] = [
    "ALL",
    "ANALYZE",
    "AND",
    "AS",
    "ASC",
    "BETWEEN",
    "BY",
    "CASE",
    "CAST",
    "COPY",
    "CREATE",
    "CROSS",
    "DESC",
    "DESCRIBE",
    "DISTINCT",
    "DROP",
    "ELSE",
    "END",
    "EXCEPT",
    "EXISTS",
    "EXPLAIN",
    "EXTERNAL",
    "FALSE",
    "FROM",
    "FULL",
    "GROUP",
    "HAVING",
    "IN",
    "INNER",
    "INSERT",
    "INTERSECT",
    "INTO",
    "IS",
    "JOIN",
    "LATERAL",
    "LEFT",
    "LIKE",
    "LIMIT",
    "LOCATION",
    "NOT",
    "NULL",
    "OFFSET",
    "ON",
    "OR",
    "ORDER",
    "OVER",
    "PARTITION",
    "RECURSIVE",
    "RIGHT",
    "SELECT",
    "SET",
    "SHOW",
    "STORED",
    "TABLE",
    "THEN",
    "TRUE",
    "UNION",
    "USING",
    "VALUES",
    "VIEW",
    "WHEN",
    "WHERE",
];

const COMMANDS: [&str; 5] = ["\\?", "\\d", "\\format", "\\q", "\\timing"];
const FORMATS: [&str; 5] = ["csv", "json", "ndjson", "table", "tsv"];

/// A table with its columns.
#[derive(Debug, Clone)]
struct Table {
    schema: String,
    name: String,
    columns: Vec<String>,
}

/// The names of a session at some moment.
#[derive(Debug, Default)]
pub struct Names {
    default_schema: String,
    tables: Vec<Table>,
}

impl Names {
    /// The names that `context` has now.
    pub async fn of(context: &SessionContext) -> Result<Self, ShellError> {
        let default_schema = {
            let state = context.state_ref();
            let state = state.read();
            state.config_options().catalog.default_schema.clone()
        };
        let tables = all_tables(context).await?.into_iter().map(|listed| {
            let schema = listed.table.schema();
            let columns = schema
                .fields()
                .iter()
                .map(|field| field.name().clone())
                .collect();
            Table {
                schema: listed.schema,
                name: listed.name,
                columns,
            }
        });
        Ok(Self {
            default_schema,
            tables: tables.collect(),
        })
    }

    /// Where the word at `position` starts in `text`, and what it could become.
    pub fn complete(&self, text: &str, position: usize) -> (usize, Vec<String>) {
        let before = text.get(..position).unwrap_or(text);
        let word_start = before.len() - tail(before).len();
        let (before_word, word) = before.split_at(word_start);
        if let Some(command) = before.trim_start().strip_prefix('\\') {
            return self.command(command, before.len(), word_start);
        }
        let mentioned = self.mentioned(text);
        let candidates = match before_word.strip_suffix('.') {
            Some(before_dot) => {
                let qualifier = tail(before_dot.trim_end_matches('"'));
                self.members(qualifier, &mentioned)
            }
            None => self.words(word, &mentioned),
        };
        (word_start, fitting(word, candidates))
    }

    fn command(&self, command: &str, end: usize, word_start: usize) -> (usize, Vec<String>) {
        match command.split_once(char::is_whitespace) {
            None => {
                let typed = format!("\\{command}");
                let commands = COMMANDS
                    .iter()
                    .map(|command| (*command).to_owned())
                    .collect();
                (end - typed.len(), fitting(&typed, commands))
            }
            Some(("d", word)) => {
                let tables = self
                    .in_schema(&self.default_schema)
                    .map(|table| quoted(&table.name));
                (word_start, fitting(word.trim_start(), tables.collect()))
            }
            Some(("format", word)) => {
                let formats = FORMATS.iter().map(|format| (*format).to_owned()).collect();
                (word_start, fitting(word.trim_start(), formats))
            }
            Some(_) => (end, vec![]),
        }
    }

    /// Everything that can stand on its own.
    fn words(&self, word: &str, mentioned: &HashMap<String, Table>) -> Vec<String> {
        let lower = !word.is_empty() && !word.contains(|c: char| c.is_ascii_uppercase());
        let keywords = KEYWORDS.iter().map(|keyword| {
            if lower {
                keyword.to_ascii_lowercase()
            } else {
                (*keyword).to_owned()
            }
        });
        let tables = self
            .in_schema(&self.default_schema)
            .map(|table| quoted(&table.name));
        let schemas = self.tables.iter().map(|table| quoted(&table.schema));
        let columns: Vec<String> = if mentioned.is_empty() {
            let tables = self.in_schema(&self.default_schema);
            tables
                .flat_map(|table| &table.columns)
                .map(|name| quoted(name))
                .collect()
        } else {
            mentioned
                .values()
                .flat_map(|table| &table.columns)
                .map(|name| quoted(name))
                .collect()
        };
        keywords
            .chain(tables)
            .chain(schemas)
            .chain(columns)
            .collect()
    }

    /// What can stand behind `qualifier.`: columns of a table or alias, or tables of a schema.
    fn members(&self, qualifier: &str, mentioned: &HashMap<String, Table>) -> Vec<String> {
        if let Some(table) = mentioned.get(&qualifier.to_lowercase()) {
            return table.columns.iter().map(|name| quoted(name)).collect();
        }
        if let Some(table) = self.find(None, qualifier) {
            return table.columns.iter().map(|name| quoted(name)).collect();
        }
        self.in_schema(qualifier)
            .map(|table| quoted(&table.name))
            .collect()
    }

    fn in_schema(&self, schema: &str) -> impl Iterator<Item = &Table> {
        self.tables
            .iter()
            .filter(move |table| alike(&table.schema, schema))
    }

    fn find(&self, schema: Option<&str>, name: &str) -> Option<&Table> {
        let mut tables = self.in_schema(schema.unwrap_or(&self.default_schema));
        tables.find(|table| alike(&table.name, name))
    }

    /// The tables that a statement names after FROM and the like, by lower-case alias or name.
    fn mentioned(&self, text: &str) -> HashMap<String, Table> {
        let mut tokens = vec![];
        // Half a statement may end inside a string; what came before it counts.
        let _ =
            Tokenizer::new(&GenericDialect {}, text).tokenize_with_location_into_buf(&mut tokens);
        let tokens: Vec<Token> = tokens
            .into_iter()
            .map(|token| token.token)
            .filter(|token| !matches!(token, Token::Whitespace(_)))
            .collect();
        let mut found = HashMap::new();
        for (position, token) in tokens.iter().enumerate() {
            let introduces = match token {
                Token::Comma => true,
                Token::Word(word) => matches!(
                    word.keyword,
                    Keyword::FROM | Keyword::JOIN | Keyword::INTO | Keyword::UPDATE
                ),
                _ => false,
            };
            if introduces && let Some((alias, table)) = self.relation(&tokens[position + 1..]) {
                found.insert(alias.to_lowercase(), table.clone());
            }
        }
        found
    }

    /// The table that these tokens start with, and the name it goes by.
    fn relation(&self, tokens: &[Token]) -> Option<(String, &Table)> {
        let name = |at: usize| match tokens.get(at) {
            Some(Token::Word(word)) => Some(word),
            _ => None,
        };
        let first = name(0)?;
        let (table, next) = match tokens.get(1) {
            Some(Token::Period) => (self.find(Some(&first.value), &name(2)?.value)?, 3),
            _ => (self.find(None, &first.value)?, 1),
        };
        let is_name =
            |word: &&Word| word.quote_style.is_some() || word.keyword == Keyword::NoKeyword;
        let alias = match name(next) {
            Some(word) if word.keyword == Keyword::AS => name(next + 1),
            other => other.filter(is_name),
        };
        Some((
            alias.map_or_else(|| table.name.clone(), |word| word.value.clone()),
            table,
        ))
    }
}

/// The word that `text` ends with.
fn tail(text: &str) -> &str {
    let start = text
        .char_indices()
        .rev()
        .take_while(|(_, c)| c.is_alphanumeric() || matches!(c, '_' | '-'))
        .last()
        .map_or(text.len(), |(start, _)| start);
    &text[start..]
}

fn fitting(word: &str, candidates: Vec<String>) -> Vec<String> {
    let word = word.to_lowercase();
    let mut fitting: Vec<String> = candidates
        .into_iter()
        .filter(|name| {
            name.trim_start_matches('"')
                .to_lowercase()
                .starts_with(&word)
        })
        .collect();
    fitting.sort();
    fitting.dedup();
    fitting
}

fn alike(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

/// A name as it must be written in SQL.
fn quoted(name: &str) -> String {
    let starts_plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if starts_plain && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        name.to_owned()
    } else {
        format!("\"{}\"", name.replace('"', "\"\""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        let table = |schema: &str, name: &str, columns: &[&str]| Table {
            schema: schema.into(),
            name: name.into(),
            columns: columns.iter().map(|name| (*name).to_owned()).collect(),
        };
        Names {
            default_schema: "g".into(),
            tables: vec![
                table("g", "person", &["firstName", "age", "_vertex_id"]),
                table("g", "person_knows-person", &["_src_id", "since"]),
                table("h", "movie", &["title"]),
            ],
        }
    }

    fn complete(text: &str) -> Vec<String> {
        let (start, candidates) = names().complete(text, text.len());
        assert!(text.is_char_boundary(start));
        candidates
    }

    #[test]
    fn columns_follow_an_alias_or_table() {
        assert_eq!(
            complete("SELECT 1 FROM Person AS p WHERE P.f"),
            ["firstName"]
        );
        assert_eq!(complete("SELECT 1 FROM h.movie m WHERE m."), ["title"]);
        assert_eq!(
            complete("SELECT 1 FROM \"person_knows-person\" k WHERE k.si"),
            ["since"]
        );
        assert_eq!(complete("SELECT person.a"), ["age"]);
        assert_eq!(complete("SELECT * FROM h.m"), ["movie"]);
        let text = "SELECT p. FROM person p";
        let offered = names().complete(text, "SELECT p.".len());
        assert_eq!(
            offered,
            (
                9,
                vec!["_vertex_id".into(), "age".into(), "firstName".into()]
            )
        );
    }

    #[test]
    fn words_on_their_own() {
        assert_eq!(complete("SEL"), ["SELECT"]);
        assert_eq!(complete("select * fr"), ["from"]);
        assert_eq!(
            complete("SELECT * FROM pers"),
            ["\"person_knows-person\"", "person"]
        );
        assert_eq!(complete("SELECT * FROM h.movie WHERE ti"), ["title"]);
    }

    #[test]
    fn commands_and_their_arguments() {
        assert_eq!(complete("\\t"), ["\\timing"]);
        assert_eq!(complete("\\format t"), ["table", "tsv"]);
        assert_eq!(complete("\\d per"), ["\"person_knows-person\"", "person"]);
    }
}
