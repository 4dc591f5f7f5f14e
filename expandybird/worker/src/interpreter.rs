//! The embedded Python: warmed up in the zygote, runs templates in a session.
//!
//! Responsible for every name that Rust calls in our Python sources.

mod failure;
mod rehearsal;

use std::ffi::CString;

use expandybird_protocol::control::Configuration;
use expandybird_protocol::session::{Call, Failure, Limits, Open, Output, TemplateResult};
use nix::unistd::Pid;
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use crate::error::WorkerError;
use crate::lockdown::{self, Memory};
use crate::value::{self, Bounds, ResultError};

/// A module's name and its source.
type Source = (&'static str, &'static str);

/// What loads all others.
const LOADERS: [Source; 2] = [
    ("expandybird_process", include_str!("python/process.py")),
    ("expandybird_library", include_str!("python/library.py")),
];

/// What runs in sessions, in the order of its dependencies.
const SESSIONS: [Source; 4] = [
    ("expandybird_fixed", include_str!("python/fixed.py")),
    ("expandybird_helpers", include_str!("python/helpers.py")),
    ("expandybird_templates", include_str!("python/templates.py")),
    ("expandybird_failures", include_str!("python/failures.py")),
];

/// An interpreter with all modules loaded that templates may import.
pub struct Interpreter<'py> {
    process: Bound<'py, PyModule>,
    leave: Bound<'py, PyAny>,
    library: Bound<'py, PyModule>,
    templates: Bound<'py, PyModule>,
    failures: Bound<'py, PyModule>,
    /// Whether a child gets the pages that a session needs without a rehearsal of its own.
    knows_its_pages: bool,
    pub version: String,
}

impl<'py> Interpreter<'py> {
    pub fn warm_up(py: Python<'py>, configuration: &Configuration) -> Result<Self, WorkerError> {
        let failed = || WorkerError::python("load its library");
        let mut interpreter = Self::load(py, configuration).map_err(failed())?;
        prepare_errors(py);
        rehearsal::enough(&interpreter)?;
        let library = interpreter.library.clone();
        library.call_method0("settle").map_err(failed())?;
        // A session takes the memory that this one frees.
        rehearsal::once(&interpreter)?;
        library.call_method0("freeze").map_err(failed())?;
        interpreter.knows_its_pages = interpreter.learn_pages()?;
        if !interpreter.knows_its_pages {
            eprintln!(
                "expandybird-worker: the kernel does not show which pages a session needs; each will rehearse"
            );
        }
        Ok(interpreter)
    }

    /// What sessions use comes last, so that it lies together in memory.
    fn load(py: Python<'py>, configuration: &Configuration) -> PyResult<Self> {
        let [process, library] = load(py, LOADERS)?;
        process.call_method0("close_inherited")?;
        library.call_method1("warm_up", (configuration.python_path.as_deref(),))?;
        library.call_method0("settle")?;
        let [fixed, _, templates, failures] = load(py, SESSIONS)?;
        fixed.call_method0("check")?;
        Ok(Self {
            knows_its_pages: false,
            leave: process.getattr("leave")?,
            process,
            library,
            templates,
            failures,
            version: version(py),
        })
    }

    /// A child rehearses, so that later children know which pages a session needs.
    fn learn_pages(&self) -> Result<bool, WorkerError> {
        let failed = || WorkerError::python("learn which pages a session needs");
        let scout = self.process.call_method0("fork_scout").map_err(failed())?;
        let scout: i32 = scout.extract().map_err(failed())?;
        if scout == 0 {
            // The child ends in any case: only the zygote may go on from here.
            if rehearsal::once(self).is_ok() {
                self.process
                    .call_method0("leave_learned")
                    .map_err(failed())?;
            }
            self.leave()?;
        }
        let known = self.process.call_method1("take_learned", (scout,));
        known.and_then(|known| known.extract()).map_err(failed())
    }

    /// In a process that waits for its session: the kernel gives it its own pages on first use, and so before the request
    /// arrives. A process that was forked with these pages needs no rehearsal. Without a helper module, because most
    /// templates have none.
    pub fn rehearse_once(&self) -> Result<(), WorkerError> {
        match self.knows_its_pages {
            true => Ok(()),
            false => rehearsal::once(self),
        }
    }

    /// Takes back what sessions of our own leave behind.
    fn rehearsal(&self) -> Result<Bound<'py, PyAny>, WorkerError> {
        let rehearsal = self.templates.call_method0("Rehearsal");
        rehearsal.map_err(WorkerError::python("rehearse a session"))
    }

    /// Forks. In the child, standard input is now the stream.
    pub fn fork(&self, stream: i32) -> Result<Option<Pid>, WorkerError> {
        let child: i32 = self
            .process
            .call_method1("fork", (stream,))
            .and_then(|child| child.extract())
            .map_err(WorkerError::python("fork"))?;
        Ok((child != 0).then(|| Pid::from_raw(child)))
    }

    /// Ends this process without cleanup. Cleanup takes long in a copy of a warm interpreter, and would run code that
    /// templates registered for the end.
    pub fn leave(&self) -> Result<(), WorkerError> {
        self.leave
            .call1((0,))
            .map(drop)
            .map_err(WorkerError::python("leave"))
    }

    /// Makes the imports of a request available to its templates.
    pub fn open(&self, open: Open) -> Result<Templates<'py>, WorkerError> {
        let imports: Vec<(String, String, String)> = open
            .imports
            .into_iter()
            .map(|import| (import.name, import.path, import.content))
            .collect();
        let session = self
            .templates
            .call_method1(
                "Session",
                (
                    imports,
                    open.current_time,
                    open.seed,
                    open.limits.output_bytes,
                ),
            )
            .map_err(WorkerError::python("open a session"))?;
        Ok(Templates {
            session,
            describe: self
                .failures
                .getattr("describe")
                .map_err(WorkerError::python("open a session"))?,
            limits: open.limits,
        })
    }
}

/// pyo3 makes a type when it takes the first exception. A template that has used all its memory leaves none for that, and
/// pyo3 would end the process.
fn prepare_errors(py: Python<'_>) {
    PyMemoryError::new_err(()).restore(py);
    drop(PyErr::take(py));
}

fn load<'py, const N: usize>(
    py: Python<'py>,
    sources: [Source; N],
) -> PyResult<[Bound<'py, PyModule>; N]> {
    let mut modules = Vec::with_capacity(N);
    for (name, source) in sources {
        let [source, file, name] = [source, &format!("<{name}>"), name].map(CString::new);
        modules.push(PyModule::from_code(py, &source?, &file?, &name?)?);
    }
    modules.try_into().map_err(|_| PyMemoryError::new_err(()))
}

fn version(py: Python<'_>) -> String {
    let version = py.version_info();
    format!("{}.{}.{}", version.major, version.minor, version.patch)
}

/// The templates of one session.
pub struct Templates<'py> {
    session: Bound<'py, PyAny>,
    describe: Bound<'py, PyAny>,
    limits: Limits,
}

impl<'py> Templates<'py> {
    /// Runs one instance. An error is the worker's own. A fault of a template is a failure.
    pub fn call(&self, call: &Call) -> Result<Result<Output, Failure>, WorkerError> {
        let arguments = self
            .arguments(call)
            .map_err(WorkerError::python("take the arguments"))?;
        lockdown::allot(Memory::Template, &self.limits)?;
        let returned = self.session.call_method1("call", arguments);
        lockdown::allot(Memory::Worker, &self.limits)?;
        let outcome = returned
            .map_err(ResultError::Raised)
            .and_then(|object| self.output(&object));
        Ok(match outcome {
            Ok(output) => Ok(output),
            Err(error) => Err(self.failure(error)?),
        })
    }

    /// [`Self::call`] without limits, for our own templates.
    fn run(&self, call: &Call) -> Result<Output, ResultError> {
        let arguments = self.arguments(call)?;
        self.output(&self.session.call_method1("call", arguments)?)
    }

    fn arguments(&self, call: &Call) -> PyResult<Bound<'py, PyTuple>> {
        let py = self.session.py();
        let properties = match &call.properties {
            Some(properties) => value::to_python(py, properties)?,
            None => py.None().into_bound(py),
        };
        (&call.template, value::dict(py, &call.env)?, properties).into_pyobject(py)
    }

    fn output(&self, object: &Bound<'_, PyAny>) -> Result<Output, ResultError> {
        let bounds = Bounds {
            text_bytes: self.limits.output_bytes,
            // The template may hold the other half.
            memory_bytes: usize::try_from(self.limits.memory_bytes / 2).unwrap_or(usize::MAX),
        };
        let result = match object.cast::<PyString>() {
            Ok(text) => TemplateResult::Text(value::text(text, bounds)?),
            Err(_) => TemplateResult::Data(value::from_python(object, bounds)?),
        };
        let printed = self.session.getattr("printed")?.call_method0("text")?;
        Ok(Output {
            result,
            printed: printed.extract()?,
        })
    }
}
