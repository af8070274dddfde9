// Subjects of a dataset: each is written twice under a unique name, and most of them are purged. After any
// crash, the folder holds a subject completely or not at all.
import type { Seeded } from '../rounds/seeded.ts';
import type { Door } from './writer.ts';

/** The moments of a subject's life, by the caller's clock. */
interface Subject {
  readonly name: string;
  readonly sent: number;
  stored: number;
  purging: number;
  purged: number;
}

const NEVER = Number.POSITIVE_INFINITY;
const PURGED_SHARE = 0.8;

export interface Subjects {
  readonly all: Subject[];
  readonly dataset: string;
  /** The dataset exists with its unique index: a push would create one without. */
  isMade?: boolean;
  /** The current time: a number that only grows. */
  readonly moment: (what: string) => number;
}

/** Plays one subject's life; returns false once the server no longer answers. */
export async function liveOne(subjects: Subjects, door: Door, random: Seeded): Promise<boolean> {
  const { all, dataset, moment } = subjects;
  const name = `SUBJECT${all.length}q${random.between(100_000, 999_999)}z`;
  const sent = moment('subject sent');
  const subject = { name, sent, stored: NEVER, purging: NEVER, purged: NEVER };
  all.push(subject);
  for (const version of [1, 2]) {
    const pushes = random.chance(0.8) && subjects.isMade === true;
    if (!(await write(door, dataset, name, version, pushes))) return false;
    subjects.isMade = true;
  }
  subject.stored = moment('subject stored');
  if (!random.chance(PURGED_SHARE)) return true;
  subject.purging = moment('subject purging');
  if (!(await purge(door, dataset, name))) return false;
  subject.purged = moment('subject purged');
  return true;
}

const write = (
  door: Door,
  dataset: string,
  symbol: string,
  version: number,
  pushes: boolean,
): Promise<boolean> => {
  const how = 'duplicateKeyHandling=replace';
  if (pushes) {
    const body = JSON.stringify({ symbol, date: '2020-01-01', version });
    return succeeds(door, 'POST', `record/WS/${dataset}?${how}`, body);
  }
  const body = `symbol,date,version\n${symbol},2020-01-01,${version}\n`;
  const index = 'wait=true&key=symbol&date=date';
  return succeeds(door, 'POST', `data/WS/${dataset}?${how}&${index}`, body);
};

const purge = (door: Door, dataset: string, name: string): Promise<boolean> =>
  succeeds(door, 'DELETE', `data/WS/${dataset}/${name}?purge=true`);

async function succeeds(
  { base, secret }: Door,
  method: string,
  path: string,
  body?: string,
): Promise<boolean> {
  const mark = path.includes('?') ? '&' : '?';
  const init = { method, ...(body === undefined ? {} : { body }) };
  try {
    const answer = await fetch(`${base}/v1/${path}${mark}token=${secret}`, init);
    await answer.arrayBuffer();
    return answer.status === 200;
  } catch {
    return false;
  }
}

/**
 * Faults after a recovery from a power loss at a moment. `rows` are those of the dataset, `look` lists
 * the files of the folder that contain a text.
 */
export function subjectFaults(
  { all }: Subjects,
  moment: number,
  rows: readonly Readonly<Record<string, unknown>>[],
  look: (text: string) => readonly string[],
): readonly string[] {
  return all.flatMap(({ name, sent, stored, purging, purged }) => {
    const mine = rows.filter((row) => row['symbol'] === name);
    const faults: string[] = [];
    if (mine.length > 1) faults.push(`${name} is there ${mine.length} times`);
    if (stored <= moment && purging > moment && mine[0]?.['version'] !== 2) {
      faults.push(`${name} was stored, and is ${JSON.stringify(mine)}`);
    }
    if ((purged <= moment || sent > moment) && mine.length > 0) {
      faults.push(`${name} is there, ${purged <= moment ? 'though purged' : 'before it was sent'}`);
    }
    const holders = mine.length > 0 || purging > moment ? [] : look(name);
    if (holders.length > 0) faults.push(`${name} is gone, and still held by ${holders.join(', ')}`);
    return faults;
  });
}
