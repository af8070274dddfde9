// The expected verdicts, stated once: they follow from a row's reach, the grip of a token on the requested
// object, and the state of its account. Nothing here is copied from answers of the server.
import type { TokenNeed } from '../../../reads/rights/access.ts';
import { FAILURES } from '../../../reads/request/failures.ts';
import type { FailureType } from '../../../store/base/failure.ts';
import type { Right, TokenKind } from '../../../store/accounts/tokens.ts';
import type { Reach, Way } from './matrixCases.ts';
import { SPEC_ERRORS } from './matrixErrors.ts';

export type Verdict = 'allowed' | FailureType;
export type Rule = (way: Way) => Verdict;

/** The token that a row must require, by its reach (SPEC.md "Authentication" 2, 4). */
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

/** The right on a dataset that gives a token with rights on single datasets access to a row. */
const RIGHTS: Readonly<Partial<Record<Reach, Right>>> = {
  read: 'read',
  inspect: 'read',
  write: 'write',
  delete: 'delete',
};

/** A stopped account must be able to see and end the reason, and to see its required attributions. */
export const isAlways = ({ endpoint: { path } }: Way): boolean =>
  path.startsWith('/account/') || path === '/attribution';

/** The rights of a token on the requested object. */
export interface Grip {
  readonly kind: TokenKind;
  /** Its rights on the requested dataset; `account`: every right, and managing. */
  readonly rights: 'account' | readonly Right[];
  /** True if it may change any dataset, also a different one. */
  readonly changes?: boolean;
}

export const SECRET: Grip = { kind: 'secret', rights: 'account' };

/** A valid token of a regular account, with requests for its account's own objects. */
export const may =
  ({ kind, rights, changes: writer = false }: Grip): Rule =>
  ({ testCase: { reach, secret = false } }) => {
    if (['nothing', 'lists', 'core', 'own'].includes(reach)) return 'allowed';
    if (reach === 'operator') return 'InvalidKey';
    const need = secret ? 'secret' : NEEDS[reach];
    const isSecretOnly = need === 'secret' || (need === 'granted' && !writer);
    if (kind === 'publishable' && isSecretOnly) return 'SecretKeyRequired';
    if (rights === 'account') return 'allowed';
    const right = RIGHTS[reach];
    return right !== undefined && rights.includes(right) ? 'allowed' : 'Restricted';
  };

/** An invalid token for this request: every row that takes a token refuses it. */
export const badToken =
  (type: FailureType): Rule =>
  ({ testCase: { reach } }) => {
    if (reach === 'nothing') return 'allowed';
    return reach === 'operator' ? 'InvalidKey' : type;
  };

/** No token at all, or one that never existed. */
export const noToken =
  (type: FailureType): Rule =>
  ({ testCase: { reach } }) =>
    reach === 'nothing' ? 'allowed' : type;

/** The operator's own token belongs to no account. */
export const operator: Rule = ({ testCase: { reach } }) =>
  reach === 'nothing' || reach === 'operator' ? 'allowed' : 'InvalidKey';

/** A stopped account: all rows are refused except those that may end the stop. */
export const stopped =
  (type: FailureType, rule: Rule): Rule =>
  (way) => {
    const verdict = rule(way);
    const open = way.testCase.reach === 'nothing' || isAlways(way);
    return verdict === 'allowed' && !open ? type : verdict;
  };

/** No messages are left: only free rows are answered. */
export const unpaid =
  (rule: Rule): Rule =>
  (way) => {
    const verdict = rule(way);
    const { answers = 200, metered = false } = way.testCase;
    const served = answers === 200 || answers === 302;
    return verdict === 'allowed' && metered && served ? 'OverLimit' : verdict;
  };

/**
 * The test environment: reads of data, no change, even by a GET, no operator, and no
 * configuration of production.
 */
export const testing =
  (rule: Rule): Rule =>
  (way) => {
    const { testCase, endpoint } = way;
    if (testCase.reach === 'operator') return 'NotFound';
    const isOpen = endpoint.token === 'none' || endpoint.inTest === true;
    if (endpoint.method !== 'GET' || !isOpen) return 'TestReadOnly';
    return rule(way);
  };

/** A server without the operator's rows, with a token that is invalid there. */
export const notHere =
  (type: FailureType): Rule =>
  (way) =>
    way.testCase.reach === 'operator' ? 'NotFound' : noToken(type)(way);

export const namesWorkspace = ({ testCase, route }: Way): boolean =>
  route.includes(':workspace') || (testCase.reach === 'read' && testCase.path !== undefined);

/** A valid token of another account, with requests for foreign objects: they do not exist for it. */
export const foreign =
  (grip: Grip): Rule =>
  (way) => {
    const { testCase, route } = way;
    const verdict = may(grip)(way);
    if (verdict === 'InvalidKey' || verdict === 'SecretKeyRequired') return verdict;
    if (testCase.reach === 'account') {
      if (verdict !== 'allowed') return verdict;
      if (testCase.foreignToken !== undefined) return 'InvalidParameter';
      return route.includes(':tokenId') ? 'NotFound' : 'allowed';
    }
    // An id alone is searched in the own workspace, where the token has its rights or not.
    if (testCase.reach === 'read' && !namesWorkspace(way)) {
      return verdict === 'allowed' ? 'NotFound' : verdict;
    }
    return namesWorkspace(way) ? 'NotFound' : verdict;
  };

/** A refusal of SPEC.md is its sentence as plain text, on every kind of route (INTERFACE.md 0.1). */
const isPlain = (type: FailureType): boolean =>
  SPEC_ERRORS.some((error) => error.type === type && error.status > 400);

interface ExpectedFailure {
  readonly status: number;
  readonly type: string;
  readonly text: RegExp;
}

const exactly = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** The expected refusal; `detail` replaces the sentence of the type. */
const DATA_ALONE =
  'The test environment answers data, and nothing of how production is set up or used';

/** The sentences for the limits of an account and a token. */
export const OF_CEILING =
  'The message budget that the operator set for this account is reached: only the operator can raise it';
export const OF_TOKEN =
  'The message limit of this token is reached; the account has others, and may raise it';
export const OF_PREMIUM = 'The account has no premium messages left in this month';

export function describeFailure(
  type: FailureType,
  { endpoint }: Way,
  detail?: string,
): ExpectedFailure {
  const { status, text } = FAILURES[type];
  const isHidden = type === 'TestReadOnly' && endpoint.method === 'GET';
  const sentence = isHidden ? DATA_ALONE : (detail ?? text);
  const html = { status, type: 'text/html; charset=utf-8' };
  const json = { status, type: 'application/json; charset=utf-8' };
  const quoted = exactly(JSON.stringify(sentence).slice(1, -1));
  // The sentence continues with the remedy.
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
export function costOf({ testCase, endpoint }: Way, status: number): string | null {
  if ((status !== 200 && status !== 302) || endpoint.id === 'getStatus') return null;
  return testCase.metered === true && testCase.empty !== true ? '1' : '0';
}
