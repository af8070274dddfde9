// Requests that are wide, deep or long, for each row of the table of endpoints: its JSON body and its
// parameters, as long as the server accepts.
import type { AnyEndpoint } from '../../../../api/request/endpoint.ts';
import type { Parameter } from '../../../../reads/request/parameters.ts';
import type { Seeded } from '../../crash/rounds/seeded.ts';
import {
  bodyWith,
  fullest,
  itemOf,
  memberOf,
  type Place,
  placesIn,
  type Schema,
  smallest,
} from './schemas.ts';

/** The way in which a request is too large. */
export const SHAPES = ['items', 'members', 'depth', 'length', 'full'] as const;
export type Shape = (typeof SHAPES)[number];
/** Shapes of one part of a body. */
type Large = Exclude<Shape, 'full'>;

/** Placeholder in a body for the large part. */
const HOLE = '\u0001hole';
const QUOTED_HOLE = JSON.stringify(HOLE);
/** Maximum length of a request line, encoded; a server refuses headers of more than 64 KiB. */
const LINE_CHARACTERS = 60_000;

/** A JSON body of the schema, at most `bytesMax` long, too large in the given shape at one of its places. */
export function bigBody(schema: Schema, shape: Shape, bytesMax: number, random: Seeded): string {
  if (shape === 'full') return fullBody(schema, bytesMax, random);
  const places = placesIn(schema).filter((place) => fits(place, shape));
  const [first = { path: [], schema }, ...rest] = places;
  const place = random.pick([first, ...rest]);
  const frame = JSON.stringify(bodyWith(schema, place.path, HOLE));
  const room = bytesMax - Buffer.byteLength(frame) + QUOTED_HOLE.length;
  return frame.replace(QUOTED_HOLE, () => PARTS[shape](place, room, random));
}

/** A body with all lists and objects at their maximum, or at the same share of it if that is too long. */
function fullBody(schema: Schema, bytesMax: number, random: Seeded): string {
  const probability = random.next();
  const names = new Map<string, boolean>();
  const has = (name: string): boolean => {
    const isPresent = names.get(name) ?? random.chance(probability);
    names.set(name, isPresent);
    return isPresent;
  };
  for (let share = 1; share > 0.001; share /= 2) {
    const text = JSON.stringify(fullest(schema, { has, share }));
    if (Buffer.byteLength(text) <= bytesMax) return text;
  }
  return JSON.stringify(smallest(schema));
}

/** True if the shape may have an effect at the place; at others the type is refused immediately. */
function fits({ path, schema }: Place, shape: Large): boolean {
  if (path.length === 0) return true;
  if (shape === 'depth') return true;
  if (shape === 'items') return schema.type === 'array';
  if (shape === 'members') return schema.type === 'object';
  return schema.type === 'string' || (schema.type === undefined && schema.anyOf === undefined);
}

type Part = (place: Place, room: number, random: Seeded) => string;

/** As many items as the schema accepts, or as fit: both cases matter. */
const countOf = (most: number | undefined, random: Seeded): number =>
  most === undefined || random.chance(0.4) ? Infinity : most;

/** Opening and closing texts of a level of depth. */
const LEVELS: readonly [readonly [string, string], ...(readonly [string, string])[]] = [
  ['[', ']'],
  ['{"a":', '}'],
  ['[{"a":', '}]'],
  ['[1,[],', ']'],
];

const PARTS: Readonly<Record<Large, Part>> = {
  items: ({ path, schema }, room, random) => {
    const good = JSON.stringify(smallest(itemOf(schema), `${path.at(-1) ?? ''}[]`));
    const odd = random.pick(['[]', '{}', '0', 'null', '""', '"x"', '[[]]', '{"a":1}', '-1.5e9']);
    const item = random.chance(0.7) ? good : odd;
    return `[${filled(() => item, countOf(schema.maxItems, random), room - 2)}]`;
  },
  members: ({ path, schema }, room, random) => {
    const member = memberOf(schema);
    const good = JSON.stringify(
      member === undefined ? 1 : smallest(member, `${path.at(-1) ?? ''}{}`),
    );
    const odd = random.pick(['[]', '{}', '0', 'null', '""', '[[]]', '{"a":1}']);
    const value = random.chance(0.7) ? good : odd;
    const name = random.pick(['m', 'a much longer name of a member ', 'v', '__proto__', '$', 'İ']);
    const one = (at: number): string => `${JSON.stringify(`${name}${at}`)}:${value}`;
    return `{${filled(one, countOf(schema.maxProperties, random), room - 2)}}`;
  },
  depth: (_, room, random) => {
    const [open, close] = random.pick<readonly [string, string]>(LEVELS);
    const times = Math.floor((room - 1) / (open.length + close.length));
    const levels = random.chance(0.3) ? Math.min(times, random.between(5, 1_000)) : times;
    return `${open.repeat(levels)}1${close.repeat(levels)}`;
  },
  length: ({ schema: { maxLength = Infinity } }, room, random) => {
    const unit = random.pick([
      'a',
      ' ',
      '\\u0000',
      '\\\\',
      'é',
      '🎈',
      '[',
      '0',
      '-',
      'a,',
      '$.a',
      '*',
    ]);
    const most = random.chance(0.7) ? maxLength : Infinity;
    const fit = Math.floor((room - 2) / Buffer.byteLength(unit));
    return `"${unit.repeat(Math.max(0, Math.min(fit, most)))}"`;
  },
};

/** `count` parts separated by commas, or as many as fit. */
function filled(part: (at: number) => string, count: number, room: number): string {
  const parts: string[] = [];
  let left = room;
  while (parts.length < count) {
    const one = part(parts.length);
    left -= Buffer.byteLength(one) + 1;
    if (left < 0) break;
    parts.push(one);
  }
  return parts.join(',');
}

/** A query string with too much of a parameter, of one name, or of names. */
export function bigQuery({ parameters }: Pick<AnyEndpoint, 'parameters'>, random: Seeded): string {
  const names = Array.from({ length: 6_000 }, (_, at) => `n${at}=1`).join('&');
  const [first, ...rest] = parameters;
  if (first === undefined || random.chance(0.1)) return names;
  const one = random.pick([first, ...rest]);
  if (random.chance(0.1)) return `${one.name}=a&`.repeat(LINE_CHARACTERS / 20).slice(0, -1);
  const most = random.chance(0.8) ? charactersOf(one) : LINE_CHARACTERS;
  const unit = random.pick([
    'a,',
    ',',
    'A,B,',
    '1,',
    'symbol,',
    'v,',
    'a:1,',
    'v>1,',
    '[',
    '{%22a%22:',
  ]);
  return `${one.name}=${unit.repeat(LINE_CHARACTERS).slice(0, most)}`;
}

const charactersOf = (parameter: Parameter): number =>
  'charactersMax' in parameter ? (parameter.charactersMax ?? 4_096) : 4_096;
