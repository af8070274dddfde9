// Defines an agent's tool: its input, its requests, and how its answer is truncated.
import type { TObject } from 'typebox';
import { type ApiResponse, type SendRequest, readCost, type ReadStream } from './apiRequests.ts';

/** The API as a tool uses it. */
export interface ApiClient {
  readonly send: SendRequest;
  readonly readStream: ReadStream;
}

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: TObject;
  /** Whether it changes data. No tool does yet. */
  readonly changes?: true;
  readonly run: (input: Readonly<Record<string, unknown>>, client: ApiClient) => Promise<Result>;
}

export interface Result {
  readonly text: string;
  readonly messages: number;
  readonly premium: number;
  readonly isRefusal?: boolean;
}

/** The default length of an answer in characters; an agent reads all of them. */
export const CHARACTERS_DEFAULT = 20_000;
export const CHARACTERS_MAX = 100_000;

/** Converts an answer to its text and cost, or a refusal to its message. */
export function toResult(
  response: ApiResponse,
  format: (text: string) => string = (text) => text,
): Result {
  const { messages, premium } = readCost(response.headers);
  if (response.status < 400) return { text: format(response.text), messages, premium };
  return { text: refusalText(response), messages, premium, isRefusal: true };
}

/** A refusal by the tool itself, which is free. */
export const refusal = (text: string): Result => ({
  text,
  messages: 0,
  premium: 0,
  isRefusal: true,
});

/** Reads a failure from plain text, `{"error": …}`, `{"message": …}` or problem+json. */
function refusalText({ status, text }: ApiResponse): string {
  const note = parseJson(text);
  const members =
    typeof note === 'object' && note !== null ? (note as Record<string, unknown>) : {};
  const { detail, error, message, title } = members;
  const reason = [detail, error, message, title].find((one) => typeof one === 'string');
  return `refused (${status}): ${String(reason ?? text).slice(0, 2_000)}`;
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Truncates a text to the lines that fit, and notes how many were left out. */
export function truncateRows(
  text: string,
  charactersMax: number,
  rowsMax: number = Infinity,
): string {
  const lines = text.split('\n').filter((line) => line !== '');
  const keptLines: string[] = [];
  let characters = 0;
  for (const line of lines) {
    // The first line of csv is the header.
    if (keptLines.length > rowsMax || characters + line.length + 1 > charactersMax) break;
    keptLines.push(line);
    characters += line.length + 1;
  }
  const omittedCount = lines.length - keptLines.length;
  if (omittedCount === 0) return keptLines.join('\n');
  const note = `… ${omittedCount} more of ${lines.length - 1} rows were charged, and are not shown`;
  return [...keptLines, `${note}: select fewer rows or columns`].join('\n');
}
