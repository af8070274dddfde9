// Texts that are no data are called by their names, and comments above a table are not Markdown.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { describeNoData } from '../../../pipeline/bytes/noData.ts';

const CASES: readonly (readonly [string, string | undefined])[] = [
  [
    '// schema\nsyntax = "proto3";\npackage a;\nmessage B {\n}\n',
    'a schema of Protocol Buffers (.proto)',
  ],
  ['package a;\n\nmessage B {\n  int32 c = 1;\n}\n', 'a schema of Protocol Buffers (.proto)'],
  ['From: a@b.c\nTo: d@e.f\nSubject: prices\n\nsee below\n', 'an e-mail message'],
  ['# comment\n# another\na,b\n1,2\n# gap\n3,4\n', undefined],
  ['# Title\n\nSome text. See [this](x).\n', 'a document (Markdown, "Title")'],
  ['# Title\n\n| a | b |\n|---|---|\n| 1 | 2 |\n', 'a document (Markdown, "Title")'],
  ['package,price\na,1\n', undefined],
  ['date: 2024,x\n1,2\n', undefined],
];

for (const [text, what] of CASES) {
  test(JSON.stringify(text.slice(0, 30)), () => {
    assert.equal(describeNoData(Buffer.from(text)), what);
  });
}
