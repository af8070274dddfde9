// A tool of an agent: its input, what it asks, and how its answer is cut.
import type { TObject } from 'typebox';
import { type Answered, type Ask, costOf, type Listen } from './ask.ts';

/** What a tool asks with. */
export interface Asking {
  readonly ask: Ask;
  readonly listen: Listen;
}

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: TObject;
  /** Changes something. None does yet. */
  readonly changes?: true;
  readonly run: (input: Readonly<Record<string, unknown>>, asking: Asking) => Promise<Result>;
}

export interface Result {
  readonly text: string;
  readonly messages: number;
  readonly premium: number;
  readonly isRefusal?: boolean;
}

/** Characters of an answer where a tool does not say; an agent reads all of them. */
export const CHARACTERS = 20_000;
export const CHARACTERS_MAX = 100_000;

/** An answer's text with what it cost; a refusal's own sentence. */
export function resultOf(
  answered: Answered,
  show: (text: string) => string = (text) => text,
): Result {
  const { messages, premium } = costOf(answered.headers);
  if (answered.status < 400) return { text: show(answered.text), messages, premium };
  return { text: sentenceOf(answered), messages, premium, isRefusal: true };
}

/** What a tool itself refuses costs nothing. */
export const refusal = (text: string): Result => ({
  text,
  messages: 0,
  premium: 0,
  isRefusal: true,
});

/** Failures come as a sentence, `{"error": …}`, `{"message": …}` or problem+json. */
function sentenceOf({ status, text }: Answered): string {
  const told = parsed(text);
  const members =
    typeof told === 'object' && told !== null ? (told as Record<string, unknown>) : {};
  const { detail, error, message, title } = members;
  const said = [detail, error, message, title].find((one) => typeof one === 'string');
  return `refused (${status}): ${String(said ?? text).slice(0, 2_000)}`;
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Lines of a text, as many as fit; with what was left out. */
export function cut(text: string, most: number, rows: number = Infinity): string {
  const lines = text.split('\n').filter((line) => line !== '');
  const kept: string[] = [];
  let characters = 0;
  for (const line of lines) {
    // The first line of csv is no row.
    if (kept.length > rows || characters + line.length + 1 > most) break;
    kept.push(line);
    characters += line.length + 1;
  }
  const left = lines.length - kept.length;
  if (left === 0) return kept.join('\n');
  const told = `… ${left} more of ${lines.length - 1} rows were answered and paid, and are not shown`;
  return [...kept, `${told}: ask for fewer, or for fewer columns`].join('\n');
}
