//! Words that values are made of.

pub(super) const CONTINENTS: [&str; 5] = ["Africa", "America", "Asia", "Europe", "Oceania"];

/// Countries, and the continent of each by its place above.
pub(super) const COUNTRIES: [(&str, i64); 24] = [
    ("Argentina", 1),
    ("Australia", 4),
    ("Austria", 3),
    ("Brazil", 1),
    ("Canada", 1),
    ("Chile", 1),
    ("China", 2),
    ("Egypt", 0),
    ("Fiji", 4),
    ("France", 3),
    ("Germany", 3),
    ("India", 2),
    ("Italy", 3),
    ("Japan", 2),
    ("Kenya", 0),
    ("Mexico", 1),
    ("Morocco", 0),
    ("Nigeria", 0),
    ("Norway", 3),
    ("Poland", 3),
    ("Samoa", 4),
    ("Spain", 3),
    ("Turkey", 2),
    ("Vietnam", 2),
];

pub(super) const FIRST_NAMES: [&str; 24] = [
    "Ada", "Aiko", "Amir", "Anna", "Bruno", "Carla", "Chen", "Diego", "Elif", "Fatima", "Hans",
    "Ines", "Ivan", "José", "Kofi", "Linh", "Marta", "Noor", "Olga", "Pavel", "Ravi", "Søren",
    "Wei", "Zoë",
];

pub(super) const LAST_NAMES: [&str; 24] = [
    "Abe", "Alvarez", "Bauer", "Chavez", "Diop", "Eriksen", "Fischer", "Gupta", "Haddad", "Ito",
    "Jansen", "Kaya", "Lopez", "Müller", "Nguyen", "O'Neil", "Petrov", "Quispe", "Rossi", "Silva",
    "Tanaka", "Usman", "Wang", "Zhang",
];

pub(super) const BROWSERS: [&str; 4] = ["Chrome", "Firefox", "Opera", "Safari"];

pub(super) const TOPICS: [&str; 16] = [
    "art", "books", "chess", "cinema", "cooking", "cycling", "dance", "football", "gardens",
    "graphs", "history", "music", "physics", "poetry", "sailing", "travel",
];

pub(super) const WORDS: [&str; 20] = [
    "about", "again", "city", "evening", "friends", "good", "long", "more", "morning", "never",
    "news", "photo", "really", "road", "thanks", "today", "tomorrow", "walk", "week", "yes",
];
