//! The chart as of the build of this program, so an installation needs no registry and matches the program.

use common::model::Import;

/// The type in the configuration.
pub const TEMPLATE: &str = "deployment-manager.py";

macro_rules! chart {
    ($($file:literal)*) => {
        &[$(($file, include_str!(concat!("../../../charts/deployment-manager/v1/", $file)))),*]
    };
}

const FILES: &[(&str, &str)] = chart![
    "deployment-manager.py"
    "deployment-manager.py.schema"
    "access.py"
    "etcd.py"
    "network.py"
    "objects.py"
    "pods.py"
    "settings.py"
    "store.py"
];

pub fn files() -> Vec<Import> {
    let imports = FILES.iter().map(|(name, content)| Import {
        name: (*name).to_owned(),
        path: None,
        content: (*content).to_owned(),
    });
    imports.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_chart_is_in_the_program_but_its_example() {
        let folder = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../charts/deployment-manager/v1"
        );
        let mut there: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != "example.yaml")
            .collect();
        let mut here: Vec<_> = FILES.iter().map(|(name, _)| (*name).to_owned()).collect();
        there.sort();
        here.sort();
        assert_eq!(here, there);
    }
}
