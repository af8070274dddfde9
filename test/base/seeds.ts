// Seeds of a random suite: one that never changes, one that is fresh. `SEED=…` replays one.
import { note, type Noted } from './notes.ts';

const FIXED = 20_260_131;

/** The seeds of a run, told in the report so that a failure can be played again. */
export function seedsOf(context: Noted): readonly number[] {
  const given = process.env['SEED'];
  const seeds =
    given === undefined ? [FIXED, Math.floor(Math.random() * 2 ** 31)] : [Number(given)];
  note(context, `seeds ${seeds.join(', ')}`);
  return seeds;
}
