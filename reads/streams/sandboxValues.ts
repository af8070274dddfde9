// Replaces values in messages of the test environment (SPEC.md "Authentication" 3), as its records do.
// Symbols, sequence numbers and kinds of messages stay, since clients depend on them. A replacement depends
// on the account's seed, the member's name and the value, so that repeated requests do not average it out:
// test data that cannot be mistaken for the market's, not encryption.
import type { MessageTransform } from '../../store/bus/group.ts';
import type { ReadRequest } from '../request/readRequest.ts';

const UNCHANGED_MEMBERS: ReadonlySet<string> = new Set(['symbol', 'seq', 'messageType', 'type']);
/** Names of members whose numbers, above `TIME_LEAST`, are epoch milliseconds. */
const TIME = /(?:time|timestamp|update|updated|date|trade)$/i;
const TIME_MIN = 1e11;
const DAY_MS = 86_400_000;
/** Maximum days by which times are shifted: -30 to 30, never 0. */
const DAYS_MAX = 30;

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** Builds the replacement of values; undefined outside the test environment. */
export function buildSandboxValues({
  caller,
  environment,
}: ReadRequest): MessageTransform | undefined {
  if (environment !== 'test') return undefined;
  const seed = caller.scrambleSeed ?? '';
  const of = (json: string): string =>
    JSON.stringify(replaceValue('', JSON.parse(json) as Json, seed));
  return { name: seed, of };
}

/** Replaces the values of a state for a caller of the test environment. */
export function applySandboxValues<Value>(value: Value, call: ReadRequest): Value {
  const disguise = buildSandboxValues(call);
  return disguise === undefined || value === undefined
    ? value
    : (JSON.parse(disguise.of(JSON.stringify(value))) as Value);
}

/**
 * Builds the call that reads the source of messages without replaced values: it is shared by all subscribers,
 * and values are replaced when messages are written to a test token.
 */
export function withoutSandboxValues(call: ReadRequest): ReadRequest {
  if (call.environment !== 'test') return call;
  const { scrambleSeed: _, token, ...caller } = call.caller;
  return { ...call, caller: { ...caller, token: { ...token, test: false } } };
}

function replaceValue(name: string, value: Json, seed: string): Json {
  if (value === null || UNCHANGED_MEMBERS.has(name)) return value;
  if (Array.isArray(value)) return value.map((one: Json) => replaceValue(name, one, seed));
  if (typeof value === 'object') {
    const members = Object.entries(value as Readonly<Record<string, Json>>);
    return Object.fromEntries(members.map(([key, one]) => [key, replaceValue(key, one, seed)]));
  }
  const digest = hashText(`${seed} ${name} ${String(value)}`);
  if (typeof value === 'boolean') return digest % 2 === 0;
  if (typeof value === 'number') return replaceNumber(name, value, digest, seed);
  return replaceText(value, digest);
}

function replaceNumber(name: string, value: number, digest: number, seed: string): number {
  if (value === 0) return 0;
  if (value > TIME_MIN && TIME.test(name)) return value + shiftDays(seed) * DAY_MS;
  const sign = digest % 2 === 0 ? 1 : -1;
  const share = (5_000 + ((digest >>> 1) % 40_001)) / 1_000_000;
  if (Number.isInteger(value)) {
    if (Math.abs(value) === 1) return 2 * value;
    return value + sign * Math.max(1, Math.round(Math.abs(value) * share));
  }
  const moved = value * (1 + sign * share);
  const decimals = /\.(\d+)$/.exec(String(value))?.[1]?.length ?? 0;
  if (decimals === 0) return moved;
  const near = Number(moved.toFixed(decimals));
  if (near !== value) return near;
  // The last digit alone moves away from 0.
  return Math.abs(value) < 1.5 * 10 ** -decimals ? 2 * value : value + sign * 10 ** -decimals;
}

function shiftDays(seed: string): number {
  const step = hashText(seed) % (2 * DAYS_MAX);
  return step < DAYS_MAX ? step - DAYS_MAX : step - DAYS_MAX + 1;
}

/** Returns an anagram; if that is the same text, replaces its letters and digits. */
function replaceText(text: string, digest: number): string {
  const characters = [...text];
  let state = digest;
  for (let at = characters.length - 1; at > 0; at -= 1) {
    state = mixBits(state + at);
    const other = state % (at + 1);
    [characters[at], characters[other]] = [characters[other] ?? '', characters[at] ?? ''];
  }
  const shuffled = characters.join('');
  return shuffled === text ? text.replaceAll(/[a-zA-Z0-9]/g, shiftCharacter) : shuffled;
}

/** Shifts a character by seven places within its kind. */
function shiftCharacter(character: string): string {
  const code = character.charCodeAt(0);
  const [first, count] = code < 58 ? [48, 10] : code < 91 ? [65, 26] : [97, 26];
  return String.fromCharCode(first + ((code - first + 7) % count));
}

/** FNV-1a over UTF-16, mixed: 0.1 us a value; SHA-256 takes 1.5 us, too long at 20,000 messages a second. */
function hashText(text: string): number {
  let state = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    state = Math.imul(state ^ text.charCodeAt(at), 0x01000193);
  }
  return mixBits(state);
}

function mixBits(state: number): number {
  const first = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
  const second = Math.imul(first ^ (first >>> 13), 0xc2b2ae35);
  return (second ^ (second >>> 16)) >>> 0;
}
