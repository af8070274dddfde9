// A message in one line: what a person looks for first, and nothing that is null.
import { cell } from '../../showing/formats.ts';

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
/** Records of one message that are shown. */
const RECORDS_MAX = 5;

/** The text itself, where it is no JSON. */
export function shortOf(text: string): string {
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
  const named = FIRST.flatMap((name) => all.filter(([one]) => one === name));
  const shown = [...named, ...all.filter(([name]) => !FIRST.includes(name))].slice(0, FIELDS_MAX);
  return shown.map(([name, value]) => `${name} ${cell(value) ?? ''}`).join('  ');
}
