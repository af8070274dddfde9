// What must come out, stated once: a row's reach, the grip of a token on what is asked for, and
// the state of its account decide. Nothing here is copied from what the server answers.
import type { TokenNeed } from '../../../api/request/endpoint.ts';
import { FAILURES } from '../../../api/request/failures.ts';
import type { FailureType } from '../../../store/base/failure.ts';
import type { Right, TokenKind } from '../../../store/accounts/tokens.ts';
import type { Reach, Way } from './matrixCases.ts';
import { SPEC_ERRORS } from './matrixErrors.ts';

export type Verdict = 'allowed' | FailureType;
export type Rule = (way: Way) => Verdict;

/** Which token a row must ask for, by what it reaches (SPEC.md "Authentication" 2, 4). */
export const NEEDS: Readonly<Record<Reach, TokenNeed>> = {
  nothing: 'none',
  lists: 'publishable',
  read: 'publishable',
  core: 'publishable',
  inspect: 'secret',
  write: 'granted',
  delete: 'granted',
  workspace: 'secret',
  account: 'secret',
  own: 'publishable',
  operator: 'admin',
};

/** The right on a dataset that opens a row to a token that has rights on single datasets. */
const RIGHTS: Readonly<Partial<Record<Reach, Right>>> = {
  read: 'read',
  inspect: 'read',
  write: 'write',
  delete: 'delete',
};

/** A stopped account must see what stopped it, and end that; and whom it has to credit. */
export const isAlways = ({ endpoint: { path } }: Way): boolean =>
  path.startsWith('/account/') || path === '/attribution';

/** What a token may do with what is asked for. */
export interface Grip {
  readonly kind: TokenKind;
  /** Its rights on the dataset that is asked for; `account`: every right, and managing. */
  readonly rights: 'account' | readonly Right[];
  /** Whether it may change any dataset at all, be it another one. */
  readonly changes?: boolean;
}

export const SECRET: Grip = { kind: 'secret', rights: 'account' };

/** A good token of an account in order, asking for what is its account's. */
export const may =
  ({ kind, rights, changes: writer = false }: Grip): Rule =>
  ({ asked: { reach, secret = false } }) => {
    if (['nothing', 'lists', 'core', 'own'].includes(reach)) return 'allowed';
    if (reach === 'operator') return 'InvalidKey';
    const need = secret ? 'secret' : NEEDS[reach];
    const kept = need === 'secret' || (need === 'granted' && !writer);
    if (kind === 'publishable' && kept) return 'SecretKeyRequired';
    if (rights === 'account') return 'allowed';
    const right = RIGHTS[reach];
    return right !== undefined && rights.includes(right) ? 'allowed' : 'Restricted';
  };

/** A token that is no good for this request: whatever takes a token says so. */
export const badToken =
  (type: FailureType): Rule =>
  ({ asked: { reach } }) => {
    if (reach === 'nothing') return 'allowed';
    return reach === 'operator' ? 'InvalidKey' : type;
  };

/** No token at all, or one that never was. */
export const noToken =
  (type: FailureType): Rule =>
  ({ asked: { reach } }) =>
    reach === 'nothing' ? 'allowed' : type;

/** The operator's own token is no account's. */
export const operator: Rule = ({ asked: { reach } }) =>
  reach === 'nothing' || reach === 'operator' ? 'allowed' : 'InvalidKey';

/** An account that was stopped: everything but what may end it. */
export const stopped =
  (type: FailureType, rule: Rule): Rule =>
  (way) => {
    const verdict = rule(way);
    const open = way.asked.reach === 'nothing' || isAlways(way);
    return verdict === 'allowed' && !open ? type : verdict;
  };

/** Nothing is left to pay with: what is free goes on. */
export const unpaid =
  (rule: Rule): Rule =>
  (way) => {
    const verdict = rule(way);
    const { answers = 200, metered = false } = way.asked;
    const served = answers === 200 || answers === 302;
    return verdict === 'allowed' && metered && served ? 'OverLimit' : verdict;
  };

/**
 * The test environment: the reads of data, no change, even where a GET makes one, no operator, and
 * nothing of how production is set up.
 */
export const testing =
  (rule: Rule): Rule =>
  (way) => {
    const { asked, endpoint } = way;
    if (asked.reach === 'operator') return 'NotFound';
    const isOpen = endpoint.token === 'none' || endpoint.inTest === true;
    if (endpoint.method !== 'GET' || !isOpen) return 'TestReadOnly';
    return rule(way);
  };

/** A door that does not know the operator's rows, with a token that is no good there. */
export const notHere =
  (type: FailureType): Rule =>
  (way) =>
    way.asked.reach === 'operator' ? 'NotFound' : noToken(type)(way);

export const namesWorkspace = ({ asked, route }: Way): boolean =>
  route.includes(':workspace') || (asked.reach === 'read' && asked.path !== undefined);

/** A good token of another account, asking for what is not its account's: that does not exist. */
export const foreign =
  (grip: Grip): Rule =>
  (way) => {
    const { asked, route } = way;
    const verdict = may(grip)(way);
    if (verdict === 'InvalidKey' || verdict === 'SecretKeyRequired') return verdict;
    if (asked.reach === 'account') {
      if (verdict !== 'allowed') return verdict;
      if (asked.foreignToken !== undefined) return 'InvalidParameter';
      return route.includes(':tokenId') ? 'NotFound' : 'allowed';
    }
    // An id alone is looked for in the own workspace, where the token has its rights or not.
    if (asked.reach === 'read' && !namesWorkspace(way)) {
      return verdict === 'allowed' ? 'NotFound' : verdict;
    }
    return namesWorkspace(way) ? 'NotFound' : verdict;
  };

/** A refusal of SPEC.md is its sentence as plain text, on every kind of route (INTERFACE.md 0.1). */
const isPlain = (type: FailureType): boolean =>
  SPEC_ERRORS.some((error) => error.type === type && error.status > 400);

interface Told {
  readonly status: number;
  readonly type: string;
  readonly text: RegExp;
}

const exactly = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** How a refusal looks; `detail` where the sentence is not that of the type. */
const DATA_ALONE =
  'The test environment answers data, and nothing of how production is set up or used';

/** What the limits of an account and a token are told as. */
export const OF_CEILING =
  'The message budget that the operator set for this account is reached: only the operator can raise it';
export const OF_TOKEN =
  'The message limit of this token is reached; the account has others, and may raise it';
export const OF_PREMIUM = 'The account has no premium messages left in this month';

export function toldAs(type: FailureType, { endpoint }: Way, detail?: string): Told {
  const { status, text } = FAILURES[type];
  const isHidden = type === 'TestReadOnly' && endpoint.method === 'GET';
  const sentence = isHidden ? DATA_ALONE : (detail ?? text);
  const html = { status, type: 'text/html; charset=utf-8' };
  const json = { status, type: 'application/json; charset=utf-8' };
  const quoted = exactly(JSON.stringify(sentence).slice(1, -1));
  // What to do stands behind it.
  const advice = type === 'Restricted' ? '( The token .*\\.)?' : '';
  const plain = { ...html, text: new RegExp(`^${exactly(sentence)}${advice}$`) };
  if (isPlain(type)) return plain;
  if (endpoint.failures === 'workspace') {
    const body = `^{"success":false,"message":"${quoted} \\([0-9A-F]{14}\\)"}$`;
    return { ...json, text: new RegExp(body) };
  }
  if (type === 'InvalidParameter') return { ...json, text: new RegExp(`^{"error":"${quoted}"}$`) };
  return plain;
}

/** The count of messages: none on refusals and on `/status` (INTERFACE.md 0.2). */
export function costOf({ asked, endpoint }: Way, status: number): string | null {
  if ((status !== 200 && status !== 302) || endpoint.id === 'getStatus') return null;
  return asked.metered === true && asked.empty !== true ? '1' : '0';
}
