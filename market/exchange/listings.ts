// Listed symbols: invented companies, and the fund that holds all of them. Tickers have six letters, more
// than any of a US exchange, so that none is a real company's.
import type { Day } from '../../query/time/days.ts';
import { seededRandom } from './seededRandom.ts';
import { cikOf, cusipOf, figiOf, isinOf } from './identifiers.ts';

/** The fund of the whole market: the benchmark of betas. */
export const BENCHMARK = 'SYNDEX';

/** The exchange's first session, where its history begins. */
export const FOUNDED: Day = '2010-01-04';

/** Most symbols, the fund included. */
export const SYMBOLS_MAX = 300;

const BEGINNINGS = [
  'Bra',
  'Cor',
  'Dal',
  'Fen',
  'Gal',
  'Hul',
  'Jor',
  'Kel',
  'Lom',
  'Mar',
  'Nor',
  'Pel',
  'Qua',
  'Ros',
  'Sel',
  'Tor',
  'Ulm',
  'Vel',
  'Wex',
  'Yar',
];
const ENDINGS = [
  'adon',
  'brik',
  'cote',
  'dimo',
  'elva',
  'fyre',
  'gant',
  'hext',
  'inor',
  'jule',
  'kesh',
  'lund',
  'moor',
  'nock',
  'oria',
];

interface Sector {
  readonly name: string;
  readonly industry: string;
  readonly noun: string;
  readonly sic: number;
}

export const SECTORS: readonly Sector[] = [
  { name: 'Technology', industry: 'Semiconductors', noun: 'Systems', sic: 3674 },
  { name: 'Health Care', industry: 'Medical Devices', noun: 'Medical', sic: 3841 },
  { name: 'Financials', industry: 'Banks', noun: 'Bancorp', sic: 6021 },
  { name: 'Energy', industry: 'Oil and Gas', noun: 'Energy', sic: 1311 },
  { name: 'Industrials', industry: 'Machinery', noun: 'Works', sic: 3560 },
  { name: 'Consumer Staples', industry: 'Food', noun: 'Foods', sic: 2000 },
  { name: 'Consumer Discretionary', industry: 'Retail', noun: 'Stores', sic: 5311 },
  { name: 'Utilities', industry: 'Electric Power', noun: 'Power', sic: 4911 },
  { name: 'Materials', industry: 'Chemicals', noun: 'Chemical', sic: 2800 },
  { name: 'Real Estate', industry: 'Offices', noun: 'Properties', sic: 6798 },
];

export interface Listing {
  /** Index from 0, the fund. */
  readonly at: number;
  readonly symbol: string;
  readonly name: string;
  /** Index in `SECTORS`; undefined for the fund. */
  readonly sector: number | undefined;
  readonly figi: string;
  readonly isin: string;
  readonly cusip: string;
  readonly cik: string;
  readonly firstDay: Day;
  readonly firstCents: number;
  readonly beta: number;
  /** Standard deviation of the symbol's own part of a daily return. */
  readonly ownVolatility: number;
  /** Logarithm per session. */
  readonly drift: number;
  /** Share of the price, per year; 0 without dividends. */
  readonly dividendYield: number;
  readonly shares: number;
  /** Share of the shares, per session. */
  readonly turnover: number;
  readonly employees: number;
}

/** The first listings; each is the same in an exchange of any size. */
export const listingsOf = (seed: number, symbols: number): readonly Listing[] =>
  Array.from({ length: Math.min(symbols, SYMBOLS_MAX) }, (_, at) => listingOf(seed, at));

function listingOf(seed: number, at: number): Listing {
  const { below, uniform } = seededRandom(seed, at, 1);
  const own = uniform();
  const latecomer = at % 11 === 10;
  const isFund = at === 0;
  const cusip = cusipOf(at);
  return {
    at,
    ...namesOf(at),
    figi: figiOf(at),
    isin: isinOf(cusip),
    cusip,
    cik: cikOf(at),
    firstDay: latecomer
      ? `${2015 + (at % 7)}-${String(1 + (at % 9)).padStart(2, '0')}-15`
      : FOUNDED,
    firstCents: isFund ? 12e3 : 1500 + below(12e3),
    beta: isFund ? 1 : 0.4 + uniform() * 1.4,
    ownVolatility: isFund ? 4e-4 : 0.006 + own * 0.011,
    drift: isFund ? 0 : (uniform() - 0.5) * 3e-4,
    dividendYield: isFund ? 0.015 : uniform() < 0.55 ? 0.008 + uniform() * 0.03 : 0,
    shares: (20 + below(980)) * 1e6,
    turnover: isFund ? 0.04 : 0.003 + uniform() * 0.009,
    employees: isFund ? 0 : 200 + below(9e4),
  };
}

function namesOf(at: number): Pick<Listing, 'name' | 'sector' | 'symbol'> {
  if (at === 0) return { name: 'Synthetic Index Fund', sector: undefined, symbol: BENCHMARK };
  const beginning = BEGINNINGS[at % BEGINNINGS.length] ?? '';
  const ending = ENDINGS[Math.floor(at / BEGINNINGS.length)] ?? '';
  const sector = (at * 7) % SECTORS.length;
  const root = `${beginning}${ending}`;
  const name = `${root} ${SECTORS[sector]?.noun ?? ''} (synthetic)`;
  return { name, sector, symbol: root.slice(0, 6).toUpperCase() };
}
