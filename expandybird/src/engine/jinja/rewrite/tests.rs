//! Templates, and the templates that minijinja gets in their place.

use super::*;

#[test]
fn operators_become_calls_and_everything_else_stays() {
    for (source, expected) in [
        ("{{ a + b }}", "{{ __add__(a , b) }}"),
        (
            "{{ a + b - c + d }}",
            "{{ __add__(__sub__(__add__(a , b) , c) , d) }}",
        ),
        (
            "{{ a + b * c % d }}",
            "{{ __add__(a , __mod__(__mul__(b , c) , d)) }}",
        ),
        (
            "{{ a ~ b ~ c + d }}",
            "{{ __add__(__concat__(a , b , c) , d) }}",
        ),
        (
            "{{ -a % b|f(1 + 2) }}",
            "{{ __mod__(__neg__(a) , b|f(__add__(1 , 2))) }}",
        ),
        ("{{ '%s' % (a, b) }}", "{{ __mod__('%s' , (a, b)) }}"),
        (
            "{% if a % 2 == 0 and b + 1 %}",
            "{% if __compare__(__mod__(a , 2) , '==', 0) and __add__(b , 1) %}",
        ),
        (
            "{{ a < b + 1 and not c >= -d or x(e=f > 1) }}",
            "{{ __compare__(a , '<', __add__(b , 1)) and not __compare__(c , '>=', __neg__(d)) or x(e=__compare__(f , '>', 1)) }}",
        ),
        (
            "{{ a < b == c }}{{ a in b }}{{ a == b }}",
            "{{ (__first__(a , '<', b ) and __last__('==', c)) }}{{ __compare__(a , 'in', b) }}{{ __compare__(a , '==', b) }}",
        ),
        ("{{ 'a\\\nb' + c }}", "{{ __add__('ab'\n , c) }}"),
        (
            "{%- set x = a ~ 'b' -%}",
            "{%- set x = __own__(( __concat__(a , 'b'))) -%}",
        ),
        (
            "{{ x[1 + i].y + 'z' }}",
            "{{ __add__(x[__add__(1 , i)].y , 'z') }}",
        ),
        ("{{ {'a': 1 + 2} }}", "{{ __own__({'a': __add__(1 , 2)}) }}"),
        (
            "{{ [1][0] + x[0] + [[]] }}",
            "{{ __add__(__add__(__own__([1])[0] , x[0]) , __own__([__own__([])])) }}",
        ),
        (
            "{% for a in b + c, d if e %}",
            "{% for a in __each__(( __add__(b , c), d)) if e %}",
        ),
        (
            "{% macro m(a, b=a ~ 1) -%} x{% endmacro %}",
            "{% macro m(a, b= __later__, __missing__=()) -%}{{''-}}{% if __compare__('b' , 'in', __missing__) %}{% set b = __own__(( __concat__(a , 1))) %}{% endif -%} x{% endmacro %}{% set m = __variadic__(m) %}",
        ),
        (
            "{% macro m(a) %}{{ varargs }}{% endmacro -%} x",
            "{% macro m(a, varargs=()) %}{{''}}{{ varargs }}{% endmacro -%}{% set m = __variadic__(m) -%} x",
        ),
        (
            "{% set a, b=[1], 2 %}",
            "{% set a, b= __own__((__own__([1]), 2)) %}",
        ),
        (
            "{{ a is not in b + c }}",
            "{{ __add__(a is not in b , c) }}",
        ),
        ("{{ 1e+3 + -1 }}", "{{ __add__(1e+3 , __neg__(1)) }}"),
        (
            "{{ a - b }} + ~ % {# a + b #}",
            "{{ __sub__(a , b) }} + ~ % {# a + b #}",
        ),
        (
            "{{ a not in b[1:] ** 2 / -c[0]|f }}",
            "{{ __compare__(a , 'not in', __truediv__(__pow__(b .__slice__(1, none, none) , 2) , __neg__(c[0])|f)) }}",
        ),
        (
            "{{ 'a'[::-1] }}{{ x[a:b, c] }}",
            "{{ 'a' .__slice__(none, none, __neg__(1)) }}{{ x .__slice__(a, b, c, none) }}",
        ),
        (
            "{% for a in b %}{% with %}c{% if d -%} {% break %}e{% endif %}f{%- endwith %}{% endfor %}",
            "{% for a in __each__(( b)) %}{% with %}c{% if d -%} {% do __leave__('break') %}{% if __stays__() %}e{% endif %}{% endif %}{% if __stays__() %}f{%- endif %}{%- endwith %}{% if __left__('break') %}{% break %}{% endif %}{% if __left__('continue') %}{% continue %}{% endif %}{% endfor %}",
        ),
        (
            "{% for a in b %}{% filter trim|upper %}c{% continue %}{% endfilter -%} {% endfor %}",
            "{% for a in __each__(( b)) %}{% set __captured__ %}{% with %}c{% do __leave__('continue') %}{% if __stays__() %}{% endif %}{% endwith %}{% endset -%}{% if __left__('break') %}{% break %}{% endif %}{% if __left__('continue') %}{% continue %}{% endif %}{{ __captured__| trim|upper -}} {% endfor %}",
        ),
        (
            "{%- for a in b %}{% continue %}c{% else -%} d{% endfor %}",
            "{%- do __watch__() %}{%- for a in __each__(( b)) %}{% continue %}c{% do __completed__() %}{% endfor %}{% if __unfinished__() %}{% with -%} d{% endwith %}{% endif %}",
        ),
        (
            "{% for a in b %}{% else %}{% set c = 1 %}{% endfor %}",
            "{% for a in __each__(( b)) %}{% else %}{% with %}{% set c = __own__(( 1)) %}{% endwith %}{% endfor %}",
        ),
        (
            "{% for a in b if c -%} d {%- endfor %}",
            "{% for a in __each__(( b)) %}{% if c -%} d {%- endif %}{%- endfor %}",
        ),
        (
            "{% for a in b if c %}d{% else %}e{% endfor %}",
            "{% do __watch__() %}{% for a in __each__(( b)) %}{% if c %}d{% do __completed__() %}{% endif %}{% endfor %}{% if __unfinished__() %}{% with %}e{% endwith %}{% endif %}",
        ),
        (
            "{% for a, b in c if d %}{{ loop }}{% endfor %}",
            "{% for a, b in __each_tuple__(( c)) if d %}{{ loop }}{% endfor %}",
        ),
        (
            "{% macro m() -%} {{ caller }} {%- endmacro %}",
            "{% macro m() -%}{{''-}} {{ caller }} {%- if caller %}{% endif %}{%- endmacro %}",
        ),
        (
            "{% macro m() -%} {{ m.caller }} {%- endmacro %}",
            "{% macro m() -%}{{''-}} {{ m.caller }} {%- endmacro %}",
        ),
        (
            "{{ -1 ** x }}{{ -x ** -1 }}{{ a(-2|f(g=1) ** b) }}",
            "{{ __constpow__(__neg__(1) , x) }}{{ __pow__(__neg__(x) , __neg__(1)) }}{{ a(__constpow__(__neg__(2)|f(g=1) , b)) }}",
        ),
        (
            "{{ a[b + 1, c] }}{{ a[b, c|d + e][0] }}",
            "{{ a[(__add__(b , 1), c)] }}{{ a[(b, __add__(c|d , e))][0] }}",
        ),
        (
            "{{ a is in [1] }}{{ a is b not in c }}",
            "{{ a is in __own__([1]) }}{{ __compare__(a is b not , 'in', c) }}",
        ),
        ("a\r\nb\rc", "a\nb\nc"),
        (
            "{% filter upper -%} x {%- endfilter %}",
            "{% filter upper -%}{% with -%} x {%- endwith %}{%- endfilter %}",
        ),
        (
            "{% with a = 1, b = a %}{% endwith -%}",
            "{% with __outer_a = 1, __outer_b = a %}{% with a=__outer_a, b=__outer_b %}{% endwith -%}{% endwith -%}",
        ),
        (
            "{% raw %}{{ a + b }}{% endraw %}",
            "{% raw %}{{ a + b }}{% endraw %}",
        ),
        ("{{+ a + b +}}", "{{+ __add__(a , b) +}}"),
        ("{{ a + ", "{{ a + "),
        (
            "{{ '%d%%' ~ \"a'b\" }}",
            "{{ __concat__('%d%%' , \"a'b\") }}",
        ),
    ] {
        assert_eq!(rewrite(source), expected, "{source}");
    }
}

#[test]
fn a_place_in_the_rewritten_template_is_found_in_the_source() {
    let source = "a\r\n{{ x.é + y.nope[1:] }}";
    let rewritten = rewrite(source);
    for (wanted, expected) in [
        ("x.", (2, 4)),
        ("y.", (2, 10)),
        (".nope", (2, 11)),
        ("1, none", (2, 17)),
        ("__add__", (2, 4)),
    ] {
        let at = rewritten.find(wanted).unwrap();
        assert_eq!(place(source, at), expected, "{wanted} in {rewritten}");
    }
}

#[test]
fn long_chains_are_divided_into_halves() {
    let chain = |word: &str, terms: usize| vec!["a"; terms].join(&format!(" {word} "));
    for word in ["and", "or"] {
        let (short, half) = (chain(word, 16), chain(word, 9));
        assert_eq!(
            rewrite(&format!("{{{{ {short} }}}}")),
            format!("{{{{ {short} }}}}")
        );
        let long = format!("{{{{ x if not {}, y }}}}", chain(word, 18));
        let expected = format!("{{{{ x if (not {half}) {word} ({half}), y }}}}");
        assert_eq!(rewrite(&long), expected);
    }
    let nexts = |terms: usize| vec!["__next__('<', a )"; terms].join(" and ");
    let expected = format!(
        "{{{{ ((__first__(a , '<', a ) and {}) and ({} and __last__('<', a))) }}}}",
        nexts(7),
        nexts(8)
    );
    assert_eq!(rewrite(&format!("{{{{ {} }}}}", chain("<", 18))), expected);
}

#[test]
fn long_text_takes_steps() {
    let text = "word ".repeat(200);
    assert_eq!(rewrite(&text).matches(STEP).count(), 3);
    assert_eq!(rewrite(&text).replace(STEP, ""), text);
}
