//! Integers and bits out of ORC's run length encodings.
//!
//! The decoder of the library keeps these to itself, and two things need them: lengths must be
//! looked at before memory is taken for them, and it misreads fractions of seconds below zero.

use super::proto::varint;

/// Integers of a stream, run by run.
pub(super) struct Runs<'a> {
    text: &'a [u8],
    second_version: bool,
    signed: bool,
}

impl<'a> Runs<'a> {
    /// A decompressed stream; `signed` says whether its numbers are zigzag encoded.
    pub(super) fn new(text: &'a [u8], second_version: bool, signed: bool) -> Self {
        Self {
            text,
            second_version,
            signed,
        }
    }

    /// The first `count` numbers.
    pub(super) fn take(mut self, count: usize) -> Result<Vec<i64>, String> {
        let mut numbers = vec![];
        while numbers.len() < count {
            if !self.next(&mut numbers)? {
                return Err(format!("{} of {count} numbers", numbers.len()));
            }
        }
        numbers.truncate(count);
        Ok(numbers)
    }

    /// Appends the next run, of at most 512 numbers; false at the end.
    pub(super) fn next(&mut self, out: &mut Vec<i64>) -> Result<bool, String> {
        if self.text.is_empty() {
            return Ok(false);
        }
        match (self.second_version, self.text[0] >> 6) {
            (false, _) => self.first_version(out)?,
            (true, 0) => self.short_repeat(out)?,
            (true, 1) => self.direct(out)?,
            (true, 2) => self.patched_base(out)?,
            (true, _) => self.delta(out)?,
        }
        Ok(true)
    }

    fn first_version(&mut self, out: &mut Vec<i64>) -> Result<(), String> {
        let control = self.text[0];
        self.text = &self.text[1..];
        if control >= 0x80 {
            for _ in control..=0xff {
                let number = varint(&mut self.text)?;
                out.push(self.number(number));
            }
            return Ok(());
        }
        let (&step, rest) = self.text.split_first().ok_or("a run cut short")?;
        self.text = rest;
        let first = varint(&mut self.text)?;
        let mut number = self.number(first);
        for _ in 0..usize::from(control) + 3 {
            out.push(number);
            number = number.wrapping_add(i64::from(step.cast_signed()));
        }
        Ok(())
    }

    fn short_repeat(&mut self, out: &mut Vec<i64>) -> Result<(), String> {
        let header = self.text[0];
        let mut bits = Bits::new(&self.text[1..]);
        let number = bits.take((usize::from(header >> 3 & 7) + 1) * 8)?;
        self.text = bits.rest();
        out.extend((0..(header & 7) + 3).map(|_| self.number(number)));
        Ok(())
    }

    fn direct(&mut self, out: &mut Vec<i64>) -> Result<(), String> {
        let (width, count, rest) = self.header()?;
        let mut bits = Bits::new(rest);
        for _ in 0..count {
            out.push(self.number(bits.take(bit_width(width))?));
        }
        self.text = bits.rest();
        Ok(())
    }

    fn patched_base(&mut self, out: &mut Vec<i64>) -> Result<(), String> {
        let (width, count, rest) = self.header()?;
        let width = bit_width(width);
        let mut bits = Bits::new(rest);
        let (base_width, patch_width) = (bits.small(3)? * 8 + 8, bit_width(bits.small(5)?));
        let (gap_width, patches) = (bits.small(3)? + 1, bits.small(5)?);
        let sign = 1_u64 << (base_width - 1);
        let base = bits.take(base_width)?;
        let magnitude = (base & !sign).cast_signed();
        let base = if base & sign == 0 {
            magnitude
        } else {
            -magnitude
        };
        let mut values = vec![];
        for _ in 0..count {
            values.push(bits.take(width)?);
        }
        bits = Bits::new(bits.rest());
        let entry = (patch_width + gap_width..=64)
            .find(|bits| is_width(*bits))
            .ok_or("a patch of too many bits")?;
        let mut at = 0;
        for _ in 0..patches {
            let padding = entry - gap_width - patch_width;
            bits.take(padding)?;
            at += bits.small(gap_width)?;
            let patch = bits.take(patch_width)?;
            let patched = values.get_mut(at).ok_or("a patch behind the run")?;
            *patched |= patch
                .checked_shl(u32::try_from(width).unwrap_or(u32::MAX))
                .unwrap_or(0);
        }
        self.text = bits.rest();
        out.extend(
            values
                .into_iter()
                .map(|value| base.wrapping_add(value.cast_signed())),
        );
        Ok(())
    }

    fn delta(&mut self, out: &mut Vec<i64>) -> Result<(), String> {
        let (width, count, rest) = self.header()?;
        self.text = rest;
        let first = varint(&mut self.text)?;
        let mut number = self.number(first);
        let step = zigzag(varint(&mut self.text)?);
        out.push(number);
        if width == 0 {
            for _ in 1..count {
                number = number.wrapping_add(step);
                out.push(number);
            }
            return Ok(());
        }
        let mut bits = Bits::new(self.text);
        number = number.wrapping_add(step);
        out.push(number);
        for _ in 2..count {
            let change = bits.take(bit_width(width))?.cast_signed();
            number = if step < 0 {
                number.wrapping_sub(change)
            } else {
                number.wrapping_add(change)
            };
            out.push(number);
        }
        self.text = bits.rest();
        Ok(())
    }

    /// Code of the width, count, and what follows the two bytes that have them.
    fn header(&self) -> Result<(usize, usize, &'a [u8]), String> {
        match self.text {
            [high, low, rest @ ..] => {
                let count = (usize::from(high & 1) << 8 | usize::from(*low)) + 1;
                Ok((usize::from(high >> 1 & 0x1f), count, rest))
            }
            _ => Err("a run cut short".to_owned()),
        }
    }

    fn number(&self, stored: u64) -> i64 {
        if self.signed {
            zigzag(stored)
        } else {
            stored.cast_signed()
        }
    }
}

/// Which of the first `count` values are there.
pub(super) fn present(mut text: &[u8], count: usize) -> Result<Vec<bool>, String> {
    let mut bits = Vec::with_capacity(count);
    let mut push = |byte: u8| bits.extend((0..8).map(|bit| byte >> (7 - bit) & 1 == 1));
    let mut bytes = count.div_ceil(8);
    while bytes > 0 {
        let (&control, rest) = text.split_first().ok_or("presence cut short")?;
        let run = if control < 0x80 {
            usize::from(control) + 3
        } else {
            256 - usize::from(control)
        };
        let used = if control < 0x80 { 1 } else { run };
        let (values, rest) = rest.split_at_checked(used).ok_or("presence cut short")?;
        (0..run.min(bytes)).for_each(|at| push(values[at.min(used - 1)]));
        (text, bytes) = (rest, bytes.saturating_sub(run));
    }
    bits.truncate(count);
    Ok(bits)
}

fn zigzag(stored: u64) -> i64 {
    (stored >> 1).cast_signed() ^ -(stored & 1).cast_signed()
}

/// Bits of a value, by their code in a run's header.
fn bit_width(code: usize) -> usize {
    match code {
        0..=23 => code + 1,
        24 => 26,
        25 => 28,
        26 => 30,
        27 => 32,
        28 => 40,
        29 => 48,
        30 => 56,
        _ => 64,
    }
}

fn is_width(bits: usize) -> bool {
    (0..32).any(|code| bit_width(code) == bits)
}

/// Numbers of any number of bits, highest bit first.
struct Bits<'a> {
    bytes: &'a [u8],
    taken: usize,
}

impl<'a> Bits<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, taken: 0 }
    }

    fn take(&mut self, bits: usize) -> Result<u64, &'static str> {
        let end = self.taken + bits;
        if end > self.bytes.len() * 8 {
            return Err("a run cut short");
        }
        let mut value = 0;
        while self.taken < end {
            let (byte, used) = (self.bytes[self.taken / 8], self.taken % 8);
            let here = (8 - used).min(end - self.taken);
            let part = byte << used >> (8 - here);
            value = value << here | u64::from(part);
            self.taken += here;
        }
        Ok(value)
    }

    /// A number of at most eight bits.
    fn small(&mut self, bits: usize) -> Result<usize, String> {
        usize::try_from(self.take(bits)?).map_err(|e| e.to_string())
    }

    /// The bytes behind the one that was begun last.
    fn rest(&self) -> &'a [u8] {
        &self.bytes[self.taken.div_ceil(8)..]
    }
}

#[cfg(test)]
mod tests {
    use super::{Runs, present};

    fn all(text: &[u8], second_version: bool, signed: bool) -> Result<Vec<i64>, String> {
        let (mut runs, mut out) = (Runs::new(text, second_version, signed), vec![]);
        while runs.next(&mut out)? {}
        Ok(out)
    }

    #[test]
    fn the_examples_of_the_specification_are_decoded() {
        assert_eq!(all(&[0x0a, 0x27, 0x10], true, false), Ok(vec![10_000; 5]));
        let direct = [0x5e, 0x03, 0x5c, 0xa1, 0xab, 0x1e, 0xde, 0xad, 0xbe, 0xef];
        assert_eq!(
            all(&direct, true, false),
            Ok(vec![23_713, 43_806, 57_005, 48_879])
        );
        let primes = [0xc6, 0x09, 0x02, 0x02, 0x22, 0x42, 0x42, 0x46];
        assert_eq!(
            all(&primes, true, false),
            Ok(vec![2, 3, 5, 7, 11, 13, 17, 19, 23, 29])
        );
        let patched = [
            0x8e, 0x13, 0x2b, 0x21, 0x07, 0xd0, 0x1e, 0x00, 0x14, 0x70, 0x28, 0x32, 0x3c, 0x46,
            0x50, 0x5a, 0x64, 0x6e, 0x78, 0x82, 0x8c, 0x96, 0xa0, 0xaa, 0xb4, 0xbe, 0xfc, 0xe8,
        ];
        let values = [2030, 2000, 2020, 1_000_000]
            .into_iter()
            .chain((2040..=2190).step_by(10));
        assert_eq!(all(&patched, true, false), Ok(values.collect()));
        assert_eq!(all(&[0x61, 0x00, 0x07], false, false), Ok(vec![7; 100]));
        assert_eq!(
            all(&[0x61, 0xff, 0x64], false, false),
            Ok((1..=100).rev().collect())
        );
        assert_eq!(
            all(&[0xfb, 0x02, 0x03, 0x06, 0x07, 0x0b], false, true),
            Ok(vec![1, -2, 3, -4, -6])
        );
        assert!(
            all(&direct[..5], true, false).is_err() && all(&[0x61, 0x00], false, false).is_err()
        );
    }

    #[test]
    fn presence_is_runs_and_literals_of_bytes() {
        assert_eq!(present(&[0xff, 0x80], 3), Ok(vec![true, false, false]));
        let bits = present(&[0x00, 0xff, 0xfe, 0x00, 0x01], 40).unwrap();
        assert_eq!(bits.iter().filter(|bit| **bit).count(), 25);
        assert!(present(&[0x00], 3).is_err() && present(&[], 1).is_err());
    }
}
