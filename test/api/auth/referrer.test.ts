// Matches of Referer headers and patterns: one row a case, and every known trick of spelling.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, test } from 'vitest';
import { allowsReferrer, parseReferrers } from '../../../api/auth/referrer.ts';
import { Failure } from '../../../store/base/failure.ts';
import { seedsOf } from '../../base/seeds.ts';

const RUNS = 500;

/** The owner's pattern, the browser's header, and the expected match. */
type Row = readonly [patterns: string, referer: string | undefined, fits: boolean];

const PLAIN: readonly Row[] = [
  ['www.example.com', 'http://www.example.com/', true],
  ['www.example.com', 'https://www.example.com', true],
  ['www.example.com', 'https://www.example.com/app/user/1', true],
  ['www.example.com', 'https://www.example.com/?q=1', true],
  ['www.example.com', 'https://www.example.com?q=1', true],
  ['www.example.com', 'https://www.example.com#here', true],
  ['www.example.com', 'https://example.com/', false],
  ['example.com', 'https://www.example.com/', false],
  ['example.com', 'https://EXAMPLE.Com/', true],
  ['EXAMPLE.Com', 'https://example.com/', true],
  ['example.com', 'HTTPS://example.com/', true],
  ['example.com', undefined, false],
  ['example.com', '', false],
  ['', 'https://example.com/', false],
  ['localhost', 'http://localhost:3000/', true],
];

const SCHEMES_AND_PORTS: readonly Row[] = [
  ['https://example.com', 'https://example.com/', true],
  ['https://example.com', 'http://example.com/', false],
  ['http://example.com', 'https://example.com/', false],
  ['HTTPS://example.com', 'https://example.com/', true],
  ['example.com', 'ftp://example.com/', false],
  ['example.com', 'ws://example.com/', false],
  ['example.com', 'android-app://example.com/', false],
  ['example.com', 'file:///example.com', false],
  ['example.com', 'about:client', false],
  ['example.com', 'https://example.com:8443/', true],
  ['example.com:8443', 'https://example.com:8443/', true],
  ['example.com:8443', 'https://example.com/', false],
  ['example.com:443', 'https://example.com/', true],
  ['example.com:443', 'http://example.com/', false],
  ['example.com:443', 'http://example.com:443/', true],
  ['example.com:80', 'http://example.com/', true],
  ['example.com:080', 'http://example.com/', true],
  ['http://example.com:443', 'https://example.com/', false],
  ['example.com:8443', 'https://example.com:84430/', false],
];

const SUBDOMAINS: readonly Row[] = [
  ['*.example.com', 'https://www.example.com/', true],
  ['*.example.com', 'https://a.b.c.example.com/', true],
  ['*.example.com', 'https://example.com/', false],
  ['*.example.com example.com', 'https://example.com/', true],
  ['*.example.com', 'https://evilexample.com/', false],
  ['*.example.com', 'https://www.example.com.evil.com/', false],
  ['*.example.com', 'https://.example.com/', true],
  ['https://*.example.com:8443/app', 'https://a.example.com:8443/app/1', true],
  ['https://*.example.com:8443/app', 'https://a.example.com/app/1', false],
];

const PATHS: readonly Row[] = [
  ['www.example.com/app/stock', 'https://www.example.com/app/stock', true],
  ['www.example.com/app/stock', 'https://www.example.com/app/stock/AAPL?range=1y', true],
  ['www.example.com/app/stock', 'https://www.example.com/app/', false],
  ['www.example.com/app/stock', 'https://www.example.com/', false],
  ['example.com/app', 'https://example.com/apple', false],
  ['example.com/app', 'https://example.com/app', true],
  ['example.com/app', 'https://example.com/app/', true],
  ['example.com/app', 'https://example.com/app/1', true],
  ['example.com/app', 'https://example.com/app?x', true],
  ['example.com/app', 'https://example.com/app#x', true],
  ['example.com/app', 'https://example.com/app.evil', false],
  ['example.com/app', 'https://example.com/app%2Fevil', true],
  ['example.com/app', 'https://example.com/app;x', false],
  ['example.com/app', 'https://example.com/app-store/', false],
  ['https://good.example/app', 'https://good.example/apple', false],
  ['https://good.example/app', 'https://good.example:443/app', true],
  ['https://good.example:443/app', 'https://good.example/apple', false],
  ['https://good.example/app', 'https://GOOD.example./app/x', true],
  ['https://good.example/app', 'https://app@good.example/app', false],
  ['https://good.example/app', 'https://good.example/App', false],
  ['*.good.example/app', 'https://a.good.example/apple', false],
  ['bücher.example/app', 'https://xn--bcher-kva.example/apple', false],
  ['bücher.example/app', 'https://xn--bcher-kva.example/app/x', true],
  ['example.com/app*', 'https://example.com/apple', true],
  ['example.com/app/', 'https://example.com/apple', false],
  ['example.com/app/*', 'https://example.com/app/1', true],
  ['example.com/app/*', 'https://example.com/app', false],
  ['example.com/*', 'https://example.com/', true],
  ['example.com/App', 'https://example.com/app', false],
  ['example.com/app', 'https://example.com/?/app', false],
  ['example.com/app', 'https://example.com/#/app', false],
  ['example.com/café', 'https://example.com/caf%C3%A9/1', true],
  ['example.com/caf%c3%a9', 'https://example.com/café', true],
  ['example.com/a.b', 'https://example.com/axb', false],
];

const LISTS_AND_ADDRESSES: readonly Row[] = [
  ['a.example b.example', 'https://b.example/', true],
  ['  a.example\n\tb.example ', 'https://a.example/', true],
  ['a.example b.example', 'https://c.example/', false],
  ['a.example/x b.example', 'https://a.example/y', false],
  ['192.0.2.7', 'http://192.0.2.7/page', true],
  ['192.0.2.7', 'http://192.0.2.70/', false],
  ['192.0.2.7:8080', 'http://192.0.2.7:8080/', true],
  ['192.0.2.7', 'http://0xc0.0.2.7/', true],
  ['[2001:db8::1]', 'http://[2001:DB8:0:0::1]/', true],
  ['[2001:db8::1]:8080', 'http://[2001:db8::1]:8080/', true],
  ['[2001:db8::1]:8080', 'http://[2001:db8::1]/', false],
];

const TRICKS: readonly Row[] = [
  ['good.com', 'https://good.com@evil.com/', false],
  ['good.com', 'https://good.com:443@evil.com/', false],
  ['good.com', 'https://user@good.com/', false],
  ['good.com', 'https://@good.com/', false],
  ['good.com', 'https://good.com.evil.com/', false],
  ['good.com', 'https://evil.com/good.com', false],
  ['good.com', 'https://evil.com/?https://good.com/', false],
  ['good.com', 'https://evil.com/#https://good.com/', false],
  ['good.com', 'https://evil.com\\@good.com/', false],
  ['good.com', 'https://good.com\\.evil.com/', false],
  ['good.com', 'https:good.com/', false],
  ['good.com', 'https:/good.com/', false],
  ['good.com', 'https:///good.com/', false],
  ['good.com', '//good.com/', false],
  ['good.com', 'good.com', false],
  ['good.com', 'https://', false],
  ['good.com', 'https://good.com evil.com/', false],
  ['good.com', ' https://good.com/', false],
  ['good.com', 'https://good.com\t.evil.com/', false],
  ['good.com', 'https://good.com\n/', false],
  ['good.com', 'https://good.com%2eevil.com/', false],
  ['good.com', 'https://good.com%2f.evil.com/', false],
  ['good.com', 'https://good.com%00.evil.com/', false],
  ['good.com', 'https://good.com./', true],
  ['good.com', 'https://good.com../', false],
  ['good.com.', 'https://good.com/', true],
  ['good.com', 'https://goodxcom/', false],
  ['good.com', 'https://g%6fod.com/', true],
  ['good.com', 'https://good。com/', true],
  ['good.com', 'https://gооd.com/', false],
  ['bücher.example', 'https://xn--bcher-kva.example/', true],
  ['xn--bcher-kva.example', 'https://BÜCHER.example/', true],
  ['bucher.example', 'https://bücher.example/', false],
  ['good.com/app', 'https://good.com/app/../evil', false],
  ['good.com/app', 'https://good.com/app/%2e%2E/evil', false],
  ['good.com/app', 'https://good.com/app/..%2fevil', false],
  ['good.com/app', 'https://good.com/app/%2e%2e%5cevil', false],
  ['good.com/app', 'https://good.com/evil/../app', true],
  ['good.com/app', 'https://good.com/%61pp', true],
  ['good.com/%61pp', 'https://good.com/app', true],
  ['good.com/app', 'https://good.com//app', false],
  ['good.com', 'https://good.com//evil.com/', true],
  ['good.com', `https://good.com/${'a'.repeat(4_079)}`, true],
  ['good.com', `https://good.com/${'a'.repeat(4_080)}`, false],
  ['good.com', `https://${'a.'.repeat(1_000)}good.com/`, false],
  ['*.good.com', `https://${'a.'.repeat(1_000)}good.com/`, true],
];

const TABLES = { PLAIN, SCHEMES_AND_PORTS, SUBDOMAINS, PATHS, LISTS_AND_ADDRESSES, TRICKS };

for (const [table, rows] of Object.entries(TABLES)) {
  describe(table.toLowerCase().replaceAll('_', ' '), () => {
    for (const [patterns, referer, fits] of rows) {
      test(`${patterns} ${fits ? 'fits' : 'does not fit'} ${referer?.slice(0, 60)}`, () => {
        assert.equal(allowsReferrer(parseReferrers(patterns), referer), fits);
      });
    }
  });
}

describe('parsed patterns', () => {
  const READ: readonly (readonly [string, string])[] = [
    ['Example.COM', 'example.com'],
    ['HTTPS://*.Example.com:08443/App/*', 'https://*.example.com:8443/App/'],
    ['bücher.example/café', 'xn--bcher-kva.example/caf%C3%A9'],
    ['[0:0::1]:80', '[::1]:80'],
    ['example.com./a/../b', 'example.com/b'],
    ['example.com/app*', 'example.com/app*'],
    ['example.com/*', 'example.com'],
    ['foo_bar.example', 'foo_bar.example'],
  ];
  for (const [typed, read] of READ) {
    test(`${typed} is ${read}, which parses to itself`, () => {
      assert.deepEqual(parseReferrers(typed), [read]);
      assert.deepEqual(parseReferrers(read), [read]);
    });
  }
  test('no pattern, and the maximum number of them', () => {
    assert.deepEqual(parseReferrers(' \n '), []);
    assert.equal(parseReferrers('a.example '.repeat(50)).length, 50);
    assert.deepEqual(parseReferrers(`a.example/${'x'.repeat(245)}`)[0]?.length, 255);
  });
});

describe('refused patterns', () => {
  const HOST = /names no host/;
  const FORM = /is not \[http:/;
  const REFUSED: readonly (readonly [string, RegExp])[] = [
    ['*', FORM],
    ['*.', FORM],
    ['*example.com', FORM],
    ['www.*.com', FORM],
    ['*.*.example.com', FORM],
    ['example.com*', FORM],
    ['ftp://example.com', FORM],
    ['http:example.com', FORM],
    ['//example.com', FORM],
    ['https://', FORM],
    ['user@example.com', FORM],
    ['example.com?x=1', FORM],
    ['example.com/#top', FORM],
    ['example.com\\app', FORM],
    ['example.com:', FORM],
    ['example.com:http', FORM],
    ['good%2ecom', FORM],
    ['2001:db8::1', FORM],
    ['example.com/*/app', /neither/],
    ['example.com/**', /neither/],
    ['example.com/.*', /right before its \*/],
    ['example.com/app/..*', /right before its \*/],
    ['example.com/%2e*', /right before its \*/],
    ['example.com/app/%2F..*', /right before its \*/],
    ['example.com:0', /impossible port/],
    ['example.com:65536', /impossible port/],
    ['*.192.0.2.7', /subdomains of an IP address/],
    ['*.[::1]', /subdomains of an IP address/],
    ['1.2.3', HOST],
    ['2.7', HOST],
    ['256.1.1.1', HOST],
    ['0x7f.0.0.1', HOST],
    ['example.1', HOST],
    ['[1::2::3]', HOST],
    ['a..example', HOST],
    ['.example.com', HOST],
    ['a,b', HOST],
    [`${'a'.repeat(64)}.example`, HOST],
    [`${'a.'.repeat(126)}aa`, HOST],
    [`example.com/${'a'.repeat(250)}`, /longer than 255 characters/],
    [`example.com/${'é'.repeat(100)}`, /longer than 255 characters/],
    ['a.example '.repeat(51), /more than 50 patterns/],
    ['a'.repeat(100_000), /too long/],
  ];
  for (const [text, rule] of REFUSED) {
    test(`${text.slice(0, 60)}: ${rule.source}`, () => {
      assert.throws(
        () => parseReferrers(`good.example ${text}`),
        (error) =>
          error instanceof Failure && error.type === 'InvalidBody' && rule.test(error.message),
      );
    });
  }
});

describe('any text', () => {
  const hosts = fc.constantFrom('good.com', 'a.good.com', 'evil.com', 'good.com.evil.com');
  const pieces = fc.constantFrom(
    '@',
    ':',
    '/',
    '\\',
    '.',
    '%2e',
    '%2f',
    '#',
    '?',
    '*',
    ' ',
    '[',
    '1',
  );
  const referers = fc
    .array(fc.oneof(hosts, pieces), { minLength: 1, maxLength: 6 })
    .map((parts) => parts.join(''));

  test('a match is a page of the host, by the URL parser of browsers', (t) => {
    const patterns = parseReferrers('good.com *.good.com');
    for (const seed of seedsOf(t)) {
      let fitting = 0;
      const fits = (rest: string): void => {
        const referer = `https://${rest}`;
        if (!allowsReferrer(patterns, referer)) return;
        assert.match(new URL(referer).hostname, /^(.*\.)?good\.com\.?$/);
        fitting += 1;
      };
      fc.assert(fc.property(referers, fits), { seed, numRuns: RUNS });
      assert.ok(fitting > 10, `only ${fitting} of ${RUNS} fit`);
    }
  });

  test('patterns are parsed or refused, and never throw another error', (t) => {
    for (const seed of seedsOf(t)) {
      const reads = (text: string): void => {
        try {
          const read = parseReferrers(text);
          assert.deepEqual(parseReferrers(read.join(' ')), read);
        } catch (error) {
          if (!(error instanceof Failure)) throw error;
        }
      };
      const texts = fc.oneof(referers, fc.string({ unit: 'binary' }), fc.webUrl());
      fc.assert(fc.property(texts, reads), { seed, numRuns: RUNS });
    }
  });
});
