// Responses in their wire format, cut into pieces at every place.
import { expect, test } from 'vitest';
import { answerReader } from '../../../../bench/http/answerReader.ts';

const WIRE = Buffer.from(
  [
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\n{\r\n}\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n',
    'HTTP/1.1 503 Service Unavailable\r\ncontent-length: 7\r\n\r\nno room',
    'HTTP/1.1 204 No Content\r\n\r\n',
    'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n',
  ].join(''),
);
const ANSWERS = [
  { status: 200, beginning: '' },
  { status: 200, beginning: '' },
  { status: 503, beginning: 'no room' },
  { status: 204, beginning: '' },
  { status: 200, beginning: '' },
];

function answersIn(pieces: readonly Buffer[]): readonly object[] {
  const answers: object[] = [];
  const read = answerReader((status, beginning) => answers.push({ status, beginning }));
  for (const piece of pieces) read(piece);
  return answers;
}

test('each response is reported once, wherever its bytes are cut', () => {
  for (let at = 0; at <= WIRE.length; at += 1) {
    expect(answersIn([WIRE.subarray(0, at), WIRE.subarray(at)]), `cut at ${at}`).toEqual(ANSWERS);
  }
  expect(answersIn([...WIRE].map((byte) => Buffer.from([byte])))).toEqual(ANSWERS);
});

test('a response is reported with its last byte, not before', () => {
  const first = WIRE.indexOf('hello') + 'hello'.length;
  expect(answersIn([WIRE.subarray(0, first - 1)])).toEqual([]);
  expect(answersIn([WIRE.subarray(0, first)])).toHaveLength(1);
  const second = WIRE.indexOf('HTTP/1.1 503');
  expect(answersIn([WIRE.subarray(0, second - 1)])).toHaveLength(1);
  expect(answersIn([WIRE.subarray(0, second)])).toHaveLength(2);
});

test('a response without a length is a fault, since its end is unknown', () => {
  expect(() => answersIn([Buffer.from('HTTP/1.1 200 OK\r\n\r\n')])).toThrow('no length');
});
