// Formats a stream message in one line: the most useful members first, without nulls.
import { cell } from '../../components/formats.ts';

const FIRST: readonly string[] = [
  'symbol',
  'key',
  'date',
  'messageType',
  'latestPrice',
  'price',
  'lastSalePrice',
  'lastSaleSize',
  'bidPrice',
  'bidSize',
  'askPrice',
  'askSize',
  'rate',
  'close',
  'change',
  'changePercent',
  'latestVolume',
  'volume',
  'size',
  'headline',
];
const FIELDS_MAX = 12;
/** Maximum number of records shown per message. */
const RECORDS_MAX = 5;

/** Returns text that is not JSON unchanged. */
export function shortText(text: string): string {
  try {
    const value = JSON.parse(text) as unknown;
    const records: readonly unknown[] = Array.isArray(value) ? value : [value];
    return records.slice(0, RECORDS_MAX).map(recordText).join('   |   ');
  } catch {
    return text;
  }
}

function recordText(record: unknown): string {
  if (typeof record !== 'object' || record === null) return String(record);
  const all = Object.entries(record).filter(([, value]) => value !== null && value !== '');
  const leading = FIRST.flatMap((name) => all.filter(([one]) => one === name));
  const fields = [...leading, ...all.filter(([name]) => !FIRST.includes(name))].slice(
    0,
    FIELDS_MAX,
  );
  return fields.map(([name, value]) => `${name} ${cell(value) ?? ''}`).join('  ');
}
