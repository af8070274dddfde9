// The findings of the doctor, by check.

type Check =
  | 'version'
  | 'folder'
  | 'permissions'
  | 'disk'
  | 'bucket'
  | 'bus'
  | 'database'
  | 'server'
  | 'port'
  | 'catalog'
  | 'clock'
  | 'ledger'
  | 'sources';

export interface Finding {
  readonly check: Check;
  /** A fault needs action now; a notice can wait. */
  readonly level: 'ok' | 'notice' | 'fault';
  readonly what: string;
  /** The action to take, in a sentence; empty if there is none. */
  readonly advice: string;
}

/** The advice on a place that a server has not created yet. */
export const SERVE_CREATES_IT = '`tapedeck serve` creates it.';

export const fine = (check: Check, what: string): Finding => ({
  check,
  level: 'ok',
  what,
  advice: '',
});
export const notice = (check: Check, what: string, advice: string): Finding => ({
  check,
  level: 'notice',
  what,
  advice,
});
export const fault = (check: Check, what: string, advice: string): Finding => ({
  check,
  level: 'fault',
  what,
  advice,
});
