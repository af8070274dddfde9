// Parses the values of settings.
import { type AddressRules, parseAddresses } from '../addresses.ts';
import { Failure } from '../failure.ts';
import { rangeRule } from '../valueRules.ts';

export function parseWholeNumber(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw new Failure('InvalidParameter', `setting ${name} ${rangeRule(least, most)}`);
}

/** @throws Failure InvalidParameter without the value, which may be a password */
export function decodeUrlPart(name: string, text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Failure('InvalidParameter', `setting ${name} has a % that begins no %XX`);
  }
}

/** The rule of a setting that is an address; its value is not quoted, because it may contain a password. */
export const emptyOrRule = (form: string): string => `must be empty or ${form}`;

export function checkPattern(name: string, text: string, pattern: RegExp, rule: string): string {
  if (pattern.test(text)) return text;
  throw new Failure('InvalidParameter', `setting ${name} must be ${rule}`);
}

export function parseAddressList(name: string, text: string): AddressRules {
  const list = text.split(',').flatMap((item) => (item.trim() === '' ? [] : [item.trim()]));
  try {
    return parseAddresses(list);
  } catch {
    const rule = 'must be a comma list of addresses and CIDR ranges';
    throw new Failure('InvalidParameter', `setting ${name} ${rule}`);
  }
}

export function parseClockBack(name: string, text: string): 'mark' | 'refuse' {
  return checkPattern(name, text, /^(mark|refuse)$/, 'mark or refuse') === 'mark'
    ? 'mark'
    : 'refuse';
}

export function parseOnOff(name: string, text: string): boolean {
  return checkPattern(name, text, /^(on|off)$/, 'on or off') === 'on';
}

export const parseDemoClock = (text: string): 'always' | 'session' =>
  checkPattern('TAPEDECK_DEMO_CLOCK', text, /^(always|session)$/, 'always or session') === 'session'
    ? 'session'
    : 'always';

export function parseZone(name: string, text: string): string {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: text }).resolvedOptions().timeZone;
  } catch {
    throw new Failure(
      'InvalidParameter',
      `setting ${name} must be an IANA time zone, such as America/New_York`,
    );
  }
}
