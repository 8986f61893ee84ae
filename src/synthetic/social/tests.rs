use datafusion::arrow::array::{Array, AsArray};
use datafusion::arrow::datatypes::Int32Type;
use object_store::memory::InMemory;
use object_store::{ObjectStore, ObjectStoreExt};

use super::*;

#[test]
fn equal_sizes_give_equal_graphs() {
    let (one, other) = (vertices::Counts::of(50), vertices::Counts::of(50));
    assert!(one.post_creators.len() > 50);
    for (a, b) in vertices::all(&one)
        .unwrap()
        .iter()
        .zip(vertices::all(&other).unwrap())
    {
        assert_eq!(a.rows, b.rows);
        assert_eq!(a.labels, b.labels);
    }
    for (a, b) in edges::all(&one)
        .unwrap()
        .iter()
        .zip(edges::all(&other).unwrap())
    {
        assert_eq!(a.rows, b.rows);
        assert_eq!(a.ends.source, b.ends.source);
        assert_eq!(a.ends.destination, b.ends.destination);
    }
}

#[test]
fn friends_are_pairs_of_different_persons_each_once() {
    let counts = vertices::Counts::of(2000);
    let knows = &edges::all(&counts).unwrap()[0];
    let sources = knows.ends.source.values();
    let pairs: Vec<_> = sources
        .iter()
        .zip(knows.ends.destination.values())
        .collect();
    assert!((14_000..20_000).contains(&pairs.len()), "{}", pairs.len());
    assert!(pairs.iter().all(|(a, b)| a < b && (0..2000).contains(*b)));
    assert!(pairs.windows(2).all(|two| two[0] < two[1]));
    // Popular persons have low numbers.
    let of_first = sources.iter().filter(|source| **source < 20).count();
    assert!(of_first * 10 > pairs.len(), "{of_first} of {}", pairs.len());
}

#[test]
fn values_have_what_tests_look_for() {
    let counts = vertices::Counts::of(500);
    let tables = vertices::all(&counts).unwrap();
    let [place, organisation, tag, person, post, comment] = tables.as_slice() else {
        panic!("six types");
    };
    let counts_of = [place, organisation, tag, person].map(|table| table.rows.num_rows());
    assert_eq!(counts_of, [101, 144, 64, 500]);
    assert_eq!(comment.rows.num_rows(), 2 * post.rows.num_rows());
    let labels = place.labels.as_ref().unwrap();
    assert_eq!(labels.value(0).as_string::<i32>().value(0), "continent");
    assert_eq!(labels.value(100).as_string::<i32>().value(0), "city");
    let emails = person.rows.column_by_name("emails").unwrap();
    let emails = emails.as_list::<i32>();
    assert!((0..500).any(|row| emails.value(row).is_empty()));
    assert!((0..500).any(|row| emails.value(row).len() == 3));
    let (content, image) = (&post.rows["content"], &post.rows["imageFile"]);
    assert_eq!(
        content.null_count() + image.null_count(),
        post.rows.num_rows()
    );
    assert!(image.null_count() * 10 > post.rows.num_rows() * 8);
    let lengths = post.rows["length"].as_primitive::<Int32Type>();
    for row in 0..post.rows.num_rows() {
        let text = content.as_string::<i32>();
        let length = i32::try_from(text.value(row).len()).unwrap();
        assert_eq!(lengths.value(row), length);
    }
}

#[tokio::test]
async fn every_size_can_be_written() {
    for persons in [0, 1, 2, 40] {
        let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        let graph = SocialGraph {
            vertex_chunk_size: 16,
            edge_chunk_size: 64,
            ..SocialGraph::new(persons)
        };
        let path = graph
            .write(Arc::clone(&store), Path::from("g"))
            .await
            .unwrap();
        assert_eq!(path.as_ref(), "g/social.graph.yml");
        let count = Path::from("g/vertex/person/vertex_count");
        let bytes = store.get(&count).await.unwrap().bytes().await.unwrap();
        let count = i64::from_le_bytes(bytes.as_ref().try_into().unwrap());
        assert_eq!(count, i64::from(persons));
    }
}
