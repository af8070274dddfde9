// Derives a company from reference data, where only its symbol is loaded (INTERFACE.md 1 "company").
import type { Day } from '../../query/time/days.ts';
import { holds, type Row, textIn } from './values.ts';

/** Separates the names of a company and of its security in lists of symbols. */
const OF_SECURITY = ' - ';

/** @param rows of SYMBOLS, oldest first. Undefined where none is valid on the day. */
export function companyOfSymbol(rows: readonly Row[], symbol: string, today: Day): Row | undefined {
  const row = rows.findLast((one) => holds(one, today));
  if (row === undefined) return undefined;
  const name = textIn(row, 'name');
  return {
    symbol,
    companyName: name?.split(OF_SECURITY, 1)[0]?.trim() ?? null,
    exchange: textIn(row, 'exchangeName') ?? textIn(row, 'exchange'),
    industry: null,
    website: null,
    description: null,
    CEO: null,
    securityName: name,
    issueType: textIn(row, 'type'),
    sector: null,
    primarySicCode: null,
    employees: null,
    tags: [],
    address: null,
    address2: null,
    state: null,
    city: null,
    zip: null,
    country: textIn(row, 'region'),
    phone: null,
  };
}
