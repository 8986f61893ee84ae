//! The edges.

use std::collections::BTreeSet;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int32Array, Int64Array, RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::Schema;

use super::names::COUNTRIES;
use super::vertices::{
    Counts, cities, country, moments, organisations, place_of_organisation, rows, tags,
    universities,
};
use crate::error::{GraphArError, Result};
use crate::synthetic::random::SplitMix;

/// Friends that a person looks for, on average; some are found twice, from either side.
const FRIENDS: u64 = 9;

/// Persons whose numbers differ by less than this are often friends.
const NEIGHBOURHOOD: u64 = 64;

/// Internal ids of both ends.
pub(super) struct Ends {
    pub(super) source: Int64Array,
    pub(super) destination: Int64Array,
}

impl FromIterator<(i64, i64)> for Ends {
    fn from_iter<T: IntoIterator<Item = (i64, i64)>>(pairs: T) -> Self {
        let (source, destination): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
        Self {
            source: source.into(),
            destination: destination.into(),
        }
    }
}

/// Edges of one triplet.
pub(super) struct EdgeTable {
    pub(super) source: &'static str,
    pub(super) edge: &'static str,
    pub(super) destination: &'static str,
    pub(super) directed: bool,
    pub(super) ends: Ends,
    pub(super) rows: RecordBatch,
}

fn table(
    [source, edge, destination]: [&'static str; 3],
    ends: Ends,
    property: Option<(&str, ArrayRef)>,
) -> Result<EdgeTable> {
    let rows = match property {
        Some(property) => rows(vec![property])?,
        None => {
            let options = RecordBatchOptions::new().with_row_count(Some(ends.source.len()));
            let schema = Arc::new(Schema::empty());
            RecordBatch::try_new_with_options(schema, vec![], &options)
                .map_err(|e| GraphArError::payload("social graph", e))?
        }
    };
    Ok(EdgeTable {
        source,
        edge,
        destination,
        directed: true,
        ends,
        rows,
    })
}

pub(super) fn all(counts: &Counts) -> Result<Vec<EdgeTable>> {
    let years = |ends: &Ends, seed: u64| -> ArrayRef {
        let mut random = SplitMix(seed);
        let year = |_| 1990 + i32::try_from(random.below(24)).unwrap_or_default();
        Arc::new(Int32Array::from_iter_values(
            (0..ends.source.len()).map(year),
        ))
    };
    let dated = |ends: &Ends, seed: u64| moments(ends.source.len() as u64, seed);
    let (known, likes) = (knows(counts), likes(counts));
    let (study, work) = (study_at(counts), work_at(counts));
    let when = ("creationDate", dated(&known, 21));
    let mut known = table(["person", "knows", "person"], known, Some(when))?;
    known.directed = false;
    let liked = ("creationDate", dated(&likes, 22));
    let since = ("classYear", years(&study, 23));
    let from = ("workFrom", years(&work, 24));
    Ok(vec![
        known,
        table(["person", "likes", "post"], likes, Some(liked))?,
        table(["person", "studyAt", "organisation"], study, Some(since))?,
        table(["person", "workAt", "organisation"], work, Some(from))?,
        table(
            ["person", "hasInterest", "tag"],
            tagged(counts.persons, 5, 25),
            None,
        )?,
        table(["person", "isLocatedIn", "place"], homes(counts), None)?,
        table(["post", "hasCreator", "person"], creators(counts), None)?,
        table(
            ["post", "hasTag", "tag"],
            tagged(counts.posts(), 3, 26),
            None,
        )?,
        table(
            ["comment", "hasCreator", "person"],
            commenters(counts),
            None,
        )?,
        table(["comment", "replyOf", "post"], replies(counts), None)?,
        table(["place", "isPartOf", "place"], parts(), None)?,
        table(["organisation", "isLocatedIn", "place"], seats(), None)?,
    ])
}

/// Rows from 0, as ids.
fn ids(count: u64) -> std::ops::Range<i64> {
    0..i64::try_from(count).unwrap_or_default()
}

fn id(place: usize) -> i64 {
    i64::try_from(place).unwrap_or_default()
}

/// Pairs of persons, the lower number first: half of them neighbours, half with one of the popular ones, who have low
/// numbers.
fn knows(counts: &Counts) -> Ends {
    let mut random = SplitMix(31);
    let mut pairs = BTreeSet::new();
    let last = ids(counts.persons).end - 1;
    for person in ids(counts.persons) {
        for _ in 0..random.below(2 * FRIENDS + 1) {
            let other = match random.below(2) {
                0 => last.min(person + 1 + random.skewed(NEIGHBOURHOOD)),
                _ => random.skewed(counts.persons),
            };
            if other != person {
                pairs.insert((person.min(other), person.max(other)));
            }
        }
    }
    pairs.into_iter().collect()
}

/// Likes of posts, never two of the same person for the same post.
fn likes(counts: &Counts) -> Ends {
    let mut random = SplitMix(32);
    let mut pairs = BTreeSet::new();
    if counts.posts() > 0 {
        for person in ids(counts.persons) {
            for _ in 0..random.below(21) {
                pairs.insert((person, random.skewed(counts.posts())));
            }
        }
    }
    pairs.into_iter().collect()
}

/// Up to `most` different tags for each vertex.
fn tagged(vertices: u64, most: u64, seed: u64) -> Ends {
    let mut random = SplitMix(seed);
    let mut pairs = vec![];
    for vertex in ids(vertices) {
        let chosen: BTreeSet<i64> = (0..random.below(most + 1))
            .map(|_| random.skewed(tags() as u64))
            .collect();
        pairs.extend(chosen.into_iter().map(|tag| (vertex, tag)));
    }
    pairs.into_iter().collect()
}

/// Four of five persons studied at one university.
fn study_at(counts: &Counts) -> Ends {
    let mut random = SplitMix(33);
    let pairs = ids(counts.persons).filter_map(|person| {
        let studied = random.below(5) > 0;
        studied.then(|| (person, random.below(universities() as u64)))
    });
    pairs.collect()
}

/// Up to three companies for each person.
fn work_at(counts: &Counts) -> Ends {
    let mut random = SplitMix(34);
    let companies = (organisations() - universities()) as u64;
    let mut pairs = vec![];
    for person in ids(counts.persons) {
        let chosen: BTreeSet<i64> = (0..random.below(4))
            .map(|_| id(universities()) + random.below(companies))
            .collect();
        pairs.extend(chosen.into_iter().map(|company| (person, company)));
    }
    pairs.into_iter().collect()
}

/// The city of each person.
fn homes(counts: &Counts) -> Ends {
    let mut random = SplitMix(35);
    let cities = cities(0).start..cities(COUNTRIES.len() - 1).end;
    let city = |person| {
        (
            person,
            id(cities.start) + random.skewed(cities.len() as u64),
        )
    };
    ids(counts.persons).map(city).collect()
}

fn creators(counts: &Counts) -> Ends {
    let creators = counts.post_creators.iter().copied();
    ids(counts.posts()).zip(creators).collect()
}

fn commenters(counts: &Counts) -> Ends {
    let mut random = SplitMix(36);
    let one = |comment| (comment, random.below(counts.persons));
    ids(counts.comments).map(one).collect()
}

fn replies(counts: &Counts) -> Ends {
    let mut random = SplitMix(37);
    let one = |comment| (comment, random.skewed(counts.posts()));
    ids(counts.comments).map(one).collect()
}

/// Cities in countries, countries in continents.
fn parts() -> Ends {
    let countries = COUNTRIES.iter().enumerate();
    let countries = countries.map(|(number, (_, continent))| (id(country(number)), *continent));
    let cities = (0..COUNTRIES.len()).flat_map(|number| {
        let of = move |city| (id(city), id(country(number)));
        cities(number).map(of)
    });
    countries.chain(cities).collect()
}

fn seats() -> Ends {
    let seat = |number| (id(number), id(place_of_organisation(number)));
    (0..organisations()).map(seat).collect()
}
