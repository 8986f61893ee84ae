//! Just enough of the protocol buffer encoding to look at messages before the decoder does.

/// The value of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// The fields of a message with their numbers, in the order of the text.
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u64, Value<'a>), String>;

    fn next(&mut self) -> Option<Self::Item> {
        (!self.0.is_empty()).then(|| self.field())
    }
}

impl<'a> Fields<'a> {
    fn field(&mut self) -> Result<(u64, Value<'a>), String> {
        let tag = varint(&mut self.0)?;
        let length = match tag & 7 {
            0 => return Ok((tag >> 3, Value::Number(varint(&mut self.0)?))),
            1 => 8,
            2 => usize::try_from(varint(&mut self.0)?).map_err(|e| e.to_string())?,
            5 => 4,
            kind => return Err(format!("a field of kind {kind}")),
        };
        let (bytes, rest) = self.0.split_at_checked(length).ok_or("a field cut short")?;
        self.0 = rest;
        Ok((tag >> 3, Value::Bytes(bytes)))
    }
}

/// Takes a number of seven bits a byte, lowest first.
pub(super) fn varint(text: &mut &[u8]) -> Result<u64, String> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = text.split_first().ok_or("a number cut short")?;
        *text = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err("a number of more than 64 bits".to_owned())
}
