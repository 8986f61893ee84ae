//! Results as CSV and TSV.

use std::io::Write;

use datafusion::arrow::array::{Array, ArrayRef};
use datafusion::arrow::datatypes::{DataType, FieldRef, SchemaRef};
use datafusion::arrow::json::writer::{EncoderOptions, NullableEncoder, make_encoder};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};

use crate::cli::error::ShellError;
use crate::cli::output::{ResultWriter, cell_options};

/// Writes a result as delimited text with a header line.
///
/// Quoting is that of RFC 4180 for both delimiters. NULL is an empty field and an empty string is
/// `""`; lists, structs and maps are JSON.
pub struct Delimited {
    schema: SchemaRef,
    delimiter: char,
    begun: bool,
}

impl Delimited {
    /// A writer of these columns.
    pub fn new(schema: &SchemaRef, delimiter: char) -> Self {
        Self {
            schema: SchemaRef::clone(schema),
            delimiter,
            begun: false,
        }
    }

    fn begin(&mut self, out: &mut dyn Write) -> Result<(), ShellError> {
        if !std::mem::replace(&mut self.begun, true) {
            let names = self
                .schema
                .fields()
                .iter()
                .map(|field| Some(field.name().clone()));
            self.line(out, names.map(Ok))?;
        }
        Ok(())
    }

    fn line(
        &self,
        out: &mut dyn Write,
        cells: impl Iterator<Item = Result<Option<String>, ShellError>>,
    ) -> Result<(), ShellError> {
        let mut line = String::new();
        for (position, cell) in cells.enumerate() {
            if position > 0 {
                line.push(self.delimiter);
            }
            if let Some(text) = cell? {
                self.quote_into(&mut line, &text);
            }
        }
        line.push('\n');
        Ok(out.write_all(line.as_bytes())?)
    }

    fn quote_into(&self, line: &mut String, text: &str) {
        let special = |c| c == self.delimiter || matches!(c, '"' | '\n' | '\r');
        if text.is_empty() || text.contains(special) {
            line.push('"');
            line.push_str(&text.replace('"', "\"\""));
            line.push('"');
        } else {
            line.push_str(text);
        }
    }
}

impl ResultWriter for Delimited {
    fn batch(&mut self, out: &mut dyn Write, batch: &RecordBatch) -> Result<(), ShellError> {
        self.begin(out)?;
        let options = cell_options();
        let encoding = EncoderOptions::default().with_explicit_nulls(true);
        let schema = SchemaRef::clone(&self.schema);
        let mut columns = schema
            .fields()
            .iter()
            .zip(batch.columns())
            .map(|(field, array)| Column::new(field, array, &options, &encoding))
            .collect::<Result<Vec<_>, _>>()?;
        for row in 0..batch.num_rows() {
            self.line(out, columns.iter_mut().map(|column| column.text(row)))?;
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> Result<(), ShellError> {
        self.begin(out)
    }
}

/// One column of a batch, ready to give its cells.
enum Column<'a> {
    Plain(&'a ArrayRef, ArrayFormatter<'a>),
    Nested(NullableEncoder<'a>),
}

impl<'a> Column<'a> {
    fn new(
        field: &'a FieldRef,
        array: &'a ArrayRef,
        options: &'a FormatOptions<'a>,
        encoding: &'a EncoderOptions,
    ) -> Result<Self, ShellError> {
        if is_nested(array.data_type()) {
            Ok(Self::Nested(make_encoder(field, array.as_ref(), encoding)?))
        } else {
            Ok(Self::Plain(
                array,
                ArrayFormatter::try_new(array.as_ref(), options)?,
            ))
        }
    }

    /// The text of one cell; nothing for NULL.
    fn text(&mut self, row: usize) -> Result<Option<String>, ShellError> {
        match self {
            Self::Plain(array, _) if array.is_null(row) => Ok(None),
            Self::Plain(_, formatter) => Ok(Some(formatter.value(row).try_to_string()?)),
            Self::Nested(encoder) if encoder.is_null(row) => Ok(None),
            Self::Nested(encoder) => {
                let mut json = vec![];
                encoder.encode(row, &mut json);
                Ok(Some(String::from_utf8_lossy(&json).into_owned()))
            }
        }
    }
}

fn is_nested(data_type: &DataType) -> bool {
    data_type.is_nested() && !matches!(data_type, DataType::Union(..))
}
