//! What we make of a chart, in the form of the original's answer.

use expandybird_chart::{Capabilities, Chart, File, Release, Rendered, render};

use crate::case::Case;
use crate::original::{Answer, Hook, Manifest};

pub fn answer(case: &Case) -> Answer {
    match rendered(case) {
        Ok(rendered) => as_answer(rendered),
        Err(error) => Answer {
            error,
            ..Answer::default()
        },
    }
}

fn rendered(case: &Case) -> Result<Rendered, String> {
    let files = case.files.iter();
    let files = files.map(|(path, data)| File::new(path.as_str(), data.as_slice()));
    let chart = Chart::from_folder(files.collect()).map_err(|error| error.to_string())?;
    let release = Release::install("demo", "default");
    let capabilities = Capabilities::default();
    let limits = Default::default();
    render(
        &chart,
        &case.values,
        &release,
        &capabilities,
        limits,
        Default::default(),
    )
    .map_err(|error| error.to_string())
}

fn as_answer(rendered: Rendered) -> Answer {
    let manifests = rendered.manifests.into_iter().map(|manifest| Manifest {
        path: manifest.path,
        kind: manifest.kind,
        text: manifest.text,
    });
    let hooks = rendered.hooks.into_iter().map(|hook| Hook {
        path: hook.manifest.path,
        kind: hook.manifest.kind,
        text: hook.manifest.text,
        name: hook.manifest.name,
        events: hook
            .events
            .iter()
            .map(|event| event.text().to_owned())
            .collect(),
        weight: hook.weight,
        policies: hook.delete_policies,
    });
    Answer {
        manifests: Some(manifests.collect()),
        hooks: Some(hooks.collect()),
        crds: Some(rendered.crds.into_iter().map(|file| file.name).collect()),
        notes: rendered.notes,
        error: String::new(),
    }
}
