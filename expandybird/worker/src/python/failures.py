"""Explains to authors what went wrong in their files, and which Python 2 idiom to change.

Knows the frames of the session's own files only: neither ours nor the library's are of use to them.
"""

import errno
import itertools
import re

import expandybird_templates as templates

FRAMES = 20
TEXT_CHARACTERS = 2000
NAME_CHARACTERS = 200
SOURCE_CHARACTERS = 200

# What the message says (of a syntax error: and the line behind it), and what to write instead.
_HINTS = [
    (r"SyntaxError: Missing parentheses in call to 'print'", "templates run on Python 3: write print(...)"),
    (r"SyntaxError: Missing parentheses in call to 'exec'", "templates run on Python 3: write exec(...)"),
    (r"SyntaxError: multiple exception types must be parenthesized",
     "templates run on Python 3: write 'except (A, B):' or 'except A as error:'"),
    (r"SyntaxError: .*\n\s*raise\s[^#]*,", "templates run on Python 3: write raise Error('…')"),
    (r"SyntaxError: .*\n.*<>", "templates run on Python 3: write !="),
    (r"SyntaxError: .*\n.*`", "templates run on Python 3: write repr(...)"),
    (r"SyntaxError: .*\n.*\bur['\"]", "templates run on Python 3: text needs no u before it"),
    (r"SyntaxError: Function parameters cannot be parenthesized",
     "templates run on Python 3: take one parameter, and unpack it inside"),
    (r"SyntaxError: leading zeros in decimal integer literals", "templates run on Python 3: write 0o755 instead of 0755"),
    (r"SyntaxError: invalid decimal literal", "templates run on Python 3: numbers have no suffix L"),
    (r"TabError", "templates run on Python 3: indent with spaces only"),
    (r"AttributeError: .*'iteritems'", "templates run on Python 3: write .items()"),
    (r"AttributeError: .*'iterkeys'", "templates run on Python 3: write .keys()"),
    (r"AttributeError: .*'itervalues'", "templates run on Python 3: write .values()"),
    (r"AttributeError: .*'has_key'", "templates run on Python 3: write 'key in mapping'"),
    (r"AttributeError: .*'view(keys|values|items)'", "templates run on Python 3: write .keys(), .values() or .items()"),
    (r"AttributeError: .*attribute 'next'", "templates run on Python 3: write next(...)"),
    (r"AttributeError: 'dict_(keys|values|items)' object has no attribute 'sort'",
     "templates run on Python 3: write sorted(...)"),
    (r"AttributeError: module 'sys' has no attribute 'maxint'", "templates run on Python 3: write sys.maxsize"),
    (r"AttributeError: module 'string' has no attribute '(join|split|replace|strip|lower|upper|maketrans)'",
     "templates run on Python 3: write text.join(...), text.replace(...) and so on"),
    (r"AttributeError: module 'base64' has no attribute '(en|de)codestring'",
     "templates run on Python 3: write base64.b64encode(...) or b64decode(...)"),
    (r".*(module 'collections' has no attribute|cannot import name) '(Mapping|Iterable|Sequence|Callable)'",
     "templates run on Python 3: these are in collections.abc"),
    (r"ImportError: cannot import name '\w+' from 'urllib'",
     "templates run on Python 3: quote, urlencode and the like are in urllib.parse"),
    (r"AttributeError: 'str' object has no attribute 'decode'", "templates run on Python 3: text needs no decoding"),
    (r"AttributeError: module 'string' has no attribute '(letters|lowercase|uppercase)'",
     "templates run on Python 3: write string.ascii_letters, ascii_lowercase or ascii_uppercase"),
    (r"AttributeError: module 'itertools' has no attribute 'i(zip|map|filter)'",
     "templates run on Python 3: write zip, map or filter"),
    (r"NameError: name 'unicode'", "templates run on Python 3: write str"),
    (r"NameError: name 'basestring'", "templates run on Python 3: write str"),
    (r"NameError: name 'xrange'", "templates run on Python 3: write range"),
    (r"NameError: name 'long'", "templates run on Python 3: write int"),
    (r"NameError: name 'unichr'", "templates run on Python 3: write chr"),
    (r"NameError: name 'reduce'", "templates run on Python 3: write functools.reduce"),
    (r"NameError: name '(raw_input|file|cmp|execfile|buffer|apply|reload|intern)'", "templates run on Python 3, which has no such name"),
    (r"TypeError: load\(\) missing 1 required positional argument: 'Loader'", "write yaml.safe_load(...)"),
    (r"TypeError: 'dict_(keys|values|items)' object is not subscriptable",
     "templates run on Python 3: write list(...) around it"),
    (r"TypeError: '(map|filter|zip)' object is not subscriptable", "templates run on Python 3: write list(...) around it"),
    (r"TypeError: object of type '(map|filter|zip)' has no len",
     "templates run on Python 3: write list(...) around it"),
    (r"TypeError: 'cmp' is an invalid keyword argument",
     "templates run on Python 3: write key=functools.cmp_to_key(...)"),
    (r"TypeError: unsupported operand .*'(dict_keys|dict_values|dict_items|range|map|filter|zip)'", "templates run on Python 3: write list(...) around it"),
    (r"TypeError: a bytes-like object is required, not 'str'", "templates run on Python 3: write text.encode() for bytes"),
    (r"TypeError: .*must be encoded before hashing", "templates run on Python 3: write text.encode() for bytes"),
    (r".*odule.*'(urllib2|urlparse|StringIO|cStringIO|ConfigParser|Queue|cPickle|__builtin__|commands|sets|md5|sha)'",
     "templates run on Python 3, which has no module of this name"),
]

_DENIED = (errno.EPERM, errno.EACCES)


def describe(error, sources):
    """A failure as the server reads it."""
    name = _name(type.__dict__["__name__"].__get__(type(error)))
    if isinstance(error, MemoryError):
        # Its frames may still hold what filled the memory.
        error.__traceback__ = None
        return _failure("memory", name, "out of memory", [], None)
    if isinstance(error, SyntaxError) and error.filename in sources:
        message, frames = error.msg, _frames(error, sources) + [_syntax_frame(error, sources)]
        hint = _hint(f"{name}: {message}\n{frames[-1]['source']}")
    else:
        message, frames = _text(error, sources), _frames(error, sources)
        hint = _hint(f"{name}: {message}")
    return _failure(_kind(error), name, message, frames, hint)


def _failure(kind, exception, message, frames, hint):
    return {
        "kind": kind,
        "exception": exception,
        "message": message[:TEXT_CHARACTERS],
        "frames": frames[-FRAMES:],
        "hint": hint,
    }


def _kind(error):
    if isinstance(error, ImportError):
        return "import"
    if isinstance(error, templates.TooMuchPrinted):
        return "outputTooLarge"
    if isinstance(error, templates.MissingFunction):
        return "missingFunction"
    if isinstance(error, OSError) and error.errno in _DENIED:
        return "forbidden"
    return "raised"


def _name(name):
    # A template chooses the names of its classes and functions.
    cut = name if len(name) <= NAME_CHARACTERS else name[:NAME_CHARACTERS] + "…"
    return _valid(cut)


def _valid(text):
    return str.encode(text, "utf-8", "replace").decode()


def _text(error, sources):
    try:
        text = _valid(str(error))
    except Exception:
        return "(an exception whose text cannot be shown)"
    if isinstance(error, ImportError) and error.path not in sources:
        # Where Python's library lies is nobody's business.
        text = text.removesuffix(f" ({error.path})")
    return text


def _hint(text):
    return next((hint for pattern, hint in _HINTS if re.match(pattern, text)), None)


def _frames(error, sources):
    return [
        _frame(sources[frame.f_code.co_filename], line, _column(frame.f_code, instruction), frame.f_code.co_name)
        for frame, line, instruction in _walk(error.__traceback__)
        if frame.f_code.co_filename in sources
    ]


def _walk(entry):
    while entry is not None:
        yield entry.tb_frame, entry.tb_lineno, entry.tb_lasti
        entry = entry.tb_next


def _column(code, instruction):
    # Python 3.11 and later say where in the line.
    if instruction < 0 or not hasattr(code, "co_positions"):
        return None
    position = next(itertools.islice(code.co_positions(), instruction // 2, None), None)
    return position[2] + 1 if position and position[2] is not None else None


def _syntax_frame(error, sources):
    return _frame(sources[error.filename], error.lineno or 1, error.offset or None, "<module>")


def _frame(file, line, column, function):
    # Not `splitlines`, which ends a line at a form feed too.
    lines = re.split("\r\n|\r|\n", file.source())
    source = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    return {
        "file": file.path,
        "line": max(line, 1),
        "column": column if column and column > 0 else None,
        "function": _name(function),
        "source": source[:SOURCE_CHARACTERS],
    }
