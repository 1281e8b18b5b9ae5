#!/usr/bin/python3
"""What Jinja 2 makes of templates, as transformers calls it: chat.json, for the tests of render_jinja.
Needs python3-jinja2.

    python3 make_chat.py
"""

import json
import pathlib

import jinja2
from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

PAIR = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": " Grüße! \n"},
        {"role": "assistant", "content": "Yes."}, {"role": "user", "content": "'So' \"said\" <b>"}]
PICTURE = [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "What?"}]}]
VARIABLES = {"messages": PAIR, "picture": PICTURE, "add_generation_prompt": True, "tools": None, "bos_token": "<s>",
             "eos_token": "</s>", "n": 7, "half": 0.5, "names": ["a", "b", "c", "d"], "empty": [],
             "tool": {"name": "f", "parameters": {"x": [1, 2.5, None, True], "é": "ü\n"}, "none": None}}

TEMPLATES = {
    # The shapes of published chat templates, in words of our own.
    "marks": """{{ bos_token }}{% for message in messages %}{{ '<|' + message['role'] + '|>\\n' + message['content'] | trim }}
{% if not loop.last %}{{ eos_token }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% endif %}""",
    "system_first": """{%- if messages[0]['role'] == 'system' -%}
    {%- set first = messages[0].content -%}
    {%- set rest = messages[1:] -%}
{%- else -%}
    {%- set first = 'none' -%}
    {%- set rest = messages -%}
{%- endif -%}
[{{ first }}]
{%- for message in rest %}
    {%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}
        {{- raise_exception('roles must alternate') }}
    {%- endif %}
    {%- if loop.index0 == 0 and first is defined %}({{ first }}){% endif %}
    {{- message.role | capitalize + ': ' + message.content.strip() + ('.' if loop.last else ';') }}
{%- endfor %}""",
    "namespaces": """{% set ns = namespace(found=false, last=-1) %}
{% for m in messages %}
{% if m.role == 'user' and not ns.found %}{% set ns.found = true %}{% endif %}
{% if m.role == 'user' %}{% set ns.last = loop.index0 %}{% endif %}
{% set inner = loop.index %}
{% endfor %}
{{ ns.found }} {{ ns.last }} {{ inner is defined }}""",
    "pictures": """{% for message in picture %}{{ message['role'] | upper }}{% if message['content'][0]['type'] == 'image' %}:{% else %}: {% endif %}
{%- for line in message['content'] %}{% if line['type'] == 'text' %}{{ line['text'] }}{% elif line['type'] == 'image' %}{{ '<image>' }}{% endif %}{% endfor %}
{% if message.content is string %}text{% elif message.content is iterable %} list{% endif %}
{% endfor %}""",
    "tools": """{% if tools is not none and tools | length > 0 %}tools{% else %}no tools{% endif %}
{{ tool | tojson }}
{{ tool | tojson(indent=2) }}
{{ tool.none is none }} {{ tool.missing is defined }} {{ tool.get('name') }} {{ tool.get('other', 'else') }}
{% for key, value in tool.parameters.items() %}{{ key }}={{ value | tojson }};{% endfor %}
{% for key, value in tool.parameters | items %}{{ key }}{% endfor %}""",
    "macros": """{% macro shown(name, mark='*', more=false) %}{{ mark ~ name ~ mark }}{% if more %}+{% endif %}{% endmacro %}
{{ shown('a') }}{{ shown('b', '_') }}{{ shown(name='c', more=true) }}{% set block %}x{{ n }}y{% endset %}{{ block }}""",
    "loops": """{% for x in names if x != 'b' %}{{ loop.index }}{{ x }}{{ loop.revindex }}{% if loop.first %}^{% endif %}{{ ', ' if not loop.last }}{% endfor %}
{% for x in empty %}never{% else %}nothing{% endfor %}
{% for x in names %}{% if x == 'b' %}{% continue %}{% endif %}{% if x == 'd' %}{% break %}{% endif %}{{ x }}{% endfor %}
{% for x in range(3) %}{{ x }}{% for y in range(x, 0, -1) %}{{ y }}{{ loop.length }}{% endfor %}{% endfor %}
{% for x in names %}{{ loop.previtem if loop.previtem is defined else '-' }}{{ loop.nextitem | default('-') }}{% endfor %}""",
    "operators": """{{ 1 + 2 * 3 }} {{ 7 // 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ n - 1 }} {{ 'a' * 3 }} {{ n ~ 'x' ~ half }}
{{ 1 < 2 }} {{ 'b' > 'a' }} {{ n >= 7 }} {{ n != 7 }} {{ 'a' in 'cat' }} {{ 'x' not in names }} {{ not n == 7 }}
{{ none }} {{ true and 'yes' }} {{ 0 or 'no' }} {{ missing }}| {{ (1, 2) | length }} {{ [1] + [2] == [1, 2] }}
{{ 'yes' if missing else 'no' }} {{ missing.member if missing is defined else 'safe' }} {{ ('x' if n else 'y') ~ 'z' }}
{{ names[0] }}{{ names[-1] }}{{ names[1:3] | join }}{{ names[::-1] | join('.') }}{{ 'word'[1:] }}{{ 'word'[-2:] }}{{ names[9] is defined }}
{{ {'a': 1, 'b': [2]}['b'][0] }} {{ {'a': 1} | length }}""",
    "methods": """{{ '  x '.strip() }}|{{ 'xxaxx'.strip('x') }}|{{ ' x '.lstrip() }}|{{ ' x '.rstrip() }}|{{ 'a-b-c'.split('-') | join('+') }}
{{ 'a-b-c'.split('-', 1)[-1] }}|{{ ' a  b '.split() | length }}|{{ 'abc'.startswith('ab') }}{{ 'abc'.endswith('x') }}
{{ 'aXb'.lower() }}{{ 'aXb'.upper() }}{{ 'two words'.title() }}{{ 'aXb'.replace('X', '--') }}{{ ', '.join(names) }}
{{ tool.keys() | list | join(' ') }}""",
    "filters": """{{ ' a ' | trim }}|{{ 'ab' | upper | lower | capitalize }}|{{ 'two words' | title }}|{{ 'a.b' | replace('.', '-') }}|{{ 'Grüße' | length }}
{{ names | first }}{{ names | last }}{{ names | reverse | join('') }}{{ messages | map(attribute='role') | join(',') }}
{{ messages | selectattr('role', 'equalto', 'user') | list | length }}{{ messages | rejectattr('role', 'equalto', 'user') | list | length }}
{{ missing | default('d') }}{{ '' | default('e', true) }}{{ '3' | int + 1 }}{{ n | string + '!' }}{{ '<b>' | safe }}""",
    "tests": """{{ n is number }}{{ n is integer }}{{ n is string }}{{ 'x' is string }}{{ tool is mapping }}{{ names is sequence }}{{ names is mapping }}
{{ missing is undefined }}{{ n is not defined }}{{ true is true }}{{ n is odd }}{{ n is even }}{{ 'a' is in names }}{{ n is eq 7 }}{{ false is false }}""",
    "white_space": """a
  {% if true %}
  b
  {%- endif %}
   c {# left out #}
  {# a line #}
 {{- 'd' }}  {{ 'e' -}}
   f{%+ if true %} g {% endif +%}
h
  {{ 'i' }}
{% set x = '}}' %}{{ x }}{{ "%}" }}
""",
    "short_circuit": """{{ (missing is defined and missing.x.y) or 'kept' }}{{ tools and tools[0].x }}{{ messages and messages[0].role }}""",
    "generation": """{% for m in messages %}{% if m.role == 'assistant' %}{% generation %}{{ m.content }}{% endgeneration %}{% endif %}{% endfor %}""",
}
REFUSED = {"raised": "{{ raise_exception('no ' ~ messages[0].role) }}"}


class Generation(jinja2.ext.Extension):
    """transformers' mark of what an assistant wrote, which changes nothing."""

    tags = {"generation"}

    def parse(self, parser):
        next(parser.stream)
        return parser.parse_statements(["name:endgeneration"], drop_needle=True)


def tojson(value, indent=None):
    return json.dumps(value, ensure_ascii=False, indent=indent)


def main():
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols, Generation])
    environment.filters["tojson"] = tojson
    cases = {name: {"template": text, "text": environment.from_string(text).render(**VARIABLES)}
             for name, text in TEMPLATES.items()}
    for name, text in REFUSED.items():
        cases[name] = {"template": text, "refused": "no system"}
    out = {"variables": VARIABLES, "cases": cases}
    pathlib.Path(__file__).with_name("chat.json").write_text(json.dumps(out, indent=1, ensure_ascii=False) + "\n")


main()
