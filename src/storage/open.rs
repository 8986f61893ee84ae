//! From a location to the info files of an archive.

use futures::{StreamExt, stream};
use object_store::path::Path;

use super::archive::{InfoFile, MissingInfo};
use super::files::read_text;
use super::location::Location;
use super::stores::Stores;
use crate::error::{GraphArError, Result};
use crate::format::{EdgeInfo, GraphInfo, InfoKind, Problem, VertexInfo, validate_graph};

/// Info files fetched at once.
const CONCURRENT_INFOS: usize = 16;

/// Most graph info files in a folder that a message lists.
const MAX_LISTED: usize = 8;

/// Info files of an archive, before any count is read.
#[derive(Debug)]
pub struct Infos {
    /// The file that was opened: a graph info, or the info of a single type.
    pub file: Location,
    /// What kind of info file that is.
    pub kind: InfoKind,
    /// The graph info; empty if a single type was opened.
    pub graph: GraphInfo,
    /// The vertex infos that are there, in the order of the graph info.
    pub vertices: Vec<InfoFile<VertexInfo>>,
    /// The edge infos that are there, in the order of the graph info.
    pub edges: Vec<InfoFile<EdgeInfo>>,
    /// Info files that the graph info names, but that are not there.
    pub missing: Vec<MissingInfo>,
    /// What is wrong with the info files.
    pub problems: Vec<Problem>,
}

/// Reads the info files that `location` leads to.
///
/// # Errors
/// If there is no info file, one cannot be read as such, or together they make no graph.
pub(super) async fn open_infos(location: &str, stores: &Stores) -> Result<Infos> {
    let place = Location::parse(location, stores)?;
    sound(inspect_infos(&place, location, stores).await?)
}

/// The info files of the graph whose info file `file` is; `None` if there is no such file.
///
/// # Errors
/// As [`Archive::open`](super::Archive::open), before any count is read.
pub async fn find_infos(file: &Location, stores: &Stores) -> Result<Option<Infos>> {
    match read_text(file).await? {
        Some(text) => Ok(Some(sound(read_infos(file.clone(), &text, stores).await?)?)),
        None => Ok(None),
    }
}

/// The infos, if together they make a graph; what else is wrong is logged.
fn sound(mut infos: Infos) -> Result<Infos> {
    let path = infos.file.to_string();
    let mut fatal = vec![];
    for problem in infos.problems.drain(..) {
        if problem.fatal {
            fatal.push(problem.error);
        } else {
            log::warn!("{}", problem.error);
        }
    }
    match fatal.len() {
        0 => Ok(infos),
        1 => Err(fatal.remove(0)),
        _ => Err(GraphArError::Invalid {
            path,
            problems: fatal,
        }),
    }
}

/// Reads the info files that `place` leads to, which messages call `location`. What is wrong with those
/// behind the first stands in `problems`, and the others are read.
///
/// # Errors
/// If there is no info file, or the first cannot be read as such.
pub(super) async fn inspect_infos(
    place: &Location,
    location: &str,
    stores: &Stores,
) -> Result<Infos> {
    let (file, text) = find_info(place, location, stores).await?;
    read_infos(file, &text, stores).await
}

async fn read_infos(file: Location, text: &str, stores: &Stores) -> Result<Infos> {
    let path = file.to_string();
    let mut infos = Infos {
        kind: InfoKind::of(text, &path)?,
        graph: GraphInfo::default(),
        vertices: vec![],
        edges: vec![],
        missing: vec![],
        problems: vec![],
        file,
    };
    match infos.kind {
        InfoKind::Graph => {
            infos.graph = GraphInfo::from_yaml(text, &path)?;
            read_listed(&mut infos, stores).await;
        }
        InfoKind::Vertex => infos.vertices.push(InfoFile {
            info: VertexInfo::from_yaml(text, &path)?,
            file: infos.file.clone(),
        }),
        InfoKind::Edge => infos.edges.push(InfoFile {
            info: EdgeInfo::from_yaml(text, &path)?,
            file: infos.file.clone(),
        }),
    }
    let found = validate(&infos);
    infos.problems.extend(found);
    Ok(infos)
}

/// The info file at `location`, or the only graph info in the folder `location`.
async fn find_info(
    place: &Location,
    location: &str,
    stores: &Stores,
) -> Result<(Location, String)> {
    let fail = |reason: String| GraphArError::Location {
        location: location.to_owned(),
        reason,
    };
    if is_yaml(place.file_name()) {
        let text = read_text(place).await?;
        return text
            .map(|text| (place.clone(), text))
            .ok_or_else(|| fail("there is no such file".to_owned()));
    }
    let folder = if place.path().is_empty() {
        None
    } else {
        Some(place.object_path()?)
    };
    let names = graph_infos_in(place, folder.as_ref()).await?;
    match names.as_slice() {
        [] => Err(fail(
            "there is no such file, and no folder of this name with a .graph.yml in it".to_owned(),
        )),
        [name] => {
            // The name comes from the store itself, so it is taken as it is, not as a prefix.
            let file = place.resolve(&format!("./{name}"), stores)?;
            let text = read_text(&file).await?;
            text.map(|text| (file, text))
                .ok_or_else(|| fail(format!("{name} is gone")))
        }
        names => {
            let listed = names.iter().take(MAX_LISTED).cloned().collect::<Vec<_>>();
            Err(fail(format!(
                "the folder holds {} graphs, name one of them: {}",
                names.len(),
                listed.join(", ")
            )))
        }
    }
}

/// The only listing there is: it finds the graph info of a folder when the archive is opened.
async fn graph_infos_in(place: &Location, folder: Option<&Path>) -> Result<Vec<String>> {
    let listing = place
        .store()
        .list_with_delimiter(folder)
        .await
        .map_err(|e| GraphArError::store(place.to_string(), "a folder", e))?;
    let mut names: Vec<String> = listing
        .objects
        .iter()
        .filter_map(|object| object.location.filename())
        .filter(|name| name.ends_with(".graph.yml") || name.ends_with(".graph.yaml"))
        .map(str::to_owned)
        .collect();
    names.sort();
    Ok(names)
}

fn is_yaml(name: &str) -> bool {
    name.ends_with(".yml") || name.ends_with(".yaml")
}

/// Reads the info files that the graph info names, in its order.
async fn read_listed(infos: &mut Infos, stores: &Stores) {
    let folders = info_folders(&infos.graph, &infos.file, stores);
    let entries = &infos.graph.vertices;
    for entry in read_entries(InfoKind::Vertex, entries, &folders, stores).await {
        match parsed(entry, VertexInfo::from_yaml) {
            Ok(Ok(info)) => infos.vertices.push(info),
            Ok(Err(missing)) => infos.missing.push(missing),
            Err(error) => infos.problems.push(Problem { fatal: true, error }),
        }
    }
    let entries = &infos.graph.edges;
    for entry in read_entries(InfoKind::Edge, entries, &folders, stores).await {
        match parsed(entry, EdgeInfo::from_yaml) {
            Ok(Ok(info)) => infos.edges.push(info),
            Ok(Err(missing)) => infos.missing.push(missing),
            Err(error) => infos.problems.push(Problem { fatal: true, error }),
        }
    }
}

fn parsed<T>(
    entry: Result<Entry>,
    parse: impl Fn(&str, &str) -> Result<T>,
) -> Result<Result<InfoFile<T>, MissingInfo>> {
    match entry? {
        Ok((file, text)) => {
            let info = parse(&text, &file.to_string())?;
            Ok(Ok(InfoFile { info, file }))
        }
        Err(missing) => Ok(Err(missing)),
    }
}

/// Where info files are looked for: beside the graph info (C++, Java), then in its data root (Spark).
fn info_folders(graph: &GraphInfo, file: &Location, stores: &Stores) -> Vec<Location> {
    let beside = file.parent();
    let root = graph
        .prefix
        .as_deref()
        .and_then(|prefix| beside.resolve(prefix, stores).ok());
    let mut folders = vec![beside];
    folders.extend(root.filter(|root| !root.same_as(&folders[0])));
    folders
}

/// An info file and its text, or that it is missing.
type Entry = Result<(Location, String), MissingInfo>;

async fn read_entries(
    kind: InfoKind,
    entries: &[String],
    folders: &[Location],
    stores: &Stores,
) -> Vec<Result<Entry>> {
    stream::iter(entries.to_vec())
        .map(|entry| async move { read_entry(kind, &entry, folders, stores).await })
        .buffered(CONCURRENT_INFOS)
        .collect()
        .await
}

/// The text of an info file, from the first folder that has it.
async fn read_entry(
    kind: InfoKind,
    entry: &str,
    folders: &[Location],
    stores: &Stores,
) -> Result<Entry> {
    let mut first = None;
    for folder in folders {
        let file = folder.resolve(entry, stores)?;
        if let Some(text) = read_text(&file).await? {
            return Ok(Ok((file, text)));
        }
        first.get_or_insert(file);
    }
    let path = first.map_or_else(|| entry.to_owned(), |file| file.to_string());
    Ok(Err(MissingInfo::new(kind, entry, path)))
}

/// What shows only when the info files are put side by side.
fn validate(infos: &Infos) -> Vec<Problem> {
    let path = infos.file.to_string();
    let vertices: Vec<_> = infos
        .vertices
        .iter()
        .map(|v| (v.file.to_string(), v.info.clone()))
        .collect();
    let edges: Vec<_> = infos
        .edges
        .iter()
        .map(|e| (e.file.to_string(), e.info.clone()))
        .collect();
    validate_graph(&path, &infos.graph, &vertices, &edges)
}
