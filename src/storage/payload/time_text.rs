//! Dates and timestamps as text, in the forms that GraphAr writers use.

const MILLIS_A_DAY: i64 = 86_400_000;

/// Days since 1970-01-01 of `YYYY-MM-DD`.
pub(super) fn date(text: &[u8]) -> Option<i32> {
    match date_prefix(text)? {
        (days, []) => i32::try_from(days).ok(),
        _ => None,
    }
}

/// Milliseconds since 1970-01-01T00:00:00 of `YYYY-MM-DD[ T]HH:MM[:SS[.fraction]][zone]`, rounded
/// down. A zone is `Z`, `+hh`, `+hhmm` or `+hh:mm`; without one the time counts as UTC.
pub(super) fn timestamp(text: &[u8]) -> Option<i64> {
    let (days, rest) = date_prefix(text)?;
    let mut millis = days.checked_mul(MILLIS_A_DAY)?;
    let [b' ' | b'T', rest @ ..] = rest else {
        return None;
    };
    let (hours, rest) = two_digits(rest, 23)?;
    let (minutes, mut rest) = two_digits(rest.strip_prefix(b":")?, 59)?;
    let mut time = hours * 3_600_000 + minutes * 60_000;
    if let Some(after) = rest.strip_prefix(b":") {
        let (seconds, after) = two_digits(after, 59)?;
        time += seconds * 1_000;
        rest = after;
        if let Some(after) = rest.strip_prefix(b".") {
            let digits = after
                .iter()
                .take_while(|byte| byte.is_ascii_digit())
                .count();
            if digits == 0 {
                return None;
            }
            let thousandths = after[..digits].iter().chain(b"00").take(3);
            time += thousandths.fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'));
            rest = &after[digits..];
        }
    }
    millis = millis.checked_add(time)?;
    millis.checked_sub(zone(rest)?)
}

/// Milliseconds east of Greenwich.
fn zone(text: &[u8]) -> Option<i64> {
    let (sign, rest) = match text {
        [] | b"Z" => return Some(0),
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let (hours, rest) = two_digits(rest, 23)?;
    let minutes = match rest {
        [] => 0,
        [b':', rest @ ..] | rest => match two_digits(rest, 59)? {
            (minutes, []) => minutes,
            _ => return None,
        },
    };
    Some(sign * (hours * 3_600_000 + minutes * 60_000))
}

/// Days since 1970-01-01 of the date that the text begins with, and the rest of the text.
fn date_prefix(text: &[u8]) -> Option<(i64, &[u8])> {
    let (sign, text) = match text {
        [b'-', rest @ ..] => (-1, rest),
        _ => (1, text),
    };
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if !(4..=6).contains(&digits) {
        return None;
    }
    let year = sign
        * text[..digits]
            .iter()
            .fold(0, |year, digit| year * 10 + i64::from(digit - b'0'));
    let (month, rest) = two_digits(text[digits..].strip_prefix(b"-")?, 12)?;
    let (day, rest) = two_digits(rest.strip_prefix(b"-")?, 31)?;
    let leap = year.rem_euclid(4) == 0 && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0);
    let days_in_month = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    if month == 0 || day == 0 || day > days_in_month {
        return None;
    }
    // Years from March, so that the leap day is the last one.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    let days =
        365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year;
    // Days from 0000-03-01 to 1970-01-01.
    Some((days - 719_468, rest))
}

fn two_digits(text: &[u8], most: i64) -> Option<(i64, &[u8])> {
    match text {
        [tens @ b'0'..=b'9', ones @ b'0'..=b'9', rest @ ..] => {
            let number = i64::from(tens - b'0') * 10 + i64::from(ones - b'0');
            (number <= most).then_some((number, rest))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{date, timestamp};

    #[test]
    fn dates_are_days_since_1970() {
        let cases = [
            ("1970-01-01", Some(0)),
            ("1970-01-02", Some(1)),
            ("1969-12-31", Some(-1)),
            ("2000-02-29", Some(11_016)),
            ("1900-02-29", None),
            ("2024-02-30", None),
            ("0001-01-01", Some(-719_162)),
            ("9999-12-31", Some(2_932_896)),
            ("2024-13-01", None),
            ("2024-00-01", None),
            ("2024-1-1", None),
            ("2024-01-01 ", None),
            ("", None),
        ];
        for (text, days) in cases {
            assert_eq!(date(text.as_bytes()), days, "{text}");
        }
    }

    #[test]
    fn timestamps_round_down_to_milliseconds() {
        let cases = [
            ("1970-01-01 00:00:00.005", Some(5)),
            ("1970-01-01T00:00:00.0059", Some(5)),
            ("1970-01-01T00:00:00.5", Some(500)),
            ("1969-12-31 23:59:59.999", Some(-1)),
            ("1969-12-31 23:59:59.9990001", Some(-1)),
            ("1900-05-05 12:34:56.100", Some(-2_198_229_903_900)),
            ("1970-01-01T00:00:00Z", Some(0)),
            ("1970-01-01T01:00:00+01:00", Some(0)),
            ("1970-01-01T00:00:00.000-0130", Some(5_400_000)),
            ("1970-01-01T00:00", Some(0)),
            ("1970-01-01", None),
            ("1970-01-01T24:00:00", None),
            ("1970-01-01T00:00:00.", None),
            ("1970-01-01T00:00:00X", None),
        ];
        for (text, millis) in cases {
            assert_eq!(timestamp(text.as_bytes()), millis, "{text}");
        }
    }
}
