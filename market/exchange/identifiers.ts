// Identifiers with valid check digits that no real security has.

/** Digits are themselves, letters 10 and up. */
const valueOf = (character: string): number => Number.parseInt(character, 36);

const digitsOf = (value: number): number => Math.floor(value / 10) + (value % 10);

/** Every other value doubled, digits summed: the check digit of CUSIP and FIGI. */
function doubledEverySecond(text: string): string {
  const sum = [...text]
    .map((character, at) => valueOf(character) * (at % 2 === 0 ? 1 : 2))
    .reduce((total, value) => total + digitsOf(value), 0);
  return String((10 - (sum % 10)) % 10);
}

/** Issuers 990 to 999 of each thousand are reserved for private use. */
export function cusipOf(at: number): string {
  const issuer = `${String(Math.floor(at / 10)).padStart(3, '0')}99${at % 10}`;
  const base = `${issuer}10`;
  return `${base}${doubledEverySecond(base)}`;
}

/** Luhn's digit over the letters written as numbers. */
export function isinOf(cusip: string): string {
  const base = `US${cusip}`;
  const digits = [...base].map((character) => String(valueOf(character))).join('');
  const sum = [...digits]
    .toReversed()
    .map((digit, at) => digitsOf(Number(digit) * (at % 2 === 0 ? 2 : 1)))
    .reduce((total, value) => total + value, 0);
  return `${base}${(10 - (sum % 10)) % 10}`;
}

const CONSONANTS = 'BCDFGHJKLMNPQRSTVWXYZ';

/** Issuer ZZ does not exist. */
export function figiOf(at: number): string {
  const letters = [at % 21, Math.floor(at / 21) % 21].map((one) => CONSONANTS[one] ?? 'B');
  const base = `ZZG${letters.join('')}${String(at).padStart(6, '0')}`;
  return `${base}${doubledEverySecond(base)}`;
}

/** Far above the numbers in use. */
export const cikOf = (at: number): string => String(9_900_000 + at);
