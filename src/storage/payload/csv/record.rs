//! Cuts text into the fields of one record, and remembers which were quoted.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

/// One field of a record, as positions in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    start: usize,
    end: usize,
    quoting: Quoting,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quoting {
    Bare,
    Quoted,
    /// Quoted, with doubled quotes inside.
    Doubled,
}

impl Span {
    /// Whether there is nothing at all, which is how a null is written.
    pub(super) fn is_null(self) -> bool {
        self.start == self.end && self.quoting == Quoting::Bare
    }

    /// The field's text without the quotes around it.
    pub(super) fn value(self, text: &[u8]) -> Cow<'_, [u8]> {
        let raw = text.get(self.start..self.end).unwrap_or_default();
        if self.quoting != Quoting::Doubled {
            return Cow::Borrowed(raw);
        }
        let mut value = Vec::with_capacity(raw.len());
        let mut rest = raw;
        while let Some(quote) = memchr(b'"', rest) {
            value.extend_from_slice(&rest[..=quote]);
            rest = rest.get(quote + 2..).unwrap_or_default();
        }
        value.extend_from_slice(rest);
        Cow::Owned(value)
    }
}

/// What stands at a position of the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// A record, and the position behind it.
    Record { next: usize },
    /// The text ends before the record does.
    Incomplete,
    /// Text behind a closing quote, or no closing quote.
    Malformed(&'static str),
}

/// Cuts the record at `start` into `fields`. `last` says that no text follows `text`.
pub(super) fn cut(text: &[u8], start: usize, last: bool, fields: &mut Vec<Span>) -> Cut {
    fields.clear();
    let mut at = start;
    loop {
        let (span, end) = match text.get(at) {
            Some(b'"') => match quoted(text, at + 1, last) {
                Ok(found) => found,
                Err(cut) => return cut,
            },
            _ => {
                let end = memchr2(b',', b'\n', text.get(at..).unwrap_or_default())
                    .map_or(text.len(), |n| at + n);
                // The carriage return of a line break is not part of the last field.
                let line_end = end > at && text[end - 1] == b'\r' && text.get(end) != Some(&b',');
                let stop = if line_end { end - 1 } else { end };
                (
                    Span {
                        start: at,
                        end: stop,
                        quoting: Quoting::Bare,
                    },
                    end,
                )
            }
        };
        match text.get(end) {
            Some(b',') => {
                fields.push(span);
                at = end + 1;
            }
            Some(_) => {
                fields.push(span);
                return Cut::Record { next: end + 1 };
            }
            None if last => {
                fields.push(span);
                return Cut::Record { next: text.len() };
            }
            None => return Cut::Incomplete,
        }
    }
}

/// The quoted field whose text begins at `start`, and the position of the comma or line feed
/// behind it, or of the end of the text.
fn quoted(text: &[u8], start: usize, last: bool) -> Result<(Span, usize), Cut> {
    let mut quoting = Quoting::Quoted;
    let mut at = start;
    loop {
        let Some(quote) = memchr(b'"', &text[at..]).map(|n| at + n) else {
            return Err(if last {
                Cut::Malformed("a quote that is not closed")
            } else {
                Cut::Incomplete
            });
        };
        let end = match text.get(quote + 1..).unwrap_or_default() {
            [b'"', ..] => {
                quoting = Quoting::Doubled;
                at = quote + 2;
                continue;
            }
            [b',' | b'\n', ..] => quote + 1,
            [b'\r', b'\n', ..] => quote + 2,
            // What follows decides, and is not here yet.
            [] | [b'\r'] if !last => return Err(Cut::Incomplete),
            [] => quote + 1,
            [b'\r'] => quote + 2,
            _ => return Err(Cut::Malformed("text behind a closing quote")),
        };
        return Ok((
            Span {
                start,
                end: quote,
                quoting,
            },
            end,
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::{Cut, Span, cut};

    fn fields(text: &str) -> Vec<Option<String>> {
        let mut spans: Vec<Span> = vec![];
        let cut = cut(text.as_bytes(), 0, true, &mut spans);
        assert_eq!(cut, Cut::Record { next: text.len() }, "{text:?}");
        let value =
            |span: &Span| String::from_utf8(span.value(text.as_bytes()).into_owned()).unwrap();
        spans
            .iter()
            .map(|span| (!span.is_null()).then(|| value(span)))
            .collect()
    }

    #[test]
    fn quotes_make_the_difference_between_empty_and_null() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            fields("a,\"b\",,\"\"\n"),
            [some("a"), some("b"), None, some("")]
        );
        assert_eq!(
            fields("\"a\"\"b\"\"\",c\\\r\n"),
            [some("a\"b\""), some("c\\")]
        );
        assert_eq!(fields("\"x\ny\",\"\"\"\"\n"), [some("x\ny"), some("\"")]);
        assert_eq!(fields("\"a\"\r\n"), [some("a")]);
        assert_eq!(fields("a\"b, c "), [some("a\"b"), some(" c ")]);
        assert_eq!(fields("a,"), [some("a"), None]);
        assert_eq!(fields("\r\n"), [None]);
        assert_eq!(fields("\n"), [None]);
    }

    #[test]
    fn every_cut_short_text_is_incomplete_until_the_last() {
        let text = "1,\"a\"\"b\"\r\n";
        for length in 0..text.len() {
            let part = &text.as_bytes()[..length];
            assert_eq!(
                cut(part, 0, false, &mut vec![]),
                Cut::Incomplete,
                "{length}"
            );
        }
    }

    #[test]
    fn broken_quotes_are_found() {
        for text in ["\"a", "\"a\"b\n", "1,\"\"\"\n", "\"a\" ,1"] {
            assert!(
                matches!(
                    cut(text.as_bytes(), 0, true, &mut vec![]),
                    Cut::Malformed(_)
                ),
                "{text:?}"
            );
        }
    }
}
