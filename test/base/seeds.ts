// Seeds of a random suite: a fixed one and a new one. `SEED=…` replays one.
import { note, type Noted } from './notes.ts';

const FIXED = 20_260_131;

/** The seeds of a run, printed in the report so that a failure can be replayed. */
export function seedsOf(context: Noted): readonly number[] {
  const seedText = process.env['SEED'];
  const seeds =
    seedText === undefined ? [FIXED, Math.floor(Math.random() * 2 ** 31)] : [Number(seedText)];
  note(context, `seeds ${seeds.join(', ')}`);
  return seeds;
}
