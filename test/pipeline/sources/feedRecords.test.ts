// The records of a feed message keep the digits of their numbers, at any depth.
import { expect, test } from 'vitest';
import { parseRecords } from '../../../pipeline/sources/feed/feedRecords.ts';

function written(text: string, jsonPath?: string): string {
  const message = parseRecords(text, jsonPath === undefined ? {} : { jsonPath });
  return JSON.stringify('records' in message ? message.records : message.reason);
}

test('numbers that a double rounds keep their digits', () => {
  const record = '{"s":"A","v":9007199254740993,"o":{"x":[0.1234567890123456789,1e400]},"p":1.50}';
  expect(written(record)).toBe(`[${record.replace('1.50', '1.5')}]`);
  expect(written(`{"data":[${record}]}`, '$.data[*]')).toBe(`[${record.replace('1.50', '1.5')}]`);
});

test('a number is no record, with any digits', () => {
  expect(written('[0.1234567890123456789,1.5]')).toBe('[]');
  expect(written('{"data":[0.1234567890123456789]}', '$.data')).toBe('[]');
});

test('a repeated member and a great depth are reasons to leave a message out', () => {
  expect(written('{"s":"A","v":1,"v":2}')).toContain('a member for the second time');
  expect(written('{"s":"A","o":[{"a":0.1234567890123456789,"a":2}]}')).toContain('second time');
  expect(written(`{"o":${'['.repeat(2_000)}${']'.repeat(2_000)}}`)).toContain('over 1000 deep');
  expect(written('{"s":"a\\":","o":{"s":1.25}}')).toContain('"s":1.25');
});
