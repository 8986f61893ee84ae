//! What an archive can break.

use std::fmt;

macro_rules! rules {
    ($($(#[$doc:meta])* $rule:ident $name:literal,)*) => {
        /// What an archive can break.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Rule {
            $($(#[$doc])* $rule,)*
        }

        impl Rule {
            /// All rules.
            pub const ALL: &[Self] = &[$(Self::$rule,)*];

            /// The name of the rule in the column `rule`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$rule => $name,)*
                }
            }
        }
    };
}

rules! {
    /// An info file can be read, and agrees with itself and with the others.
    Metadata "metadata",
    /// An info file that the graph info names is there.
    MissingInfo "missing_info",
    /// A declared vertex type, edge triplet or layout has files.
    NoData "no_data",
    /// A file that the metadata and counts call for is there.
    MissingFile "missing_file",
    /// A chunk file can be decoded.
    DamagedFile "damaged_file",
    /// A file can be read with what is built in.
    UnsupportedFile "unsupported_file",
    /// A count file holds a number.
    CountFile "count_file",
    /// A layout counts the vertices of its aligned type.
    AlignedCount "aligned_count",
    /// A count is the number of rows that the chunks of all column groups have.
    WrongCount "wrong_count",
    /// A chunk has as many rows as the counts say.
    RowCount "row_count",
    /// No rows follow behind the last chunk.
    ExtraChunk "extra_chunk",
    /// A declared column is in the file.
    MissingColumn "missing_column",
    /// A column is stored in a type that can be read as the declared one.
    StoredType "stored_type",
    /// A value is one of the declared type.
    BadValue "bad_value",
    /// A column that may not be null is not.
    NullValue "null_value",
    /// The index column of a vertex chunk holds the numbers of the rows.
    VertexIndex "vertex_index",
    /// A primary key is not null.
    NullKey "null_key",
    /// A primary key is there once.
    DuplicateKey "duplicate_key",
    /// The ends of an edge are vertices.
    EdgeEndpoint "edge_endpoint",
    /// The aligned end of an edge belongs to the part.
    EdgePart "edge_part",
    /// The edges of an ordered layout are sorted by the aligned end.
    EdgeOrder "edge_order",
    /// An offset chunk has a value for each vertex of its part, and one more.
    OffsetCount "offset_count",
    /// The offsets say where the edges of each vertex begin.
    Offsets "offsets",
    /// All layouts of an edge triplet hold the same edges.
    LayoutEdges "layout_edges",
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
