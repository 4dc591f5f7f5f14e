//! Which line of a template wrote each resource of its output.
//!
//! Template engines do not say it. A line of the template can have written a line of the output if its own text is there, with
//! anything in the places of its tags. Where several lines can have, the lines after them decide, then the amount of own text.
//! Where these do not decide, there is no answer. A resource that an included file wrote has none either.

/// How many lines after the first decide between lines that are alike.
const FURTHER: usize = 3;
/// Lines that may have written a resource, times bytes of the output. Templates that people write stay far below.
const WORK: usize = 1 << 26;

/// A template's lines, for all of its outputs.
pub struct Lines {
    all: Vec<Pattern>,
    /// Those with which a resource can begin.
    first: Vec<usize>,
}

impl Lines {
    pub fn of(template: &str) -> Self {
        let all: Vec<Pattern> = template.lines().map(Pattern::new).collect();
        let first = (0..all.len())
            .filter(|&line| all[line].begins_item())
            .collect();
        Self { all, first }
    }

    /// The line that wrote each resource of an output, from 1. There are so many resources.
    pub fn behind(&self, output: &str, resources: usize) -> Vec<Option<u32>> {
        let bytes = output.len();
        let output: Vec<&str> = output.lines().collect();
        let items = items(&output);
        if items.len() != resources || self.first.len().saturating_mul(bytes) > WORK {
            return vec![None; resources];
        }
        let written = |item: usize| self.written(&output[item..]);
        items.into_iter().map(written).collect()
    }

    /// The line that wrote the first of these lines.
    fn written(&self, output: &[&str]) -> Option<u32> {
        let fits = |line: &usize| self.all[*line].fits(output[0]);
        let mut found: Vec<usize> = self.first.iter().copied().filter(fits).collect();
        for further in 1..=FURTHER {
            let Some(text) = output.get(further).filter(|_| found.len() > 1) else {
                break;
            };
            let goes_on = |line: &usize| {
                let next = self.all.get(line + further);
                next.is_some_and(|pattern| pattern.fits(text))
            };
            let rest: Vec<usize> = found.iter().copied().filter(goes_on).collect();
            if !rest.is_empty() {
                found = rest;
            }
        }
        let most = found.iter().map(|&line| self.all[line].own()).max()?;
        found.retain(|&line| self.all[line].own() == most);
        match found[..] {
            [line] => u32::try_from(line + 1).ok(),
            _ => None,
        }
    }
}

/// The indices of the lines with which the entries of `resources` begin.
fn items(output: &[&str]) -> Vec<usize> {
    let Some(key) = output
        .iter()
        .position(|line| line.trim_end() == "resources:")
    else {
        return Vec::new();
    };
    let mut lines = (key + 1..output.len())
        .filter(|&line| !is_blank(output[line]))
        .peekable();
    let indent = lines.peek().map_or(0, |&line| indent(output[line]));
    lines
        .take_while(|&line| indent < self::indent(output[line]) || is_item(output[line], indent))
        .filter(|&line| is_item(output[line], indent))
        .collect()
}

fn is_blank(line: &str) -> bool {
    let text = line.trim_start();
    text.is_empty() || text.starts_with('#')
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

fn is_item(line: &str, indent: usize) -> bool {
    let text = line.trim_start_matches(' ');
    line.len() - text.len() == indent && (text == "-" || text.starts_with("- "))
}

/// A line of a template: the texts between its tags.
struct Pattern(Vec<String>);

impl Pattern {
    fn new(line: &str) -> Self {
        let (mut texts, mut rest) = (Vec::new(), line.trim_end());
        while let Some(begin) = tag(rest) {
            let end = match rest.as_bytes()[begin + 1] {
                b'{' => "}}",
                b'%' => "%}",
                _ => "#}",
            };
            texts.push(rest[..begin].to_owned());
            // A tag may end on a later line.
            rest = match rest[begin + 2..].find(end) {
                Some(at) => &rest[begin + 2 + at + 2..],
                None => "",
            };
        }
        texts.push(rest.to_owned());
        Self(texts)
    }

    fn begins_item(&self) -> bool {
        let mut texts = self.0.iter().map(|text| text.trim_start());
        let first = texts.find(|text| !text.is_empty());
        first.is_some_and(|text| text.starts_with('-'))
    }

    /// Bytes of its own text.
    fn own(&self) -> usize {
        self.0.iter().map(|text| text.trim().len()).sum()
    }

    /// Whether it can have written the line.
    fn fits(&self, line: &str) -> bool {
        let line = line.trim_end();
        let (Some((first, rest)), Some(last)) = (self.0.split_first(), self.0.last()) else {
            return false;
        };
        if rest.is_empty() {
            return first == line;
        }
        let Some(mut inside) = line.strip_prefix(first.as_str()) else {
            return false;
        };
        for text in &rest[..rest.len() - 1] {
            let Some(at) = inside.find(text.as_str()) else {
                return false;
            };
            inside = &inside[at + text.len()..];
        }
        inside.ends_with(last.as_str())
    }
}

/// Where the next tag begins.
fn tag(line: &str) -> Option<usize> {
    let mut pairs = line.as_bytes().windows(2);
    pairs.position(|pair| pair[0] == b'{' && matches!(pair[1], b'{' | b'%' | b'#'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(template: &str, output: &str, resources: usize) -> Vec<Option<u32>> {
        Lines::of(template).behind(output, resources)
    }

    const TEMPLATE: &str = "\
# a comment
resources:
- name: {{ env['name'] }}-service
  type: Service
{% for zone in properties.zones %}
- name: {{ env.name }}-{{ zone }}
  type: Deployment
  properties:
    spec:
      containers:
      - name: {{ env.name }}
{% endfor %}
- {name: '{{ env.name }}', type: ConfigMap}
";

    #[test]
    fn each_resource_leads_to_the_line_that_wrote_it() {
        let output = "
resources:
- name: web-service
  type: Service
- name: web-a
  type: Deployment
  properties:
    spec:
      containers:
      - name: web

- name: web-service-b
  type: Deployment
- {name: 'web', type: ConfigMap}
outputs:
- name: none
";
        let lines = of(TEMPLATE, output, 4);
        assert_eq!(lines, [Some(3), Some(6), Some(6), Some(13)]);
    }

    #[test]
    fn there_is_no_line_where_several_can_be_meant_or_none_fits() {
        let template = "resources:\n- name: {{ a }}\n  type: Pod\n- name: {{ b }}\n  type: Pod\n";
        let output = "resources:\n- name: x\n  type: Pod\n- name: y\n  type: Pod\n";
        // The first is the one that another resource follows.
        assert_eq!(of(template, output, 2), [Some(2), None]);
        let included = "resources:\n{% include 'other.jinja' %}\n";
        assert_eq!(of(included, output, 2), [None, None]);
        assert_eq!(of(template, "resources: [{name: x, type: Pod}]", 1), [None]);
        assert_eq!(of(template, "", 0), []);
    }

    #[test]
    fn tags_that_do_not_end_and_texts_of_many_bytes_harm_nothing() {
        for line in ["{{", "- {%", "- é{{ ü", "{{}}{{", "{#"] {
            let _ = of(line, "resources:\n- é\n", 1);
        }
    }
}
