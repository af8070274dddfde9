// Corporate actions in the original's detailed form: one record an action, by its reference.
import {
  type Input,
  type InputId,
  type InputProperty,
  optionalProperty,
  requiredProperty,
  number,
} from './inputRow.ts';
import { SYMBOL, text } from './inputRow.ts';

const day = (name: string, help: string): InputProperty =>
  optionalProperty([name, 'date', '2026-02-06', help]);

const COMMON: readonly InputProperty[] = [
  SYMBOL,
  requiredProperty(['exDate', 'date', '2026-02-06', 'First day without the right to it.']),
  requiredProperty(['refid', 'string', '6220275', 'Distinguishes actions of one day.']),
  day('recordDate', 'Day that determines the entitled owners.'),
  day('paymentDate', 'Day of payment or delivery.'),
  text('securityType', 'Common Stock', 'Kind of security.'),
  text('description', 'Ordinary Shares', 'In words.'),
  text('flag', 'Stock', 'Kind of action.'),
  text('notes', '', 'What else is known.'),
  text('figi', 'BBG000BPH459', 'FIGI.'),
  text('countryCode', 'US', 'Country, two letters.'),
  text('currency', 'USD', 'Currency.'),
  number('parValue', 0.01, 'Face value of a share, in its currency.'),
  text('parValueCurrency', 'USD', 'Currency of the face value.'),
  day('created', 'Day on which the record was made.'),
  day('lastUpdated', 'Day of its last change.'),
];

const RATIO: readonly InputProperty[] = [
  number('fromFactor', 1, 'Shares before.'),
  number('toFactor', 2, 'Shares after.'),
  number('ratio', 0.5, 'fromFactor / toFactor.'),
];
const RESULT: readonly InputProperty[] = [
  text('resultSecurityType', 'Common Stock', 'Kind of the security that comes of it.'),
];
const WITHDRAWAL: readonly InputProperty[] = [
  day('withdrawalFromDate', 'First day on which it may be declined.'),
  day('withdrawalToDate', 'Last day on which it may be declined.'),
  day('electionDate', 'Day by which owners choose.'),
  optionalProperty(['hasWithdrawalRights', 'boolean', false, 'Whether it may be declined.']),
];
const OFFER: readonly InputProperty[] = [
  day('expirationDate', 'Day on which the right ends.'),
  number('issuePrice', 12.5, 'Price of a new share, in the currency.'),
  day('subscriptionStart', 'First day of subscription.'),
  day('subscriptionEnd', 'Last day of subscription.'),
  day('tradeStart', 'First day on which the right is traded.'),
  day('tradeEnd', 'Last day on which the right is traded.'),
];

/** Weight of a record of an advanced action (INTERFACE.md 0.3). */
const WEIGHT = 75_000;

const action = (id: InputId, title: string, own: readonly InputProperty[]): Input => ({
  id,
  title,
  weight: WEIGHT,
  properties: [...COMMON, ...own],
  mapping: {
    key: 'symbol',
    subkey: 'refid',
    date: 'exDate',
  },
});

export const ACTIONS: readonly Input[] = [
  action('ADVANCED_DIVIDENDS', 'Dividends at length', [
    day('announceDate', 'Day of the announcement.'),
    number('amount', 0.26, 'For each share, in the currency.'),
    number('grossAmount', 0.26, 'Before taxes, in the currency.'),
    number('netAmount', 0.22, 'After taxes, in the currency.'),
    text('frequency', 'quarterly', 'How often.'),
    text('marker', 'Interim', 'Final, interim, special and the like.'),
  ]),
  action('ADVANCED_SPLITS', 'Splits at length', [
    ...RATIO,
    text('splitType', 'Forward', 'Forward or reverse.'),
    number('oldParValue', 0.02, 'Face value before, in its currency.'),
  ]),
  action('ADVANCED_BONUS', 'Shares given to owners', [
    ...RATIO,
    ...RESULT,
    number('lapsedPremium', 0, 'Premium of what was not taken, in the currency.'),
  ]),
  action('ADVANCED_DISTRIBUTION', 'Distributions of other things than cash', [
    ...WITHDRAWAL,
    ...RATIO,
    ...RESULT,
    number('minPrice', 1, 'Lowest price, in the currency.'),
    number('maxPrice', 2, 'Highest price, in the currency.'),
  ]),
  action('ADVANCED_RETURN_OF_CAPITAL', 'Capital given back', [
    ...WITHDRAWAL,
    number('cashBack', 1.5, 'For each share, in the currency.'),
  ]),
  action('ADVANCED_RIGHTS', 'Rights to new shares', [
    ...OFFER,
    ...RATIO,
    ...RESULT,
    day('splitDate', 'Day of a split that comes with it.'),
  ]),
  action('ADVANCED_RIGHT_TO_PURCHASE', 'Rights to buy other securities', [
    ...OFFER,
    ...RATIO,
    ...RESULT,
    optionalProperty([
      'isOverSubscription',
      'boolean',
      false,
      'Whether oversubscription is allowed.',
    ]),
  ]),
  action('ADVANCED_SECURITY_RECLASSIFICATION', 'Securities that become others', [
    ...RATIO,
    ...RESULT,
  ]),
  action('ADVANCED_SECURITY_SWAP', 'Securities exchanged for others', [...RATIO, ...RESULT]),
  action('ADVANCED_SPINOFF', 'Parts of companies that become companies', [
    ...WITHDRAWAL,
    ...RATIO,
    ...RESULT,
    day('effectiveDate', 'Day on which it holds.'),
    text('resultSymbol', 'NEWCO', 'Ticker of the new company.'),
    number('minPrice', 1, 'Lowest price, in the currency.'),
    number('maxPrice', 2, 'Highest price, in the currency.'),
  ]),
  {
    id: 'DIVIDENDS_FORECAST',
    title: 'Dividends that are expected',
    mapping: { key: 'symbol', subkey: 'frequency', date: 'exDate' },
    weight: WEIGHT,
    properties: [
      SYMBOL,
      requiredProperty(['exDate', 'date', '2026-05-08', 'First day without the right to it.']),
      requiredProperty(['frequency', 'string', 'quarterly', 'How often.']),
      number('amount', 0.27, 'For each share, in the currency.'),
      day('paymentDate', 'Day of payment.'),
      day('recordDate', 'Day that determines the entitled owners.'),
      text('currency', 'USD', 'Currency.'),
      text('status', 'Estimated', 'How sure it is.'),
    ],
  },
];
