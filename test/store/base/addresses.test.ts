// The addresses that a rule names, and the client address of a request behind proxies.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, test } from 'vitest';
import {
  type AddressRules,
  allowsAddress,
  clientAddress,
  parseAddresses,
} from '../../../store/base/addresses.ts';
import { Failure } from '../../../store/base/failure.ts';
import { seedsOf } from '../../base/seeds.ts';

const RUNS = 500;

describe('rules', () => {
  type Row = readonly [rules: string, address: string, named: boolean];
  const ROWS: readonly Row[] = [
    ['192.0.2.7', '192.0.2.7', true],
    ['192.0.2.7', '192.0.2.8', false],
    ['192.0.2.7/32', '192.0.2.7', true],
    ['192.0.2.7/32', '192.0.2.6', false],
    ['192.0.2.0/24', '192.0.2.255', true],
    ['192.0.2.0/24', '192.0.3.0', false],
    ['192.0.2.129/25', '192.0.2.128', true],
    ['192.0.2.129/25', '192.0.2.127', false],
    ['10.1.2.3/8', '10.255.0.1', true],
    ['0.0.0.0/0', '203.0.113.9', true],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['0.0.0.0/0', '::ffff:203.0.113.9', true],
    ['::/0', '2001:db8::1', true],
    ['::/0', '203.0.113.9', false],
    ['::/0', '::ffff:203.0.113.9', false],
    ['2001:db8::1', '2001:0DB8:0:0::1', true],
    ['2001:DB8::1', '2001:db8::1', true],
    ['2001:db8::1', '2001:db8::2', false],
    ['2001:db8::/32', '2001:db8:ffff::1', true],
    ['2001:db8::/32', '2001:db9::1', false],
    ['2001:db8::1/128', '2001:db8::1', true],
    ['2001:db8::8000:0/113', '2001:db8::8000:1', true],
    ['2001:db8::8000:0/113', '2001:db8::7fff:1', false],
    ['::1', '127.0.0.1', false],
    ['fe80::/10', 'fe80::1%eth0', true],
    ['192.0.2.7', '::ffff:192.0.2.7', true],
    ['192.0.2.7', '::FFFF:C000:0207', true],
    ['192.0.2.7', '0:0:0:0:0:ffff:192.0.2.7', true],
    ['::ffff:192.0.2.7', '192.0.2.7', true],
    ['::ffff:c000:207', '::ffff:192.0.2.7', true],
    ['::ffff:192.0.2.0/120', '192.0.2.99', true],
    ['::ffff:192.0.2.0/120', '192.0.3.99', false],
    ['::ffff:0:0/96', '8.8.8.8', true],
    ['::192.0.2.7', '192.0.2.7', false],
    ['192.0.2.7 2001:db8::/32', '2001:db8::9', true],
    ['192.0.2.7 2001:db8::/32', '192.0.2.7', true],
    ['192.0.2.7 192.0.2.7', '192.0.2.7', true],
    ['', '192.0.2.7', false],
    ['0.0.0.0/0', '', false],
    ['0.0.0.0/0', '192.0.2', false],
    ['0.0.0.0/0', '192.0.2.07', false],
    ['0.0.0.0/0', '192.0.2.7 ', false],
    ['0.0.0.0/0', '3221225991', false],
    ['0.0.0.0/0', 'localhost', false],
    ['0.0.0.0/0', '192.0.2.7:80', false],
  ];
  for (const [rules, address, named] of ROWS) {
    test(`${rules === '' ? 'no rule' : rules} ${named ? 'names' : 'does not name'} "${address}"`, () => {
      const parsed: AddressRules = parseAddresses(rules.split(' ').filter((rule) => rule !== ''));
      assert.equal(allowsAddress(parsed, address), named);
    });
  }

  test('a range of any prefix names the addresses that share it, by arithmetic on the bits', (t) => {
    const words = fc.tuple(fc.nat(0xffffffff), fc.nat(0xffffffff), fc.integer({ min: 0, max: 32 }));
    const dotted = (word: number): string =>
      [24, 16, 8, 0].map((shift) => (word >>> shift) & 255).join('.');
    const agrees = ([one, other, prefix]: readonly [number, number, number]): void => {
      // Half of them close by, or hardly any would be in the range.
      const near = prefix % 2 === 0 ? other : (one ^ (other >>> prefix)) >>> 0;
      const shared = prefix === 0 || (one ^ near) >>> (32 - prefix) === 0;
      const rules = parseAddresses([`${dotted(one)}/${prefix}`]);
      assert.equal(allowsAddress(rules, dotted(near)), shared);
      const mapped = parseAddresses([`::ffff:${dotted(one)}/${prefix + 96}`]);
      assert.equal(allowsAddress(mapped, `::ffff:${dotted(near)}`), shared);
    };
    for (const seed of seedsOf(t)) fc.assert(fc.property(words, agrees), { seed, numRuns: RUNS });
  });
});

describe('rules that are refused', () => {
  const NONSENSE = /is no IP address and no range/;
  const REFUSED: readonly (readonly [string, RegExp])[] = [
    ['', NONSENSE],
    [' ', NONSENSE],
    ['1.2.3', NONSENSE],
    ['1.2.3.4.5', NONSENSE],
    ['1.2.3.256', NONSENSE],
    ['01.2.3.4', NONSENSE],
    ['0x7f.0.0.1', NONSENSE],
    ['2130706433', NONSENSE],
    ['1.2.3.4 ', NONSENSE],
    ['1.2.3.4/', NONSENSE],
    ['1.2.3.4/-1', NONSENSE],
    ['1.2.3.4/+8', NONSENSE],
    ['1.2.3.4/08', NONSENSE],
    ['1.2.3.4/8.0', NONSENSE],
    ['1.2.3.4/255.0.0.0', NONSENSE],
    ['1.2.3.4/8/8', NONSENSE],
    ['1.2.3.4:80', NONSENSE],
    ['1.2.3.4-1.2.3.9', NONSENSE],
    ['1.2.3.*', NONSENSE],
    ['/8', NONSENSE],
    ['localhost', NONSENSE],
    ['example.com', NONSENSE],
    ['[::1]', NONSENSE],
    ['fe80::1%eth0', NONSENSE],
    ['1::2::3', NONSENSE],
    ['2001:db8::/1000', NONSENSE],
    ['1.2.3.4/33', /prefix over 32/],
    ['1.2.3.4/128', /prefix over 32/],
    ['2001:db8::/129', /prefix over 128/],
    ['::ffff:1.2.3.4/129', /prefix over 128/],
    ['::ffff:1.2.3.4/24', /prefix under 96/],
  ];
  const refusal = (rule: RegExp) => (error: unknown) =>
    error instanceof Failure && error.type === 'InvalidBody' && rule.test(error.message);

  for (const [text, rule] of REFUSED) {
    test(`"${text}": ${rule.source}`, () => {
      assert.throws(() => parseAddresses(['192.0.2.7', text]), refusal(rule));
    });
  }
  test('100 are read, 101 are not', () => {
    const rules = Array.from({ length: 101 }, (_, index) => `10.0.0.${index}`);
    assert.ok(allowsAddress(parseAddresses(rules.slice(1)), '10.0.0.100'));
    assert.throws(() => parseAddresses(rules), refusal(/more than 100/));
  });
});

describe('the address of a caller', () => {
  const PROXIES = ['10.0.0.0/8', '2001:db8:ffff::/48'];
  type Row = readonly [peer: string, header: string | undefined, client: string];
  const BEHIND: readonly Row[] = [
    ['203.0.113.9', undefined, '203.0.113.9'],
    ['203.0.113.9', '198.51.100.1', '203.0.113.9'],
    ['203.0.113.9', '10.0.0.2', '203.0.113.9'],
    ['10.0.0.1', undefined, '10.0.0.1'],
    ['10.0.0.1', '', '10.0.0.1'],
    ['10.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['10.0.0.1', '  203.0.113.9\t', '203.0.113.9'],
    ['10.0.0.1', '198.51.100.1, 203.0.113.9', '203.0.113.9'],
    ['10.0.0.1', '10.9.9.9, 203.0.113.9', '203.0.113.9'],
    ['10.0.0.1', '203.0.113.9, 10.0.0.2', '203.0.113.9'],
    ['10.0.0.1', '198.51.100.1,203.0.113.9,10.0.0.3,10.0.0.2', '203.0.113.9'],
    ['10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['::ffff:10.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['10.0.0.1', '203.0.113.9, ::ffff:10.0.0.2', '203.0.113.9'],
    ['::ffff:203.0.113.9', undefined, '203.0.113.9'],
    ['10.0.0.1', '::FFFF:203.0.113.9', '203.0.113.9'],
    ['2001:db8:ffff::1', '2001:DB8:0:0::1', '2001:db8::1'],
    ['2001:DB8:0:0::1', '203.0.113.9', '2001:db8::1'],
    ['fe80::1%eth0', undefined, 'fe80::1'],
    ['10.0.0.1', '203.0.113.9:4711', '203.0.113.9'],
    ['10.0.0.1', '203.0.113.9, 10.0.0.2:4711', '203.0.113.9'],
    ['10.0.0.1', '[2001:db8::1]:4711', '2001:db8::1'],
    ['10.0.0.1', 'unknown', '10.0.0.1'],
    ['10.0.0.1', '203.0.113.9, unknown', '10.0.0.1'],
    ['10.0.0.1', '203.0.113.9, garbage, 10.0.0.2', '10.0.0.2'],
    ['10.0.0.1', '203.0.113.9, , 10.0.0.2', '10.0.0.2'],
    ['10.0.0.1', '203.0.113.9,', '10.0.0.1'],
    ['10.0.0.1', '203.0.113.9, 10.1', '10.0.0.1'],
    ['10.0.0.1', 'client.example', '10.0.0.1'],
    ['10.0.0.1', '203.0.113.9 10.0.0.2', '10.0.0.1'],
    ['10.0.0.1', '203.0.113.9:99999999', '10.0.0.1'],
    ['10.0.0.1', `${'10.0.0.2,'.repeat(2_000)}10.0.0.2`, '10.0.0.2'],
    ['', '203.0.113.9', ''],
  ];
  for (const [peer, header, client] of BEHIND) {
    test(`peer "${peer}", header ${JSON.stringify(header?.slice(0, 60))}: "${client}"`, () => {
      assert.equal(clientAddress(peer, header, parseAddresses(PROXIES)), client);
    });
  }
  test('without trusted proxies the header is ignored', () => {
    const none = parseAddresses([]);
    assert.equal(clientAddress('10.0.0.1', '203.0.113.9', none), '10.0.0.1');
    assert.equal(clientAddress('127.0.0.1', '203.0.113.9', none), '127.0.0.1');
  });
});
