#!/usr/bin/env python3
"""Asks Python's `re` which of the texts each pattern of patterns.txt is found in, and writes facts.json.

Only needed when patterns are added: the tests read facts.json. Asked of Python 3.11.
"""

import json
import pathlib
import re
import warnings

TEXTS = [
    "", "a", "A", "ab", "abc", "aab", "aabb", "a\n", "a\n\n", "\na", "b\na", "a\nb", "ABC", "a b", "a-b", "a_b",
    "a.b", "a]b", "a1", "1", "12", "123", "\u0663", "é", "É", "ß", "x\u00a0y", "\x1c", "\x85", "\u200b", "_", "ａ",
    "١٢", "foo", "FOO", "foobar", "barfoo", "foo\n", "foo\nbar", "my-name", "my-name-", "-x", "10.0.0.1",
    "10.0.0.256", "http://a.b/c", "aa", "aA", "abab", "abAB", "#", "a#b", "{", "}", "a{1}", "a{,2}", "a{2", "]", "[",
    "^", "$", "\\", "\x07\x08", "\t", "\x00", "S", "A0", "\x01", "projects/p-1/zones/us-central1-a", "K", "k",
    "\ufeff", " ", "x" * 70,
]  # fmt: skip

HERE = pathlib.Path(__file__).parent


def found(pattern):
    try:
        compiled = re.compile(pattern)
    except (re.error, OverflowError):
        return None
    return [index for index, text in enumerate(TEXTS) if compiled.search(text)]


def main():
    warnings.simplefilter("ignore")
    patterns = (HERE / "patterns.txt").read_text().removesuffix("\n").split("\n")
    facts = [{"pattern": pattern, "found": found(pattern)} for pattern in patterns]
    lines = ",\n    ".join(json.dumps(fact) for fact in facts)
    text = f'{{\n  "texts": {json.dumps(TEXTS)},\n  "facts": [\n    {lines}\n  ]\n}}\n'
    (HERE / "facts.json").write_text(text)


if __name__ == "__main__":
    main()
