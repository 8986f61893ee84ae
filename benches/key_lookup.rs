//! Ids by sparse integer keys: the search tree against a sorted array and a hash table.
//!
//! `cargo bench --features cli --bench key_lookup`; with `KEY_LOOKUP_MAX=100000000` up to so many keys. Each way
//! finds the id of each key, and the answers are checked before anything is timed. Ratios are of
//! times measured one after the other.

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput};
use datafusion::arrow::array::{ArrayRef, UInt64Array};
use datafusion_graphar::graph::{ABSENT, KeyIndex, SearchTree};
use hashbrown::HashMap;

/// Look-ups behind a time; fewer keys are looked up several times, so that they stay in the cache.
const LOOKUPS: usize = 1 << 20;

/// Look-ups in a batch, as many as rows in a batch of the engine.
const BATCH: usize = 8192;

/// Pairs of times behind a printed ratio.
const PAIRS: usize = 11;

fn main() -> Result<(), Box<dyn Error>> {
    let most = match std::env::var("KEY_LOOKUP_MAX") {
        Ok(most) => most.parse()?,
        Err(_) => 10_000_000,
    };
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(1))
        .configure_from_args();
    for count in [10_000, 1_000_000, 10_000_000, 100_000_000] {
        if count <= most {
            sparse(&mut criterion, count, u64::MAX, "8-byte keys")?;
            sparse(&mut criterion, count, u64::from(u32::MAX), "4-byte keys")?;
        }
    }
    criterion.final_summary();
    Ok(())
}

/// All ways to find an id by its key.
struct Ways {
    tree: SearchTree,
    index: KeyIndex,
    map: HashMap<u64, u32>,
    sorted: Vec<u64>,
    ids: Vec<u32>,
}

impl Ways {
    fn new(keys: &[u64]) -> Result<Self, Box<dyn Error>> {
        let mut pairs: Vec<(u64, u32)> = keys.iter().copied().zip(0..).collect();
        pairs.sort_unstable();
        let column: ArrayRef = Arc::new(UInt64Array::from(keys.to_vec()));
        Ok(Self {
            tree: SearchTree::new(keys).ok_or("a key stands there twice")?,
            index: KeyIndex::try_new(&[column])?,
            map: keys.iter().copied().zip(0..).collect(),
            sorted: pairs.iter().map(|(key, _)| *key).collect(),
            ids: pairs.iter().map(|(_, id)| *id).collect(),
        })
    }

    fn batched(&self, keys: &[u64], found: &mut [u64]) {
        for (keys, found) in keys.chunks(BATCH).zip(found.chunks_mut(BATCH)) {
            self.tree.find_all(keys, found);
        }
    }

    fn single(&self, keys: &[u64], found: &mut [u64]) {
        for (found, key) in found.iter_mut().zip(keys) {
            *found = self.tree.find(*key).unwrap_or(ABSENT);
        }
    }

    fn partition_point(&self, keys: &[u64], found: &mut [u64]) {
        for (found, key) in found.iter_mut().zip(keys) {
            let place = self.sorted.partition_point(|other| other < key);
            *found = match self.sorted.get(place) {
                Some(other) if other == key => u64::from(self.ids[place]),
                _ => ABSENT,
            };
        }
    }

    fn hash_map(&self, keys: &[u64], found: &mut [u64]) {
        for (found, key) in found.iter_mut().zip(keys) {
            *found = self.map.get(key).map_or(ABSENT, |id| u64::from(*id));
        }
    }
}

fn sparse(
    criterion: &mut Criterion,
    count: usize,
    greatest: u64,
    name: &str,
) -> Result<(), Box<dyn Error>> {
    let mut next = random();
    let mut keys: Vec<u64> = (0..count).map(|_| next() & greatest).collect();
    keys.sort_unstable();
    keys.dedup();
    shuffle(&mut keys, &mut next);
    let places = keys.len() as u64;
    let queries: Vec<u64> = (0..LOOKUPS.min(count))
        .map(|_| Ok(keys[usize::try_from(next() % places)?]))
        .collect::<Result<_, Box<dyn Error>>>()?;
    let ways = Ways::new(&keys)?;
    let name = format!("{count} {name}");
    println!(
        "{name}: {:.1} bytes a key in the tree, {:.1} in the map",
        ways.tree.bytes() as f64 / keys.len() as f64,
        ways.map.allocation_size() as f64 / keys.len() as f64,
    );
    check(&ways, &queries)?;
    let columns: Vec<[ArrayRef; 1]> = queries
        .chunks(BATCH)
        .map(|keys| [Arc::new(UInt64Array::from(keys.to_vec())) as ArrayRef])
        .collect();

    let mut found = vec![0; queries.len()];
    let batched: &mut dyn FnMut() = &mut || {
        ways.batched(&queries, &mut found);
        black_box(&found);
    };
    let mut others = vec![0; queries.len()];
    let mut other = |name: &'static str, way: fn(&Ways, &[u64], &mut [u64])| {
        ratio(name, queries.len(), &mut *batched, &mut || {
            way(&ways, &queries, &mut others);
            black_box(&others);
        });
    };
    other("partition_point / batched", Ways::partition_point);
    other("single / batched", Ways::single);
    other("hash map / batched", Ways::hash_map);
    ratio(
        "KeyIndex::ids / batched",
        queries.len(),
        &mut *batched,
        &mut || {
            for column in &columns {
                black_box(ways.index.ids(column).ok());
            }
        },
    );

    let mut group = criterion.benchmark_group(format!("key_lookup/{name}"));
    group.throughput(Throughput::Elements(queries.len() as u64));
    group.bench_function("batched", |b| {
        b.iter(|| ways.batched(&queries, &mut others))
    });
    group.finish();
    Ok(())
}

/// All ways must find the same, of keys and of numbers beside them.
fn check(ways: &Ways, queries: &[u64]) -> Result<(), Box<dyn Error>> {
    let beside = queries.iter().map(|key| key.wrapping_add(1));
    let queries: Vec<u64> = queries.iter().copied().chain(beside).collect();
    let mut expected = vec![0; queries.len()];
    ways.hash_map(&queries, &mut expected);
    for way in [Ways::batched, Ways::single, Ways::partition_point] {
        let mut found = vec![0; queries.len()];
        way(ways, &queries, &mut found);
        assert_eq!(found, expected);
    }
    let column: ArrayRef = Arc::new(UInt64Array::from(queries));
    assert_eq!(ways.index.ids(&[column])?.ids(), expected);
    Ok(())
}

/// Prints how many times longer the other way takes.
fn ratio(name: &str, lookups: usize, one: &mut dyn FnMut(), other: &mut dyn FnMut()) {
    let (mut ratios, mut ones, mut others) = (vec![], vec![], vec![]);
    for _ in 0..PAIRS {
        let one = time(lookups, one);
        let other = time(lookups, other);
        ratios.push(other / one);
        ones.push(one);
        others.push(other);
    }
    for times in [&mut ratios, &mut ones, &mut others] {
        times.sort_by(f64::total_cmp);
    }
    println!(
        "  {name} = {:.2} (median of {PAIRS} pairs, {:.2} to {:.2}; {:.1} ns and {:.1} ns a key)",
        ratios[PAIRS / 2],
        ratios[0],
        ratios[PAIRS - 1],
        others[PAIRS / 2],
        ones[PAIRS / 2],
    );
}

/// Nanoseconds for a key.
fn time(lookups: usize, way: &mut dyn FnMut()) -> f64 {
    let rounds = LOOKUPS.div_ceil(lookups);
    let begin = Instant::now();
    for _ in 0..rounds {
        way();
    }
    begin.elapsed().as_secs_f64() * 1e9 / (rounds * lookups) as f64
}

fn shuffle(keys: &mut [u64], next: &mut impl FnMut() -> u64) {
    for last in (1..keys.len()).rev() {
        let other = next() % (last as u64 + 1);
        keys.swap(last, usize::try_from(other).unwrap_or(last));
    }
}

/// Random numbers, the same in every run.
fn random() -> impl FnMut() -> u64 {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}
