// Texts in the form of a token are redacted everywhere; texts that only resemble one are not.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { redactText, redactData } from '../../../store/base/redact.ts';

const TOKEN = 'sk_0123456789abcdef0123456789abcdef';
const TOKENS = [
  TOKEN,
  'pk_00000000000000000000000000000001',
  'Tpk_0123456789abcdef0123456789abcdef',
  'Tsk_0123456789abcdef0123456789abcdef',
  `ak_${'0123456789abcdef'.repeat(3)}`,
  'sk_planted0000secret0000bbbb',
  'pk_A1b2C3d4',
  'sk_abcdefghijklmnopqrstuvwxyz',
  `SK_${'0123456789ABCDEF'.repeat(2)}`,
];

const encoded = (text: string, every: boolean): string =>
  text.replaceAll(every ? /[\s\S]/g : /[^a-z0-9]/gi, (one) => {
    const hex = one.charCodeAt(0).toString(16).padStart(2, '0');
    return `%${hex}`;
  });

const PLACES: readonly ((token: string) => string)[] = [
  (token) => token,
  (token) => `/v1/data/X&token=${token}`,
  (token) => `/v1/data/X;token=${token};y`,
  (token) => `/v1/data/${token}/Y`,
  (token) => `/v1/data/X%3Ftoken=${token}`,
  (token) => `/v1/data/X%3Ftoken%3D${token}%26y`,
  (token) => `/v1/${encoded(token, false)}`,
  (token) => `/v1/x%3d${encoded(token, true)}`,
  (token) => `/v1/${encoded(encoded(token, false), false)}`,
  (token) => `/v1/${encoded(encoded(`?token=${token}`, true), false)}`,
  (token) => JSON.stringify(`a line\n${token}\t"${token}"`),
  (token) => `Catalog Error: Table with name "${token}" does not exist! Did you mean '${token}x'?`,
  (token) => `Could not convert string '${token}' to INT64`,
];

test('tokens are hidden in every place and spelling', () => {
  for (const token of TOKENS) {
    for (const place of PLACES) {
      const text = place(token);
      const redactedText = redactText(text);
      const secret = token.slice(token.indexOf('_') + 1);
      for (const body of [
        redactedText,
        decodeURIComponent(redactedText),
        decodeURIComponent(decodeURIComponent(redactedText)),
      ]) {
        assert.ok(!body.includes(secret), `${text}: ${redactedText}`);
      }
      assert.match(redactedText, /[ps]k_…|ak_…/i, redactedText);
      if (text.startsWith('"')) assert.doesNotThrow(() => JSON.parse(redactedText) as unknown);
    }
  }
});

test('a generated token is hidden also after letters, and a signing secret keeps its ends', () => {
  assert.equal(redactText(`x${TOKEN}`), 'xsk_…cdef');
  const secret = '0123456789abcdef'.repeat(4);
  assert.equal(redactText(`/v1/${secret}?`), '/v1/0123…cdef?');
  assert.equal(redactText(`%3D${secret}%26`), '=0123…cdef&');
});

test('a text that only resembles a token stays unchanged', () => {
  for (const text of [
    '"pk_identifier": unknown property',
    'sk_learning',
    'disk_20240101 is full, task_00000001 waits, RISK_12345678',
    '/v1/data/WS/100%25?x=a%20b%2Fc',
    'EXPORT_0123456789abcdef0123456789abcdef',
    '%ZZ %',
  ]) {
    assert.equal(redactText(text), text);
  }
});

test('data are redacted deep, and long texts in no time', () => {
  const value = { name: TOKEN, list: [{ [TOKEN]: 1 }, null, 2, true], text: 'x' };
  assert.deepEqual(redactData(value), {
    name: 'sk_…cdef',
    list: [{ 'sk_…cdef': 1 }, null, 2, true],
    text: 'x',
  });
  for (const part of ['sk_', '%', '%25', 'a', 'sk_a', 'pk_aaaaaaaa', '0', 'Tsk_%5F', '\\', 'T']) {
    // Processor time of this thread: a busy machine takes longer by the clock. A function that scans a text
    // again for each of its parts takes minutes.
    const before = process.threadCpuUsage();
    redactText(part.repeat(200_000));
    const { user } = process.threadCpuUsage(before);
    assert.ok(user < 3_000_000, `${part}: ${user} µs`);
  }
});
