//! The vertices.

use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, Date32Array, Int32Array, Int64Array, ListArray, ListBuilder, RecordBatch,
    StringArray, StringBuilder, TimestampMillisecondArray,
};

use super::names::{BROWSERS, CONTINENTS, COUNTRIES, FIRST_NAMES, LAST_NAMES, TOPICS, WORDS};
use crate::error::{GraphArError, Result};
use crate::synthetic::random::SplitMix;

/// Cities of a country.
const CITIES: usize = 3;

/// Companies of a country.
const COMPANIES: usize = 3;

/// Words that a tag may have before its topic.
const QUALITIES: [&str; 4] = ["early", "local", "modern", "world"];

/// 2010-01-01, in milliseconds from 1970.
const FIRST_MOMENT: i64 = 1_262_304_000_000;

/// Four years, in milliseconds.
const MOMENTS: u64 = 4 * 365 * 86_400_000;

/// How many vertices there are of each type.
pub(super) struct Counts {
    pub(super) persons: u64,
    /// Creator of each post, ascending.
    pub(super) post_creators: Vec<i64>,
    pub(super) comments: u64,
}

impl Counts {
    pub(super) fn of(persons: u32) -> Self {
        let mut random = SplitMix(0x706f_7374);
        let mut post_creators = vec![];
        for person in 0..i64::from(persons) {
            // 0 to 11, 3 on average.
            let posts = usize::try_from(random.skewed(13)).unwrap_or_default();
            post_creators.extend(std::iter::repeat_n(person, posts));
        }
        Self {
            persons: persons.into(),
            comments: 2 * post_creators.len() as u64,
            post_creators,
        }
    }

    pub(super) fn posts(&self) -> u64 {
        self.post_creators.len() as u64
    }
}

/// The place of a country among places, continents standing before it.
pub(super) fn country(number: usize) -> usize {
    CONTINENTS.len() + number
}

/// The place of the cities of a country among places.
pub(super) fn cities(country: usize) -> std::ops::Range<usize> {
    let first = CONTINENTS.len() + COUNTRIES.len() + country * CITIES;
    first..first + CITIES
}

/// The organisations: one university in each city, then the companies of each country.
pub(super) fn universities() -> usize {
    COUNTRIES.len() * CITIES
}

/// The place of the organisation with this number.
pub(super) fn place_of_organisation(number: usize) -> usize {
    match number.checked_sub(universities()) {
        None => cities(0).start + number,
        Some(company) => country(company / COMPANIES),
    }
}

pub(super) fn organisations() -> usize {
    universities() + COUNTRIES.len() * COMPANIES
}

pub(super) fn tags() -> usize {
    TOPICS.len() * QUALITIES.len()
}

/// Vertices of one type.
pub(super) struct VertexTable {
    pub(super) vertex_type: &'static str,
    /// Labels that the type declares.
    pub(super) declared: &'static [&'static str],
    pub(super) rows: RecordBatch,
    pub(super) labels: Option<ListArray>,
    /// Where each property group but the first begins.
    pub(super) groups: &'static [usize],
}

pub(super) fn all(counts: &Counts) -> Result<Vec<VertexTable>> {
    Ok(vec![
        places()?,
        all_organisations()?,
        all_tags()?,
        persons(counts)?,
        posts(counts)?,
        comments(counts)?,
    ])
}

/// Ascending keys with gaps, as of rows that were deleted.
fn keys(count: u64, seed: u64) -> ArrayRef {
    let mut random = SplitMix(seed);
    let keys =
        (0..count).map(|row| 1000 + i64::try_from(row).unwrap_or_default() * 37 + random.below(37));
    Arc::new(Int64Array::from_iter_values(keys))
}

/// Times of creation.
pub(super) fn moments(count: u64, seed: u64) -> ArrayRef {
    let mut random = SplitMix(seed);
    let moments = (0..count).map(|_| FIRST_MOMENT + random.below(MOMENTS));
    Arc::new(TimestampMillisecondArray::from_iter_values(moments))
}

fn texts(values: impl IntoIterator<Item = String>) -> ArrayRef {
    // Not straight from the iterator: that wants to know the length.
    Arc::new(StringArray::from(values.into_iter().collect::<Vec<_>>()))
}

fn labels(values: impl IntoIterator<Item = &'static str>) -> ListArray {
    let mut lists = ListBuilder::new(StringBuilder::new());
    for value in values {
        lists.values().append_value(value);
        lists.append(true);
    }
    lists.finish()
}

pub(super) fn rows(columns: Vec<(&str, ArrayRef)>) -> Result<RecordBatch> {
    RecordBatch::try_from_iter(columns).map_err(|e| GraphArError::payload("social graph", e))
}

fn places() -> Result<VertexTable> {
    let city = |number: usize| format!("{} {}", COUNTRIES[number / CITIES].0, number % CITIES + 1);
    let count = COUNTRIES.len() * CITIES;
    let names = CONTINENTS.iter().map(|name| (*name).to_owned());
    let names = names.chain(COUNTRIES.iter().map(|(name, _)| (*name).to_owned()));
    let names: Vec<String> = names.chain((0..count).map(city)).collect();
    let kinds = [
        ("continent", CONTINENTS.len()),
        ("country", COUNTRIES.len()),
        ("city", count),
    ];
    let kinds = kinds
        .iter()
        .flat_map(|(kind, n)| std::iter::repeat_n(*kind, *n));
    Ok(VertexTable {
        vertex_type: "place",
        declared: &["continent", "country", "city"],
        labels: Some(labels(kinds)),
        rows: rows(vec![
            ("id", keys(names.len() as u64, 1)),
            ("name", texts(names)),
        ])?,
        groups: &[],
    })
}

fn all_organisations() -> Result<VertexTable> {
    let name = |number: usize| match number.checked_sub(universities()) {
        None => format!("University {number}"),
        Some(company) => format!("Company {company}"),
    };
    let kind = |number: usize| match number < universities() {
        true => "university",
        false => "company",
    };
    Ok(VertexTable {
        vertex_type: "organisation",
        declared: &["university", "company"],
        labels: Some(labels((0..organisations()).map(kind))),
        rows: rows(vec![
            ("id", keys(organisations() as u64, 2)),
            ("name", texts((0..organisations()).map(name))),
        ])?,
        groups: &[],
    })
}

fn all_tags() -> Result<VertexTable> {
    let names = QUALITIES.iter().flat_map(|quality| {
        let name = move |topic: &&str| format!("{quality} {topic}");
        TOPICS.iter().map(name)
    });
    Ok(VertexTable {
        vertex_type: "tag",
        declared: &[],
        labels: None,
        rows: rows(vec![("id", keys(tags() as u64, 3)), ("name", texts(names))])?,
        groups: &[],
    })
}

fn persons(counts: &Counts) -> Result<VertexTable> {
    let count = counts.persons;
    let mut random = SplitMix(4);
    let (mut first, mut last, mut gender, mut browser) = (vec![], vec![], vec![], vec![]);
    let mut birthdays: Vec<i32> = vec![];
    let mut emails = ListBuilder::new(StringBuilder::new());
    for person in 0..count {
        first.push(random.one(&FIRST_NAMES).to_owned());
        last.push(random.one(&LAST_NAMES).to_owned());
        gender.push(random.one(&["female", "male"]).to_owned());
        browser.push(random.one(&BROWSERS).to_owned());
        // 1950 to 2004, in days from 1970.
        birthdays.push(i32::try_from(random.below(20_089)).unwrap_or_default() - 7_305);
        for number in 0..random.below(4) {
            let address = format!("person{person}.{number}@example.org");
            emails.values().append_value(address);
        }
        emails.append(true);
    }
    Ok(VertexTable {
        vertex_type: "person",
        declared: &[],
        labels: None,
        rows: rows(vec![
            ("id", keys(count, 5)),
            ("firstName", texts(first)),
            ("lastName", texts(last)),
            ("gender", texts(gender)),
            ("birthday", Arc::new(Date32Array::from(birthdays))),
            ("creationDate", moments(count, 6)),
            ("browserUsed", texts(browser)),
            ("emails", Arc::new(emails.finish())),
        ])?,
        groups: &[1, 4, 7],
    })
}

/// A text of up to `most` words.
fn text(random: &mut SplitMix, most: u64) -> String {
    let mut text = String::new();
    for _ in 0..=random.skewed(most) {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(random.one(&WORDS));
    }
    text
}

fn posts(counts: &Counts) -> Result<VertexTable> {
    let count = counts.posts();
    let mut random = SplitMix(7);
    let (mut contents, mut images, mut lengths) = (vec![], vec![], vec![]);
    for post in 0..count {
        let image = (random.below(10) == 0).then(|| format!("photo{post}.jpg"));
        let content = image.is_none().then(|| text(&mut random, 24));
        let length = content.as_ref().map_or(0, String::len);
        lengths.push(i32::try_from(length).unwrap_or_default());
        contents.push(content);
        images.push(image);
    }
    Ok(VertexTable {
        vertex_type: "post",
        declared: &[],
        labels: None,
        rows: rows(vec![
            ("id", keys(count, 8)),
            ("creationDate", moments(count, 9)),
            ("length", Arc::new(Int32Array::from(lengths))),
            ("content", Arc::new(StringArray::from(contents))),
            ("imageFile", Arc::new(StringArray::from(images))),
        ])?,
        groups: &[3, 4],
    })
}

fn comments(counts: &Counts) -> Result<VertexTable> {
    let count = counts.comments;
    let mut random = SplitMix(10);
    let contents: Vec<String> = (0..count).map(|_| text(&mut random, 12)).collect();
    let lengths = contents
        .iter()
        .map(|text| i32::try_from(text.len()).unwrap_or_default());
    let lengths: ArrayRef = Arc::new(Int32Array::from_iter_values(lengths));
    Ok(VertexTable {
        vertex_type: "comment",
        declared: &[],
        labels: None,
        rows: rows(vec![
            ("id", keys(count, 11)),
            ("creationDate", moments(count, 12)),
            ("length", lengths),
            ("content", texts(contents)),
        ])?,
        groups: &[3],
    })
}
