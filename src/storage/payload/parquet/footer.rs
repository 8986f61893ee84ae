//! A check of the lengths in a Parquet footer or page index before it is decoded.
//!
//! Both are structs in [Thrift's compact protocol]. The Parquet reader reserves memory for as
//! many row groups or pages as a list header claims, so a damaged header would abort the
//! process instead of failing the read.
//!
//! [Thrift's compact protocol]: https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md

/// Structs and collections inside one another, the outermost struct included. The metadata of
/// Parquet needs fewer than ten; the limit keeps the recursion off the end of the stack.
const MAX_DEPTH: usize = 32;

const ENDS_EARLY: &str = "an end inside the struct";

/// Walks a struct in Thrift's compact protocol and refuses lengths that its bytes cannot hold.
///
/// The values and the field ids are not looked at, nor is what follows the struct. The error
/// says what was found.
pub(super) fn check_lengths(bytes: &[u8]) -> Result<(), String> {
    Walk { left: bytes }.fields(1, &[])
}

/// Types of the fields 1 to 7 of a footer: version, schema, rows, row groups, key-value pairs,
/// writer, column orders.
const FOOTER: [u8; 7] = [5, 9, 6, 9, 9, 8, 9];

/// [`check_lengths`] for a footer, whose own fields must have the types that the reader takes
/// for granted.
pub(super) fn check_footer(bytes: &[u8]) -> Result<(), String> {
    Walk { left: bytes }.fields(1, &FOOTER)
}

struct Walk<'a> {
    left: &'a [u8],
}

impl Walk<'_> {
    /// A struct, whose fields 1, 2, … have these types, as far as they go.
    fn fields(&mut self, depth: usize, kinds: &[u8]) -> Result<(), String> {
        let mut id = 0_u64;
        loop {
            let header = self.byte()?;
            let kind = header & 0x0F;
            // Readers stop here whatever the id's half of the byte says.
            if kind == 0 {
                return Ok(());
            }
            // Without a step from the field before, the id follows as a number of its own.
            if header >> 4 == 0 {
                // Zigzag: an even number is twice the id.
                id = self.varint()? >> 1;
            } else {
                id += u64::from(header >> 4);
            }
            let expected = usize::try_from(id)
                .ok()
                .and_then(|id| kinds.get(id.checked_sub(1)?));
            if let Some(expected) = expected.filter(|expected| **expected != kind) {
                return Err(format!("field {id} of type {kind} instead of {expected}"));
            }
            // The type of a boolean field is its value; only in collections it has a byte.
            if !matches!(kind, 1 | 2) {
                self.value(kind, depth)?;
            }
        }
    }

    fn value(&mut self, kind: u8, depth: usize) -> Result<(), String> {
        match kind {
            9..=12 if depth == MAX_DEPTH => Err(format!("more than {MAX_DEPTH} levels of nesting")),
            1..=3 => self.skip(1),
            4..=6 => self.varint().map(drop),
            7 => self.skip(8),
            8 => {
                let length = self.varint()?;
                self.skip(self.bounded("binary value", length)?)
            }
            9 | 10 => self.list(depth + 1),
            11 => self.map(depth + 1),
            12 => self.fields(depth + 1, &[]),
            13 => self.skip(16),
            _ => Err(format!("a value of unknown type {kind}")),
        }
    }

    fn list(&mut self, depth: usize) -> Result<(), String> {
        let header = self.byte()?;
        // Some writers give an empty list no element type.
        if header == 0 {
            return Ok(());
        }
        let size = match header >> 4 {
            15 => self.varint()?,
            size => u64::from(size),
        };
        self.items("list", size, &[header & 0x0F], depth)
    }

    fn map(&mut self, depth: usize) -> Result<(), String> {
        let size = self.varint()?;
        // An empty map has no byte for its types.
        if size == 0 {
            return Ok(());
        }
        let kinds = self.byte()?;
        self.items("map", size, &[kinds >> 4, kinds & 0x0F], depth)
    }

    fn items(&mut self, what: &str, size: u64, kinds: &[u8], depth: usize) -> Result<(), String> {
        // Every element takes a byte or more, an empty struct too.
        for _ in 0..self.bounded(what, size)? {
            for &kind in kinds {
                self.value(kind, depth)?;
            }
        }
        Ok(())
    }

    fn bounded(&self, what: &str, size: u64) -> Result<usize, String> {
        let left = self.left.len();
        match usize::try_from(size) {
            Ok(size) if size <= left => Ok(size),
            _ => Err(format!("a {what} of size {size} with {left} bytes left")),
        }
    }

    fn varint(&mut self) -> Result<u64, String> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            // The tenth byte has room for one bit.
            if shift == 63 && byte > 1 {
                break;
            }
            value |= u64::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err("a number longer than 64 bits".to_owned())
    }

    fn byte(&mut self) -> Result<u8, String> {
        let (&byte, left) = self.left.split_first().ok_or(ENDS_EARLY)?;
        self.left = left;
        Ok(byte)
    }

    fn skip(&mut self, count: usize) -> Result<(), String> {
        self.left = self.left.get(count..).ok_or(ENDS_EARLY)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::check_lengths;

    /// A field of each type, collections empty, short and long, and an id written out.
    const VALID: &[u8] = b"\x11\x12\x13\x80\x14\x7F\x15\x80\x01\x1701234567\x18\x03abc\
        \x16\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01\x19\x00\x19\x32\x01\x02\x00\x1A\x15\x08\
        \xFB\x02\x8C\x01k\x15\x02\x00\x01l\x00\x1B\x00\x1C\x11\x00\x1D0123456789abcdef\
        \x19\xF1\x0F123456789012345\x05\xC8\x01\x04\x00";

    #[track_caller]
    fn refused(bytes: &[u8], found: &str) {
        let error = check_lengths(bytes).unwrap_err();
        assert!(error.contains(found), "{error}");
    }

    #[test]
    fn valid_structs_pass_and_their_truncations_do_not() {
        assert_eq!(check_lengths(VALID), Ok(()));
        assert_eq!(check_lengths(&[VALID, b"more"].concat()), Ok(()));
        for length in 0..VALID.len() {
            assert!(check_lengths(&VALID[..length]).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn lengths_beyond_the_bytes_are_refused() {
        let size = "of size 2147483647 with 1 bytes left";
        refused(b"\x19\xFC\xFF\xFF\xFF\xFF\x07\x00", size);
        refused(b"\x1A\xFC\xFF\xFF\xFF\xFF\x07\x00", size);
        refused(b"\x1B\xFF\xFF\xFF\xFF\x07\x88\x00", size);
        refused(b"\x18\xFF\xFF\xFF\xFF\x07\x00", size);
        refused(b"\x19\x2C\x00", "a list of size 2 with 1 bytes left");
    }

    #[test]
    fn malformed_bytes_are_refused() {
        refused(b"\x1E\x00", "unknown type 14");
        refused(b"\x19\x10\x00\x00", "a value of unknown type 0");
        refused(b"\x1B\x01\x8F\x00\x00\x00", "a value of unknown type 15");
        let long = b"\x16\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x81\x00\x00";
        refused(long, "64 bits");
    }

    #[test]
    fn nesting_is_limited() {
        let structs = |depth: usize| [vec![0x1C; depth - 1], vec![0; depth]].concat();
        assert_eq!(check_lengths(&structs(32)), Ok(()));
        refused(&structs(33), "32 levels");
        refused(&[0x19; 1_000], "32 levels");
    }

    #[test]
    fn random_bytes_do_not_panic() {
        let mut state = 1_u32;
        for length in (0..200).cycle().take(100_000) {
            let mut bytes = vec![0; length];
            for byte in &mut bytes {
                state = state.wrapping_mul(1_103_515_245).wrapping_add(12_345);
                *byte = state.to_be_bytes()[0];
            }
            let _ = check_lengths(&bytes);
        }
    }
}
