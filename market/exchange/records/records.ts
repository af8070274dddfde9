// The exchange's records as CSV, one input at a time: a header, then a line for each record.
import type { Day } from '../../../query/time/days.ts';
import { addDays } from '../../../query/time/days.ts';
import type { FilledId } from '../../inputs/inputRow.ts';
import { hoursOf, retainedFrom } from '../exchange.ts';
import {
  type SampledMarket,
  sampleMarket,
  histories,
  type RecordRequest,
} from '../sampledMarket.ts';
import { type History, sampleHistory } from '../history.ts';
import {
  balanceLines,
  calendarLines,
  cashLines,
  earningsLines,
  estimateLines,
  financialsLines,
  incomeLines,
  peerLines,
} from './statementRecords.ts';
import { sampleReports, sharesAt } from '../statements.ts';
import { type Listing, SECTORS } from '../listings.ts';
import { toMinutes } from '../minutes.ts';
import { coinBookLines, coinLines, rateLines, seriesLines } from './moneyRecords.ts';
import { newestTrades } from '../ticks.ts';
import { sampleDetail, sampleTrades } from '../trades.ts';
import { logoLines, offeringLines, recommendationLines, targetLines } from './analystRecords.ts';
import { holderLines } from './holderRecords.ts';
import { insiderHoldingLines, insiderSummaryLines, insiderTradeLines } from './insiderRecords.ts';
import { INVENTED, newsLines } from './newsRecords.ts';
import { optionLines } from './optionRecords.ts';
import { sentimentLines, sentimentMinuteLines } from './sentimentRecords.ts';
import { exchangeLines } from './statsRecords.ts';
import { VENUES } from '../venues.ts';

export function* recordLines(request: RecordRequest): Generator<string> {
  yield* LINES[request.input](sampleMarket(request));
}

type Lines = (market: SampledMarket) => Generator<string>;

const LINES: Readonly<Record<FilledId, Lines>> = {
  COMPANY: companyLines,
  SYMBOLS: symbolLines,
  HISTORICAL_PRICES: dayLines,
  INTRADAY_PRICES: minuteLines,
  SPLITS: splitLines,
  DIVIDENDS: dividendLines,
  TRADES: tradeLines,
  QUOTES: quoteLines,
  VENUES: venueLines,
  EARNINGS: earningsLines,
  INCOME: incomeLines,
  BALANCE_SHEET: balanceLines,
  CASH_FLOW: cashLines,
  PEERS: peerLines,
  FX_RATES: rateLines,
  CRYPTO_QUOTES: coinLines,
  CRYPTO_BOOKS: coinBookLines,
  TREASURY: seriesLines('TREASURY'),
  RATES: seriesLines('RATES'),
  ENERGY: seriesLines('ENERGY'),
  MORTGAGE: seriesLines('MORTGAGE'),
  ECONOMIC: seriesLines('ECONOMIC'),
  SENTIMENT: sentimentLines,
  SENTIMENT_MINUTES: sentimentMinuteLines,
  OPTIONS: optionLines,
  EXCHANGE_STATS: exchangeLines,
  FINANCIALS: financialsLines,
  ESTIMATES: estimateLines,
  NEWS: newsLines,
  EARNINGS_CALENDAR: calendarLines,
  LOGO: logoLines,
  PRICE_TARGET: targetLines,
  RECOMMENDATION_TRENDS: recommendationLines,
  IPOS: offeringLines,
  INSIDER_TRANSACTIONS: insiderTradeLines,
  INSIDER_SUMMARY: insiderSummaryLines,
  INSIDER_ROSTER: insiderHoldingLines,
  FUND_OWNERSHIP: holderLines('Fund'),
  INSTITUTIONAL_OWNERSHIP: holderLines('Asset Management'),
};

const EXCHANGE_CODE = 'SYN';
const EXCHANGE_NAME = 'Synthetic exchange';

const typeOf = ({ sector }: Listing): string => (sector === undefined ? 'et' : 'cs');

/** Cents to dollars. */
const priceOf = (cents: number): string => String(cents / 100);

function* companyLines(market: SampledMarket): Generator<string> {
  const { factors, listings } = market;
  yield (
    'symbol,companyName,exchange,industry,description,securityName,issueType,sector,primarySicCode,' +
    'employees,tags,state,city,country,sharesOutstanding,float,ttmEPS,currency\n'
  );
  for (const listing of listings) {
    const { employees, name, sector, symbol } = listing;
    const { industry = 'Funds', name: sectorName = '', sic = 6726 } = SECTORS[sector ?? -1] ?? {};
    const history = sampleHistory(factors, listing);
    const shares = sharesAt(listing, history, history.bars.at(-1)?.day ?? '');
    const earnings = sector === undefined ? '' : ttmEarningsOf(market, listing, history, shares);
    const tags = `"[""${sectorName === '' ? 'Fund' : sectorName}""]"`;
    const texts = [symbol, name, EXCHANGE_NAME, industry, INVENTED, `${name} common stock`];
    const numbers = [shares, Math.round(shares * 0.92), earnings];
    const rest = [typeOf(listing), sectorName, sic, employees, tags, 'CA', 'Springfield', 'US'];
    yield `${[...texts, ...rest, ...numbers, 'USD'].join(',')}\n`;
  }
}

/** Earnings of the last four quarters, per current share. */
function ttmEarningsOf(
  { shape, session }: SampledMarket,
  listing: Listing,
  history: History,
  shares: number,
): number | '' {
  const quarters = sampleReports(shape.seed, listing, history, session.closed).filter(
    ({ period }) => period === 'quarterly',
  );
  if (quarters.length < 4) return '';
  const earned = quarters
    .slice(-4)
    .reduce((sum, { income }) => sum + (income['netIncome'] ?? 0), 0);
  return Math.round((earned / shares) * 100) / 100;
}

function* symbolLines({ listings }: SampledMarket): Generator<string> {
  yield (
    'symbol,validFrom,validTo,name,exchange,exchangeName,type,region,currency,isEnabled,' +
    'figi,isin,cusip,cik\n'
  );
  for (const listing of listings) {
    const { cik, cusip, figi, firstDay, isin, name, symbol } = listing;
    const place = [EXCHANGE_CODE, EXCHANGE_NAME, typeOf(listing), 'US', 'USD', true];
    yield `${[symbol, firstDay, '', name, ...place, figi, isin, cusip, cik].join(',')}\n`;
  }
}

function* venueLines(): Generator<string> {
  yield 'mic,name,longName,tapeId,oatsId,refId,type\n';
  for (const { mic, name, tapeId } of VENUES) {
    yield `${[mic, name, `${name} (invented)`, tapeId, tapeId, mic, 'equities'].join(',')}\n`;
  }
}

function* dayLines(market: SampledMarket): Generator<string> {
  const { after, shape, session } = market;
  const from = laterOf(retainedFrom(shape, session).days, after);
  yield 'symbol,date,open,high,low,close,volume,isSplitAdjusted\n';
  for (const [{ symbol }, { bars }] of histories(market)) {
    for (const { close, day, high, low, open, volume } of bars) {
      if (day < from || day > session.closed) continue;
      const prices = [open, high, low, close].map(priceOf);
      yield `${symbol},${day},${prices.join(',')},${volume},false\n`;
    }
  }
}

/** The first requested day. */
const laterOf = (firstDay: Day, after: Day | undefined): Day => {
  const next = after === undefined ? firstDay : addDays(after, 1);
  return next > firstDay ? next : firstDay;
};

function* minuteLines(market: SampledMarket): Generator<string> {
  const { after, afterMs = 0, listings, shape, session } = market;
  const from = laterOf(retainedFrom(shape, session).minutes, after);
  yield 'symbol,date,minute,open,high,low,close,average,volume,notional,numberOfTrades\n';
  const some = { ...market, listings: listings.filter(({ at }) => at < shape.minuteSymbols) };
  for (const [listing, { bars }] of histories(some)) {
    for (const bar of bars.filter(({ day }) => day >= from && day <= session.opened)) {
      const { seed } = shape;
      const { minutes, openMs } = hoursOf(bar.day);
      for (const minute of toMinutes(sampleTrades({ seed, at: listing.at }, bar, minutes))) {
        const endMs = openMs + (minute.minute + 1) * MINUTE_MS;
        if (bar.day > session.closed && (endMs > session.untilMs || endMs <= afterMs)) continue;
        const { notional, trades, volume } = minute;
        const prices = [minute.open, minute.high, minute.low, minute.close].map(priceOf).join(',');
        const average = Math.round((notional / volume) * 100) / 10_000;
        const head = `${listing.symbol},${bar.day},${clockOf(minute.minute)},${prices}`;
        yield `${head},${average},${volume},${notional / 100},${trades}\n`;
      }
    }
  }
}

const MINUTE_MS = 60_000;
const OPENS_AT = 9 * 60 + 30;

function clockOf(minute: number): string {
  const whole = OPENS_AT + minute;
  const [hour, rest] = [Math.floor(whole / 60), whole % 60];
  return `${String(hour).padStart(2, '0')}:${String(rest).padStart(2, '0')}`;
}

/** Actions announced by the latest closed session, within the retained days. */
function selectAnnounced<Action extends { readonly declared: Day; readonly exDay: Day }>(
  actions: readonly Action[],
  { shape, session }: SampledMarket,
): readonly Action[] {
  const { days } = retainedFrom(shape, session);
  return actions.filter(({ declared, exDay }) => declared <= session.closed && exDay >= days);
}

function* splitLines(market: SampledMarket): Generator<string> {
  yield 'symbol,exDate,fromFactor,toFactor,ratio,declaredDate,description\n';
  for (const [{ symbol }, { splits }] of histories(market)) {
    for (const { declared, exDay, from, to } of selectAnnounced(splits, market)) {
      const values = [symbol, exDay, from, to, from / to, declared, `${to}-for-${from} split`];
      yield `${values.join(',')}\n`;
    }
  }
}

function* dividendLines(market: SampledMarket): Generator<string> {
  yield (
    'symbol,exDate,refid,amount,paymentDate,recordDate,declaredDate,flag,currency,' +
    'description,frequency\n'
  );
  for (const [{ symbol }, { dividends }] of histories(market)) {
    for (const { cents, declared, exDay, paid } of selectAnnounced(dividends, market)) {
      const days = [paid, exDay, declared].join(',');
      const rest = 'Cash,USD,Ordinary dividend,quarterly';
      yield `${symbol},${exDay},1,${priceOf(cents)},${days},${rest}\n`;
    }
  }
}

function* tradeLines(market: SampledMarket): Generator<string> {
  const { seed } = market.shape;
  yield (
    'symbol,time,tradeId,price,size,venue,isOddLot,isISO,isOutsideRegularHours,' +
    'isSinglePriceCross,isTradeThroughExempt\n'
  );
  let place = 0;
  for (const { bar, before, listing, openMs, trade } of newestTrades(market)) {
    place = before === undefined ? 1 : place + 1;
    const { venue } = sampleDetail({ seed, at: listing.at }, bar, trade, before);
    const time = new Date(openMs + trade.offsetMs).toISOString();
    const flags = [trade.size < 100, place % 7 === 0, false, before === undefined, false];
    const values = [listing.symbol, time, place, priceOf(trade.cents), trade.size, venue];
    yield `${[...values, ...flags].join(',')}\n`;
  }
}

function* quoteLines(market: SampledMarket): Generator<string> {
  const { seed } = market.shape;
  yield 'symbol,time,sequence,bidPrice,bidSize,askPrice,askSize,venue\n';
  let place = 0;
  for (const { bar, before, listing, openMs, trade } of newestTrades(market)) {
    place = before === undefined ? 1 : place + 1;
    const offer = sampleDetail({ seed, at: listing.at }, bar, trade, before);
    const time = new Date(openMs + offer.quotedMs).toISOString();
    const { ask, askSize, bid, bidSize, venue } = offer;
    const values = [place, priceOf(bid), bidSize, priceOf(ask), askSize, venue];
    yield `${listing.symbol},${time},${values.join(',')}\n`;
  }
}
