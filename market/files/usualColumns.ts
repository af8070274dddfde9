// Vendors' names of columns, for each input: a guess that a person checks before it is used. Spellings are
// compared by their letters and digits alone: `<CLOSE>`, `Adj Close`, `adj_close`.
import type { GuessColumns } from '../../store/lake/datasets/defaults.ts';
import { Failure } from '../../store/base/failure.ts';
import { quoteWord } from '../../store/base/shellWord.ts';
import { normalizeColumn } from './columnNames.ts';
import { findVendor, recogniseVendor } from './vendors.ts';
import type { Input, InputId } from '../inputs/inputRow.ts';

/**
 * Names of one property, the most reliable first: a lower rank counts only if no column has a name of a
 * higher one. The property's own name comes before all.
 */
type Ranks = readonly string[];
type Usual = Readonly<Record<string, Ranks>>;

const TICKER: Ranks = [
  'ticker sym tickersymbol stocksymbol tradingsymbol actsymbol',
  'code instrument security stock',
  'name',
];
const DAY: Ranks = [
  'tradedate tradingdate tradingday pricedate bardate',
  'day dt dtyyyymmdd yyyymmdd asofdate businessdate sessiondate',
  'datum fecha jour seance',
  'timestamp datetime time t windowstart opentime',
];
const TIME: Ranks = ['timestamp datetime tradetime siptimestamp participanttimestamp', 'date t ts'];

const BAR: Usual = {
  symbol: TICKER,
  open: [
    'openprice openingprice priceopen pxopen',
    'o first',
    'eroffnung eroffn eroffnungskurs erster ouverture ouv premier apertura',
  ],
  high: [
    'highprice pricehigh pxhigh dayhigh',
    'h hi max',
    'hoch hochst hochstkurs tageshoch plushaut haut maximo',
  ],
  low: [
    'lowprice pricelow pxlow daylow',
    'l lo min',
    'tief tiefst tiefstkurs tagestief plusbas bas minimo',
  ],
  close: [
    'closeprice closingprice priceclose pxclose closelast',
    'c last pxlast',
    'schlusskurs schluss zuletzt cloture dernier cierre ultimo',
    'price',
    'kurs cours precio',
  ],
  volume: [
    'vol sharevolume tradedvolume totalvolume volumetraded pxvolume',
    'v',
    'stuck stucke stuecke',
    'volumen titres',
  ],
};

const STATEMENT: Usual = {
  symbol: TICKER.slice(0, 2),
  reportDate: ['filingdate filed accepteddate', 'date'],
  fiscalDate: ['fiscaldateending fiscalenddate perioddate enddate', 'asof'],
  fiscalYear: ['calendaryear year'],
};

const SERIES: Usual = {
  key: ['series seriesid id symbol name'],
  date: ['observationdate', ...DAY],
  value: ['observation rate price close yield'],
};

const MOOD: Usual = { symbol: TICKER.slice(0, 2), date: DAY, sentiment: ['score', 'mood'] };

const USUAL: Readonly<Partial<Record<InputId, Usual>>> = {
  HISTORICAL_PRICES: {
    ...BAR,
    date: DAY,
    fOpen: ['adjopen adjustedopen openadj'],
    fHigh: ['adjhigh adjustedhigh highadj'],
    fLow: ['adjlow adjustedlow lowadj'],
    fClose: ['adjclose adjustedclose adjcloseprice adjustedcloseprice closeadj closeadjusted'],
    uOpen: ['unadjustedopen rawopen'],
    uHigh: ['unadjustedhigh rawhigh'],
    uLow: ['unadjustedlow rawlow'],
    uClose: ['unadjustedclose rawclose closeunadj'],
    uVolume: ['unadjustedvolume rawvolume'],
  },
  INTRADAY_PRICES: {
    ...BAR,
    date: DAY.slice(0, 2),
    minute: ['time', 'min'],
    average: ['vwap', 'vw'],
    numberOfTrades: ['trades transactions tradecount', 'n'],
  },
  SPLITS: {
    symbol: TICKER,
    exDate: ['exsplitdate splitdate executiondate effectivedate', 'date'],
    fromFactor: ['splitfrom forfactor', 'from denominator'],
    toFactor: ['splitto', 'to numerator'],
    declaredDate: ['declarationdate announcementdate announced'],
  },
  DIVIDENDS: {
    symbol: TICKER,
    exDate: ['exdividenddate exdivdate dividenddate', 'date'],
    amount: ['cashamount dividendamount divcash dividend dividends', 'div cash value'],
    paymentDate: ['paydate payabledate payment', 'payable'],
    recordDate: ['dateofrecord', 'record'],
    declaredDate: ['declarationdate announcementdate', 'declared announced'],
    flag: ['dividendtype', 'type'],
    refid: ['dividendid', 'id'],
  },
  TRADES: {
    symbol: TICKER,
    time: TIME,
    tradeId: ['tradenumber', 'id i', 'sequencenumber sequence'],
    price: ['tradeprice lastprice', 'p last'],
    size: ['tradesize quantity qty shares', 's volume'],
    venue: ['exchange mic', 'x'],
  },
  QUOTES: {
    symbol: TICKER,
    time: TIME,
    sequence: ['sequencenumber seq', 'id'],
    bidPrice: ['bid bidpx', 'bp'],
    bidSize: ['bidqty bidquantity bidvolume', 'bs'],
    askPrice: ['ask askpx offer offerprice ofrprice', 'ap'],
    askSize: ['askqty askquantity askvolume offersize', 'as'],
    venue: ['exchange mic', 'x'],
  },
  COMPANY: {
    symbol: TICKER.slice(0, 2),
    companyName: ['company name longname shortname'],
    securityName: ['security'],
    description: ['longbusinesssummary'],
    CEO: ['chiefexecutive'],
    employees: ['fulltimeemployees numberofemployees'],
    zip: ['zipcode postalcode'],
    sharesOutstanding: ['shareoutstanding shares'],
    float: ['floatshares sharesfloat'],
    ttmEPS: ['eps trailingeps'],
  },
  SYMBOLS: {
    symbol: TICKER.slice(0, 2),
    name: ['companyname securityname'],
    type: ['issuetype securitytype assettype'],
    figi: ['compositefigi'],
    validFrom: ['ipodate listingdate', 'from'],
    validTo: ['delistingdate', 'to'],
  },
  VENUES: { mic: ['miccode code'], name: ['shortname'], longName: ['fullname'] },
  EARNINGS: {
    symbol: TICKER.slice(0, 2),
    EPSReportDate: ['reporteddate reportdate announcementdate', 'date'],
    actualEPS: ['reportedeps epsactual', 'eps'],
    consensusEPS: ['estimatedeps epsestimate epsestimated'],
    fiscalEndDate: ['fiscaldateending fiscaldate'],
  },
  INCOME: STATEMENT,
  BALANCE_SHEET: STATEMENT,
  CASH_FLOW: STATEMENT,
  FINANCIALS: STATEMENT,
  FUNDAMENTALS: STATEMENT,
  ESTIMATES: STATEMENT,
  REPORTED_FINANCIALS: { symbol: TICKER.slice(0, 2), formType: ['form'], dateFiled: ['filed'] },
  CEO_COMPENSATION: { symbol: TICKER.slice(0, 2), name: ['ceo executive'] },
  SHORT_INTEREST: {
    symbol: ['symbolcode', ...TICKER.slice(0, 2)],
    securityName: ['issuename name'],
    currentShortInterest: ['currentshortpositionquantity shortinterest'],
    previousShortInterest: ['previousshortpositionquantity'],
    averageDailyVolume: ['averagedailyvolumequantity'],
    daysToCover: ['daystocoverquantity'],
    stockSplitFlag: ['stocksplitflag'],
  },
  THRESHOLD_SECURITIES: { symbol: TICKER.slice(0, 2), date: ['tradedate'] },
  FUTURES: { symbol: ['contract ticker'], underlying: ['root product'] },
  FUTURES_PRICES: { ...BAR, symbol: ['contract ticker'], date: DAY, close: ['settle settlement'] },
  FX_RATES: {
    symbol: ['pair currencypair currency', 'name'],
    date: DAY,
    rate: ['exchangerate close value', 'price'],
  },
  CRYPTO_QUOTES: { symbol: TICKER, latestUpdate: TIME, latestPrice: ['price last close'] },
  CRYPTO_BOOKS: { symbol: TICKER, time: TIME },
  TREASURY: SERIES,
  RATES: SERIES,
  ENERGY: SERIES,
  MORTGAGE: SERIES,
  ECONOMIC: SERIES,
  SENTIMENT: MOOD,
  SENTIMENT_MINUTES: { ...MOOD, minute: ['time', 'min'] },
  OPTIONS: {
    symbol: ['underlying underlyingsymbol underlyingticker root', 'ticker'],
    id: ['contract contractsymbol contractid occsymbol optionsymbol contractname'],
    lastUpdated: ['tradedate quotedate asof', 'date'],
    expirationDate: ['expiration expiry expirydate expires'],
    strikePrice: ['strike'],
    side: ['callput putcall cp optiontype right'],
    contractSize: ['multiplier sharespercontract'],
    closingPrice: ['close lastprice last', 'settlement price'],
    openInterest: ['oi'],
    bid: ['bidprice'],
    ask: ['askprice offer'],
  },
  EXCHANGE_STATS: { date: DAY, notional: ['value turnover'], symbolsTraded: ['symbols'] },
  PEERS: { symbol: TICKER.slice(0, 2), peer: ['peersymbol peerticker'] },
};

/** Constants of properties without a column: the only dividend of its day. */
const WITHOUT: Partial<Record<InputId, Readonly<Record<string, string>>>> = {
  DIVIDENDS: { refid: '1' },
};

export const usualColumns =
  ({ carried = [], id, properties }: Input): GuessColumns =>
  (columns, assignedBefore, vendorId) => {
    const vendor = findVendor(vendorId) ?? recogniseVendor(columns);
    const own = vendor?.columns?.[id] ?? {};
    // A `Change` may be in percent: carried properties have other names only where these are reliable.
    const usual = USUAL[id] ?? {};
    const sure = carried.filter((name) => Object.hasOwn(usual, name));
    const candidates = [...properties.map(({ name }) => name), ...sure];
    const open = candidates.filter((name) => !assignedBefore.includes(name));
    const spelled = columns.map((column) => ({ column, letters: normalizeColumn(column) }));
    const propertyByColumn = new Map<string, string>();
    const assigned = new Set<string>(assignedBefore);
    for (const { column, letters } of spelled) {
      const property = Object.hasOwn(own, letters) ? own[letters] : undefined;
      if (property === undefined || assigned.has(property)) continue;
      propertyByColumn.set(column, property);
      assigned.add(property);
    }
    // Own names of all properties come first: `from` may be a date and a factor.
    const most = Math.max(0, ...Object.values(usual).map((ranks) => ranks.length));
    for (let rank = -1; rank < most; rank += 1) {
      for (const property of open.filter((name) => !assigned.has(name))) {
        const names = namesOf(usual, property, rank);
        const matches = spelled.filter(
          ({ column, letters }) => names.includes(letters) && !propertyByColumn.has(column),
        );
        const [first, second] = matches;
        if (first === undefined) continue;
        if (second !== undefined) throw ambiguousFailure(property, first.column, second.column);
        propertyByColumn.set(first.column, property);
        assigned.add(property);
      }
    }
    const without = Object.entries(WITHOUT[id] ?? {}).filter(([name]) => !assigned.has(name));
    return {
      columns: Object.fromEntries(propertyByColumn),
      constants: Object.fromEntries(without),
    };
  };

function namesOf(usual: Usual, property: string, rank: number): readonly string[] {
  if (rank < 0) return [property.toLowerCase()];
  const ranks = Object.hasOwn(usual, property) ? usual[property] : undefined;
  return ranks?.[rank]?.split(' ') ?? [];
}

function ambiguousFailure(property: string, first: string, second: string): Failure {
  const [one, other] = [first, second].map((column) => {
    const option = `--map ${quoteWord(`${column}=${property}`)}`;
    return `columns=${JSON.stringify({ [column]: property })} (${option})`;
  });
  const what = `columns ${first} and ${second} may both be ${property}`;
  return new Failure('InvalidBody', `${what}: specify which one is, ${one} or ${other}`);
}
