// Exceptions to the rules of the exchange calendar: days on which the US stock exchanges were closed, or
// had other hours, for a reason of that day alone. Sources: the exchange's own list "NYSE Closings"
// (1885 to 2011), its yearly press releases of holidays since then, and its notices of national
// days of mourning; checked against the days on which the VIX was quoted.
import type { Day } from './days.ts';

/** Closed all day. */
export const CLOSURES: ReadonlySet<Day> = new Set([
  '1994-04-27', // President Nixon's funeral
  '2001-09-11', // the attack on New York
  '2001-09-12',
  '2001-09-13',
  '2001-09-14',
  '2004-06-11', // mourning for President Reagan
  '2007-01-02', // mourning for President Ford
  '2012-10-29', // hurricane Sandy
  '2012-10-30',
  '2018-12-05', // mourning for President Bush
  '2025-01-09', // mourning for President Carter
]);

interface Hours {
  /** Time of day in New York; the usual one when undefined. */
  readonly open?: string;
  readonly close?: string;
}

/** Days with special hours. Outages of one exchange and minutes of silence are not included. */
export const HOURS: ReadonlyMap<Day, Hours> = new Map<Day, Hours>([
  ['1994-02-11', { close: '14:30' }], // snow
  ['1996-01-08', { open: '11:00', close: '14:00' }], // snow
  ['1997-10-27', { close: '15:30' }], // the circuit breakers
  ['1997-12-26', { close: '13:00' }], // Friday after Christmas
  ['2002-09-11', { open: '12:00' }], // a year after the attack
  ['2003-12-26', { close: '13:00' }], // Friday after Christmas
]);
