//! Go's text for a document that is no JSON.

/// Go stops at arrays and objects within each other that are deeper.
const MAX_DEPTH: usize = 10_000;

/// What Go says about the first mistake of the text. The text must have one.
pub fn about(text: &[u8]) -> String {
    let mut reader = Reader { text, at: 0 };
    match reader.document() {
        Err(complaint) => complaint,
        // A mistake that this reader does not know.
        Ok(()) => END.to_owned(),
    }
}

const END: &str = "unexpected end of JSON input";

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

type Read = Result<(), String>;

impl Reader<'_> {
    fn document(&mut self) -> Read {
        // Which brackets are open, the innermost last.
        let mut open: Vec<u8> = Vec::new();
        loop {
            self.skip_space();
            let opened = self.value_start()?;
            if let Some(bracket) = opened {
                open.push(bracket);
                if open.len() > MAX_DEPTH {
                    return Err("exceeded max depth".to_owned());
                }
                if !self.enter(bracket, &mut open)? {
                    continue;
                }
            }
            if !self.after_value(&mut open)? {
                return Ok(());
            }
        }
    }

    /// Reads a scalar, or the bracket that starts an array or an object.
    fn value_start(&mut self) -> Result<Option<u8>, String> {
        const CONTEXT: &str = "looking for beginning of value";
        match self.peek() {
            Some(bracket @ (b'[' | b'{')) => {
                self.at += 1;
                return Ok(Some(bracket));
            }
            Some(b'"') => self.string()?,
            Some(b't') => self.word("true")?,
            Some(b'f') => self.word("false")?,
            Some(b'n') => self.word("null")?,
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ => return self.unexpected(CONTEXT).map(|()| None),
        }
        Ok(None)
    }

    /// After an opening bracket: true if it is closed at once.
    fn enter(&mut self, bracket: u8, open: &mut Vec<u8>) -> Result<bool, String> {
        self.skip_space();
        let close = if bracket == b'[' { b']' } else { b'}' };
        if self.peek() == Some(close) {
            self.at += 1;
            open.pop();
            return Ok(true);
        }
        if bracket == b'{' {
            self.key("looking for beginning of object key string")?;
        }
        Ok(false)
    }

    /// After a value: closes brackets, or reads a comma. False at the end of the document.
    fn after_value(&mut self, open: &mut Vec<u8>) -> Result<bool, String> {
        loop {
            self.skip_space();
            let Some(bracket) = open.last().copied() else {
                return if self.at < self.text.len() {
                    self.unexpected("after top-level value").map(|()| false)
                } else {
                    Ok(false)
                };
            };
            match (bracket, self.peek()) {
                (b'[', Some(b']')) | (b'{', Some(b'}')) => {
                    self.at += 1;
                    open.pop();
                }
                (b'[', Some(b',')) => {
                    self.at += 1;
                    return Ok(true);
                }
                (_, Some(b',')) => {
                    self.at += 1;
                    self.skip_space();
                    self.key("looking for beginning of object key string")?;
                    return Ok(true);
                }
                (b'[', _) => self.unexpected("after array element")?,
                _ => self.unexpected("after object key:value pair")?,
            }
        }
    }

    fn key(&mut self, context: &str) -> Read {
        if self.peek() != Some(b'"') {
            return self.unexpected(context);
        }
        self.string()?;
        self.skip_space();
        if self.peek() != Some(b':') {
            return self.unexpected("after object key");
        }
        self.at += 1;
        Ok(())
    }

    fn string(&mut self) -> Read {
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    self.at += 1;
                    self.escape()?;
                }
                Some(0..=0x1f) | None => return self.unexpected("in string literal"),
                Some(_) => self.at += 1,
            }
        }
        self.at += 1;
        Ok(())
    }

    fn escape(&mut self) -> Read {
        match self.peek() {
            Some(b'b' | b'f' | b'n' | b'r' | b't' | b'\\' | b'/' | b'"') => self.at += 1,
            Some(b'u') => {
                self.at += 1;
                for _ in 0..4 {
                    if !self.peek().is_some_and(|byte| byte.is_ascii_hexdigit()) {
                        return self.unexpected("in \\u hexadecimal character escape");
                    }
                    self.at += 1;
                }
            }
            _ => return self.unexpected("in string escape code"),
        }
        Ok(())
    }

    fn word(&mut self, word: &str) -> Read {
        for expected in word.bytes() {
            if self.peek() != Some(expected) {
                let expected = char::from(expected);
                return self.unexpected(&format!("in literal {word} (expecting '{expected}')"));
            }
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Read {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return self.unexpected("in numeric literal"),
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.wanted_digits("after decimal point in numeric literal")?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.wanted_digits("in exponent of numeric literal")?;
        }
        Ok(())
    }

    fn wanted_digits(&mut self, context: &str) -> Read {
        if !self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            return self.unexpected(context);
        }
        self.digits();
        Ok(())
    }

    fn digits(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn unexpected(&self, context: &str) -> Read {
        // Go reads a space at the end, which only fails within a word, a number or an escape.
        let within = context.contains("literal ")
            || context.contains("numeric")
            || context.contains("escape");
        let byte = match self.peek() {
            Some(byte) => byte,
            None if within => b' ',
            None => return Err(END.to_owned()),
        };
        let shown = match byte {
            b'\'' => r"'\''".to_owned(),
            b'"' => "'\"'".to_owned(),
            byte => {
                let quoted = expandybird_gotemplate::text::quoted(&char::from(byte).to_string());
                format!("'{}'", quoted.trim_matches('"'))
            }
        };
        Err(format!("invalid character {shown} {context}"))
    }
}
