// URI templates, with the examples of RFC 6570, section 3.2.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expanded, variablesOf } from '../../web/uri-template.js';

const VALUES = { var: 'value', hello: 'Hello World!', half: '50%', path: '/foo/bar', who: 'fred', x: '1024', y: '768', empty: '', base: 'http://example.com/home/' };

test('a template with its values is the URI that RFC 6570 says', () => {
  for (const [template, uri] of [
    ['{var}', 'value'],
    ['{hello}', 'Hello%20World%21'],
    ['{half}', '50%25'],
    ['O{empty}X', 'OX'],
    ['O{undef}X', 'OX'],
    ['{x,y}', '1024,768'],
    ['?{x,undef}', '?1024'],
    ['{var:3}', 'val'],
    ['{+hello}', 'Hello%20World!'],
    ['{base}index', 'http%3A%2F%2Fexample.com%2Fhome%2Findex'],
    ['{+base}index', 'http://example.com/home/index'],
    ['{+path}/here', '/foo/bar/here'],
    ['{+path:6}/here', '/foo/b/here'],
    ['{#path,x}/here', '#/foo/bar,1024/here'],
    ['X{.var}', 'X.value'],
    ['X{.x,y}', 'X.1024.768'],
    ['{/var,x}/here', '/value/1024/here'],
    ['{;x,y,empty}', ';x=1024;y=768;empty'],
    ['{?x,y,empty}', '?x=1024&y=768&empty='],
    ['?fixed=yes{&x}', '?fixed=yes&x=1024'],
    ['{who}', 'fred'],
    ['plain', 'plain'],
  ])
    assert.equal(expanded(template, VALUES), uri, template);
});

test('what is no template stays, and lone surrogates do no harm', () => {
  assert.equal(expanded('a{b', {}), 'a{b');
  assert.equal(expanded('{a}', { a: '\ud800' }), '%EF%BF%BD');
});

test('every variable is asked for once, in order', () => {
  assert.deepEqual(variablesOf('file:///{+path}{?x,y:3}{&x*}'), ['path', 'x', 'y']);
  assert.deepEqual(variablesOf('file:///plain'), []);
});
