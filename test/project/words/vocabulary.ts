// Lists the words of a private dialect and the field's words for them. Comments, messages, documents and
// names are checked against it, so that nobody has to learn a dialect to read this project.

interface Entry {
  /** Matched in prose without regard to case. */
  readonly pattern: RegExp;
  readonly instead: string;
  /** A line with this uses the word as the field does. */
  readonly unless?: RegExp;
}

/** Words and turns of comments, messages and documents. */
export const PROSE: readonly Entry[] = [
  {
    pattern: /\b(tell|tells|told|telling)\b/gi,
    instead: 'return, report, show, include',
    // A column of SQL texts.
    unless: /\btold (text|bigint)\b|\b(n|rule_day)\.told\b|\(id, told,|\b(set|select) told\b/,
  },
  {
    pattern: /\b(ask|asks|asked|asking)\b/gi,
    instead: 'request, query, call',
    unless: /\bbids?\b|\bask (price|size|side|askpx)|\b(best|prices of) asks?\b|\bas \(\?:asked\|/i,
  },
  {
    pattern: /\b(say|says|said|saying)\b/gi,
    instead: 'state, pass, set, specify',
    // A text that earlier versions stored, and one of a file.
    unless: /its id says|say ""hi""/,
  },
  { pattern: /\b(whoever|whichever|whatever)\b/gi, instead: 'the noun: the caller, the client' },
  { pattern: /\bin vain\b/gi, instead: 'failed, unsuccessfully, timed out' },
  { pattern: /\b(stands?|standing)\b(?! (alone|for)\b)/gi, instead: 'is stored, state, position' },
  { pattern: /\b(is|are|was|were) looked\b|\blooked at\b/gi, instead: 'is checked, inspected' },
  { pattern: /\b(give|gives|gave) way\b/gi, instead: 'is replaced by' },
  { pattern: /\b(take|takes|took) the place\b/gi, instead: 'replaces' },
  { pattern: /\b(by|of) itself\b/gi, instead: 'automatically' },
  { pattern: /\bof then\b|\bof the past\b/gi, instead: 'earlier, as of that time' },
  { pattern: /\b(what|that) there (is|are|was)\b/gi, instead: 'the noun' },
  { pattern: /\b(lent|untold|tellings)\b/gi, instead: 'remote execution, unacknowledged, barrier' },
  { pattern: /\bheld against\b/gi, instead: 'compared with' },
  { pattern: /\bhouse\b/gi, instead: 'code base, architecture' },
];

/** Words inside of names: `toldFull`, `askOnce`. */
export const NAME_PARTS: ReadonlyMap<string, string> = new Map([
  ['told', 'result, reported, message'],
  ['tell', 'report, return, send'],
  ['tells', 'reports, returns'],
  ['untold', 'unacknowledged'],
  ['asked', 'request, requested'],
  ['said', 'message, option'],
  ['says', 'states'],
  ['whoever', 'caller'],
  ['lent', 'remote'],
]);

/** Bare participles that are no names: of what? */
export const BARE_NAMES: ReadonlySet<string> = new Set([
  'told',
  'asked',
  'made',
  'given',
  'kept',
  'said',
  'taken',
  'shown',
  'held',
  'known',
  'wanted',
  'standing',
  'lent',
  'found',
  'drawn',
  'gone',
  'meant',
]);

/** Members and columns that clients, data folders and other nodes know; a rename would break them. */
export const STORED_MEMBERS: ReadonlyMap<string, string> = new Map([
  ['held', 'balances of accounts; locks in PostgreSQL'],
  ['told', 'ticks of a replay; columns of rules and of nodes'],
  ['made', 'backups in answers and manifests; messages between nodes'],
  ['known', 'stored positions of sources'],
  ['kept', 'a column alias of samples'],
  ['gone', 'the failure of status 410; names of samples in tests'],
  ['firingsTold', 'backtests'],
]);
