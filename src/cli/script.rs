//! Cuts a text into statements and backslash commands, with the line each starts on.

use datafusion::sql::sqlparser::dialect::Dialect;
use datafusion::sql::sqlparser::tokenizer::{
    Location, Span, Token, TokenWithSpan, Tokenizer, TokenizerError,
};

/// One thing to do.
#[derive(Debug, PartialEq)]
pub struct Piece {
    /// Line of its first token, from 1.
    pub line: u64,
    /// What to do.
    pub work: Work,
}

/// What a piece of a script asks for.
#[derive(Debug, PartialEq)]
pub enum Work {
    /// Tokens of one statement, without its semicolon, placed as in the whole text.
    Statement(Vec<TokenWithSpan>),
    /// A line that starts with a backslash, without it.
    Command(String),
    /// Text that has no tokens, such as a string that never ends.
    Malformed(String),
}

/// A text that has been cut.
#[derive(Debug)]
pub struct Script {
    /// The pieces in order.
    pub pieces: Vec<Piece>,
    /// Whether nothing is missing at the end: the last statement has its semicolon.
    pub complete: bool,
}

impl Script {
    /// Cuts `text`. A line that starts with a backslash between two statements is a command.
    pub fn cut(text: &str, dialect: &dyn Dialect) -> Self {
        let mut script = Self {
            pieces: vec![],
            complete: true,
        };
        let mut rest = text;
        let mut first_line = 0;
        // Tokens of the text behind a command mean nothing until the command is cut off.
        while let Some((tail, lines)) = script.cut_until_command(rest, first_line, dialect) {
            rest = tail;
            first_line += lines;
        }
        script
    }

    /// Cuts up to and including the first command; returns what follows, and the lines before it.
    fn cut_until_command<'t>(
        &mut self,
        text: &'t str,
        first_line: u64,
        dialect: &dyn Dialect,
    ) -> Option<(&'t str, u64)> {
        let mut tokens = vec![];
        let ended = Tokenizer::new(dialect, text).tokenize_with_location_into_buf(&mut tokens);
        let mut statement: Vec<TokenWithSpan> = vec![];
        let mut line_is_blank = true;
        for token in tokens {
            let here = token.span.start;
            match &token.token {
                Token::Whitespace(space) => {
                    line_is_blank |= space.to_string().contains('\n');
                    continue;
                }
                Token::SemiColon => self.push_statement(std::mem::take(&mut statement)),
                Token::Backslash if statement.is_empty() && line_is_blank => {
                    let (command, tail) = line_at(text, here.line);
                    let line = first_line + here.line;
                    let work = Work::Command(command.trim().trim_start_matches('\\').to_owned());
                    self.pieces.push(Piece { line, work });
                    return Some((tail, here.line));
                }
                _ => statement.push(shift(token, first_line)),
            }
            line_is_blank = false;
        }
        self.complete = statement.is_empty() && ended.is_ok();
        match ended {
            Ok(()) => self.push_statement(statement),
            Err(error) => self.push_malformed(&statement, &error, first_line),
        }
        None
    }

    fn push_statement(&mut self, tokens: Vec<TokenWithSpan>) {
        if let Some(first) = tokens.first() {
            let line = first.span.start.line;
            self.pieces.push(Piece {
                line,
                work: Work::Statement(tokens),
            });
        }
    }

    fn push_malformed(
        &mut self,
        statement: &[TokenWithSpan],
        error: &TokenizerError,
        first_line: u64,
    ) {
        let at = move_down(error.location, first_line);
        let line = statement
            .first()
            .map_or(at.line, |first| first.span.start.line);
        let message = format!(
            "{} at Line: {}, Column: {}",
            error.message, at.line, at.column
        );
        self.pieces.push(Piece {
            line,
            work: Work::Malformed(message),
        });
    }
}

/// Line `number` (from 1) of `text`, and the text after it.
fn line_at(text: &str, number: u64) -> (&str, &str) {
    let mut rest = text;
    for _ in 1..number {
        rest = rest.split_once('\n').map_or("", |(_, tail)| tail);
    }
    rest.split_once('\n').unwrap_or((rest, ""))
}

fn move_down(at: Location, lines: u64) -> Location {
    Location {
        line: at.line + lines,
        column: at.column,
    }
}

fn shift(token: TokenWithSpan, lines: u64) -> TokenWithSpan {
    let TokenWithSpan { token, span } = token;
    let span = Span::new(move_down(span.start, lines), move_down(span.end, lines));
    TokenWithSpan::new(token, span)
}

#[cfg(test)]
mod tests {
    use datafusion::sql::sqlparser::dialect::GenericDialect;

    use super::*;

    /// Each piece as `line:text`, tokens with a space between.
    fn cut(text: &str) -> Vec<String> {
        Script::cut(text, &GenericDialect {})
            .pieces
            .into_iter()
            .map(|piece| match piece.work {
                Work::Statement(tokens) => {
                    let words: Vec<String> = tokens.iter().map(|t| t.token.to_string()).collect();
                    format!("{}:{}", piece.line, words.join(" "))
                }
                Work::Command(command) => format!("{}:\\{command}", piece.line),
                Work::Malformed(message) => format!("{}!{message}", piece.line),
            })
            .collect()
    }

    #[test]
    fn semicolons_inside_quotes_and_comments_do_not_cut() {
        let text =
            "SELECT ';', \";\" -- ;\n/* ; /* ; */ ; */ , $$;$$, $q$ ; $$ $q$;\n;\n\nSELECT 2";
        assert_eq!(
            cut(text),
            ["1:SELECT ';' , \";\" , $$;$$ , $q$ ; $$ $q$", "5:SELECT 2"]
        );
    }

    #[test]
    fn a_statement_starts_at_its_first_token() {
        assert_eq!(
            cut("-- why\n\n  SELECT\n1;SELECT 2;;"),
            ["3:SELECT 1", "4:SELECT 2"]
        );
        assert!(cut(" -- nothing\n;;").is_empty());
    }

    #[test]
    fn commands_stand_on_their_own_line() {
        let text = "\\timing\nSELECT 1;\n  \\d it's\nSELECT\n2;\n\\q";
        assert_eq!(
            cut(text),
            [
                "1:\\timing",
                "2:SELECT 1",
                "3:\\d it's",
                "4:SELECT 2",
                "6:\\q"
            ]
        );
        assert_eq!(cut("SELECT 1; \\q"), ["1:SELECT 1", "1:\\ q"]);
    }

    #[test]
    fn a_string_without_end_spoils_only_its_own_statement() {
        let pieces = cut("SELECT 1;\nSELECT\n 'x;");
        assert_eq!(pieces.len(), 2);
        assert_eq!(pieces[0], "1:SELECT 1");
        assert!(
            pieces[1].starts_with("2!Unterminated string literal at Line: 3"),
            "{}",
            pieces[1]
        );
    }

    #[test]
    fn completeness() {
        let complete = |text| Script::cut(text, &GenericDialect {}).complete;
        for text in ["SELECT 1;", "SELECT 1; -- done", "\\d", "", "SELECT ';';"] {
            assert!(complete(text), "{text}");
        }
        for text in [
            "SELECT 1",
            "SELECT 1; SELECT",
            "SELECT ';",
            "SELECT $$;",
            "SELECT /* ;",
        ] {
            assert!(!complete(text), "{text}");
        }
    }
}
