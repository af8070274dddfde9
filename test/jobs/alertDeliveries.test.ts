// Deliveries of alerts to receivers of every kind; mail.
import { test } from 'vitest';
import { alertsLaw } from '../soak/laws/alerts.ts';
import { note } from '../base/notes.ts';
import { seedsOf } from '../base/seeds.ts';

/** Full count: 1,000 alerts, by `npm run soak alerts`. */
const ALERTS = 10;

test('each alert arrives at least once, or is a dead letter with its reason', async (t) => {
  for (const seed of seedsOf(t)) note(t, await alertsLaw(ALERTS, seed));
});
