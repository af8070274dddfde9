// Every pair of adjacent colours has enough contrast: 4.5 to 1 for texts, 3 to 1 for lines and marks.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { contrast } from './contrast.ts';

const SHEET = join(import.meta.dirname, '..', '..', 'console', 'style', 'palette.css');
const COLOUR = /--([\w-]{1,40}): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g;

const palette = new Map(
  [...readFileSync(SHEET, 'utf8').matchAll(COLOUR)].map(([, name = '', light = '', dark = '']) => [
    name,
    { light, dark },
  ]),
);

const GROUNDS = ['ground', 'surface', 'sunken'];
const INKS = ['ink', 'ink-soft', 'accent'];
const SIGNALS = ['good', 'warn', 'bad', 'up', 'down'];
const LINES = ['chart-1', 'chart-2', 'chart-3', 'chart-4', 'chart-5', 'chart-6', 'line-strong'];

const TEXTS: readonly (readonly [ink: string, ground: string])[] = [
  ...INKS.flatMap((ink) => GROUNDS.map((ground) => [ink, ground] as const)),
  ...SIGNALS.map((ink) => [ink, 'surface'] as const),
  ...['good', 'warn', 'bad', 'accent'].map((ink) => [ink, `${ink}-soft`] as const),
  ...['good', 'warn', 'bad', 'accent'].map((ground) => ['ink', `${ground}-soft`] as const),
  ['accent-ink', 'accent'],
  ...['chart-2', 'chart-3', 'chart-4'].map((ink) => [ink, 'surface'] as const),
];

describe.each(['light', 'dark'] as const)('%s', (scheme) => {
  const of = (name: string): string => {
    const colour = palette.get(name);
    assert.ok(colour !== undefined, `there is no colour ${name}`);
    return colour[scheme];
  };
  test.each(TEXTS)('%s is readable on %s', (ink, ground) => {
    const ratio = contrast(of(ink), of(ground));
    assert.ok(ratio >= 4.5, `${ratio.toFixed(2)} to 1`);
  });
  test.each(LINES)('%s is visible on the surface', (line) => {
    const ratio = contrast(of(line), of('surface'));
    assert.ok(ratio >= 3, `${ratio.toFixed(2)} to 1`);
  });
});

test('no sheet has a colour of its own', () => {
  for (const name of ['base', 'frame', 'parts', 'screens']) {
    const text = readFileSync(join(SHEET, '..', `${name}.css`), 'utf8');
    const colours = text.match(/#[0-9a-f]{3,8}\b(?=[;\s,)])|rgb\((?!10 14 20)/g) ?? [];
    assert.deepEqual(colours, [], `${name}.css`);
  }
});
