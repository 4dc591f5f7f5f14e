//! An index that is written as YAML, read as events.

use saphyr_parser::{Event, Parser, StrInput};

use super::{Archive, Builder, IndexError, too_large};

/// How deep lists and maps may be nested.
const DEPTH: usize = 100;

pub fn read(text: &str, builder: &mut Builder) -> Result<(), IndexError> {
    Reader::new(text).document(builder)
}

struct Reader<'a> {
    events: Parser<'a, StrInput<'a>>,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            events: Parser::new_from_str(text),
            depth: 0,
        }
    }

    /// The next event with content or structure.
    fn next(&mut self) -> Result<Event<'a>, IndexError> {
        loop {
            let Some(event) = self.events.next() else {
                return Ok(Event::StreamEnd);
            };
            let (event, _) = event.map_err(|error| IndexError::Syntax {
                line: error.marker().line().max(1),
                reason: error.info().to_owned(),
            })?;
            match event {
                Event::Nothing | Event::StreamStart | Event::DocumentStart(_) => {}
                Event::SequenceStart(..) | Event::MappingStart(..) => {
                    self.depth += 1;
                    if self.depth > DEPTH {
                        return Err(too_large("levels", DEPTH));
                    }
                    return Ok(event);
                }
                Event::SequenceEnd | Event::MappingEnd => {
                    self.depth = self.depth.saturating_sub(1);
                    return Ok(event);
                }
                event => return Ok(event),
            }
        }
    }

    fn document(&mut self, builder: &mut Builder) -> Result<(), IndexError> {
        match self.next()? {
            Event::MappingStart(..) => {}
            Event::StreamEnd | Event::DocumentEnd => return Err(IndexError::Empty),
            Event::Scalar(text, ..) if text.is_empty() => return Err(IndexError::Empty),
            _ => return Err(IndexError::Form),
        }
        while let Some(key) = self.key()? {
            match key.as_str() {
                "apiVersion" => builder.api_version(&self.text()?),
                "entries" => self.entries(builder)?,
                _ => self.pass()?,
            }
        }
        Ok(())
    }

    fn entries(&mut self, builder: &mut Builder) -> Result<(), IndexError> {
        match self.next()? {
            Event::MappingStart(..) => {}
            Event::Scalar(..) => return Ok(()),
            _ => return Err(IndexError::Form),
        }
        while let Some(chart) = self.key()? {
            match self.next()? {
                Event::SequenceStart(..) => self.versions(&chart, builder)?,
                event => self.pass_from(&event)?,
            }
        }
        Ok(())
    }

    fn versions(&mut self, chart: &str, builder: &mut Builder) -> Result<(), IndexError> {
        loop {
            match self.next()? {
                Event::SequenceEnd => return Ok(()),
                Event::MappingStart(..) => {
                    let archive = self.version()?;
                    builder.add(chart, archive)?;
                }
                event => self.pass_from(&event)?,
            }
        }
    }

    fn version(&mut self) -> Result<Archive, IndexError> {
        let mut archive = Archive::default();
        while let Some(key) = self.key()? {
            match key.as_str() {
                "version" => archive.version = self.text()?,
                "digest" => archive.digest = Some(self.text()?),
                "urls" => archive.url = self.first()?,
                _ => self.pass()?,
            }
        }
        Ok(archive)
    }

    /// The next key of a map; `None` at its end.
    fn key(&mut self) -> Result<Option<String>, IndexError> {
        match self.next()? {
            Event::MappingEnd => Ok(None),
            Event::Scalar(text, ..) => Ok(Some(text.into_owned())),
            _ => Err(IndexError::Form),
        }
    }

    /// A text. Anything else counts as an empty one.
    fn text(&mut self) -> Result<String, IndexError> {
        match self.next()? {
            Event::Scalar(text, ..) => Ok(text.into_owned()),
            event => self.pass_from(&event).map(|()| String::new()),
        }
    }

    /// The first text of a list.
    fn first(&mut self) -> Result<String, IndexError> {
        let mut first = None;
        match self.next()? {
            Event::SequenceStart(..) => loop {
                match self.next()? {
                    Event::SequenceEnd => return Ok(first.unwrap_or_default()),
                    Event::Scalar(text, ..) => first = first.or(Some(text.into_owned())),
                    event => self.pass_from(&event)?,
                }
            },
            event => self.pass_from(&event).map(|()| String::new()),
        }
    }

    /// Passes over a value.
    fn pass(&mut self) -> Result<(), IndexError> {
        let event = self.next()?;
        self.pass_from(&event)
    }

    /// Passes over the value that begins with this event.
    fn pass_from(&mut self, event: &Event<'_>) -> Result<(), IndexError> {
        match event {
            Event::SequenceStart(..) | Event::MappingStart(..) => {}
            Event::StreamEnd | Event::DocumentEnd => return Err(IndexError::Form),
            _ => return Ok(()),
        }
        let outside = self.depth - 1;
        while self.depth > outside {
            if matches!(self.next()?, Event::StreamEnd) {
                return Err(IndexError::Form);
            }
        }
        Ok(())
    }
}
