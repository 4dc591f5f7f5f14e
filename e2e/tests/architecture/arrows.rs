//! Which rooms of a package name which: a room is a top-level module of the package's `src`.
//!
//! The module tree is followed from `lib.rs` and `main.rs`, as the compiler does, without what is compiled for tests
//! only. An arrow is a path that begins at the crate's root: in a `use`, an expression, a type, or a macro's call.
//!
//! Not a lint of the compiler or of clippy: neither knows which module may name which.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use syn::visit::Visit;
use syn::{Attribute, Item, ItemMod, ItemUse, Meta, UseTree, Visibility};

use crate::named::Named;

/// A room, and the rooms that it uses.
pub type Arrows = BTreeMap<String, BTreeSet<String>>;

/// What a package's sources show.
#[derive(Debug, Default)]
pub struct Package {
    pub arrows: Arrows,
    /// Files of modules that are compiled for tests only.
    pub test_modules: Vec<PathBuf>,
}

/// Reads a package's `src`.
///
/// # Errors
/// A file cannot be read or parsed, or says with `#[path]` that a module is elsewhere.
pub fn read(src: &Path) -> Result<Package> {
    let mut reader = Reader::default();
    for root in ["lib.rs", "main.rs"] {
        let file = src.join(root);
        if file.exists() {
            reader.read_root(&file)?;
        }
    }
    let mut package = reader.package;
    let rooms: BTreeSet<_> = package.arrows.keys().cloned().collect();
    for to in package.arrows.values_mut() {
        to.retain(|name| rooms.contains(name));
    }
    Ok(package)
}

/// A way from a room back to itself; `None` if there is no circle.
pub fn circle(arrows: &Arrows) -> Option<Vec<String>> {
    arrows.keys().find_map(|room| {
        let mut way = vec![room.clone()];
        leads_back(arrows, room, room, &mut way, &mut BTreeSet::new()).then_some(way)
    })
}

fn leads_back(
    arrows: &Arrows,
    from: &str,
    to: &str,
    way: &mut Vec<String>,
    seen: &mut BTreeSet<String>,
) -> bool {
    for next in arrows.get(from).into_iter().flatten() {
        if next == to {
            way.push(next.clone());
            return true;
        }
        if seen.insert(next.clone()) {
            way.push(next.clone());
            if leads_back(arrows, next, to, way, seen) {
                return true;
            }
            way.pop();
        }
    }
    false
}

#[derive(Default)]
struct Reader {
    package: Package,
    /// Names that the root gives again, with the rooms that they come from.
    exported: BTreeMap<String, String>,
}

impl Reader {
    fn read_root(&mut self, file: &Path) -> Result<()> {
        let items = parse(file)?;
        let folder = file.parent().unwrap_or(Path::new(""));
        self.exported = exported(&items);
        for item in &items {
            let Item::Mod(module) = item else { continue };
            let room = module.ident.to_string();
            self.package.arrows.entry(room.clone()).or_default();
            self.read_module(module, folder, &[room])?;
        }
        Ok(())
    }

    /// `folder` is where files of modules are that the module's parent declares.
    fn read_module(&mut self, module: &ItemMod, folder: &Path, path: &[String]) -> Result<()> {
        let name = module.ident.to_string();
        let below = folder.join(&name);
        if let Some((_, items)) = &module.content {
            return match is_for_tests(&module.attrs) {
                true => Ok(()),
                false => self.read_items(items, &below, path),
            };
        }
        let file = match folder.join(format!("{name}.rs")) {
            file if file.exists() => file,
            _ => below.join("mod.rs"),
        };
        if is_for_tests(&module.attrs) {
            self.package.test_modules.push(file);
            return Ok(());
        }
        self.read_items(&parse(&file)?, &below, path)
    }

    fn read_items(&mut self, items: &[Item], folder: &Path, path: &[String]) -> Result<()> {
        for item in items {
            match item {
                Item::Mod(module) => {
                    let mut path = path.to_vec();
                    path.push(module.ident.to_string());
                    self.read_module(module, folder, &path)?;
                }
                item => self.note(item, path),
            }
        }
        Ok(())
    }

    fn note(&mut self, item: &Item, path: &[String]) {
        let mut named = Named::new(path.len());
        named.visit_item(item);
        let room = &path[0];
        let to = named.into_names();
        let to = to.map(|name| self.exported.get(&name).cloned().unwrap_or(name));
        let to: Vec<_> = to.filter(|name| name != room).collect();
        self.package
            .arrows
            .entry(room.clone())
            .or_default()
            .extend(to);
    }
}

fn parse(file: &Path) -> Result<Vec<Item>> {
    let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
    let parsed = syn::parse_file(&text).with_context(|| file.display().to_string())?;
    ensure!(
        !parsed.items.iter().any(is_elsewhere),
        "{}: a module with #[path] is not followed; put its file where the compiler looks for it",
        file.display()
    );
    Ok(parsed.items)
}

fn is_elsewhere(item: &Item) -> bool {
    let Item::Mod(module) = item else {
        return false;
    };
    let mut attributes = module.attrs.iter();
    !is_for_tests(&module.attrs) && attributes.any(|attribute| attribute.path().is_ident("path"))
}

pub fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => list.tokens.to_string() == "test",
        _ => false,
    })
}

/// `pub use room::Name` of the root.
fn exported(items: &[Item]) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for item in items {
        let Item::Use(ItemUse {
            vis: Visibility::Public(_),
            tree,
            ..
        }) = item
        else {
            continue;
        };
        for path in paths(tree) {
            if let [room, .., name] = &path[..] {
                all.insert(name.clone(), room.clone());
            }
        }
    }
    all
}

/// Every path of a `use`; one that is given another name ends with that name.
pub fn paths(tree: &UseTree) -> Vec<Vec<String>> {
    match tree {
        UseTree::Path(path) => {
            let mut below = paths(&path.tree);
            for rest in &mut below {
                rest.insert(0, path.ident.to_string());
            }
            below
        }
        UseTree::Name(name) => vec![vec![name.ident.to_string()]],
        UseTree::Rename(rename) => vec![vec![rename.ident.to_string(), rename.rename.to_string()]],
        UseTree::Glob(_) => vec![vec!["*".to_owned()]],
        UseTree::Group(group) => group.items.iter().flat_map(paths).collect(),
    }
}
