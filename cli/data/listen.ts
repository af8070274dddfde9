// `tapedeck stream`: prints messages as they arrive, a line each, or on a terminal a table of the latest of
// each symbol.
import type { Readable } from 'node:stream';
import { Failure } from '../../store/base/failure.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { escapeControls } from '../print/terminalText.ts';
import { withFirstAccount } from '../connect/dataApi.ts';
import { onInterruptOrClose, printTo, type Terminal } from '../connect/terminal.ts';
import { WHOLE_NUMBER_RULE } from '../../store/base/valueRules.ts';
import { noServerFailure } from '../connect/folderAccess.ts';

export interface ListenOptions {
  readonly symbols?: string;
  readonly channels?: string;
  readonly count?: string;
  readonly json?: boolean;
}

type Message = Readonly<Record<string, unknown>>;

/** Characters of an incomplete message; above it the stream fails. */
const MESSAGE_CHARACTERS_MAX = 16 * 1024 ** 2;

/** Runs until it is interrupted, the stream ends, or `count` messages have arrived. */
export async function listen(
  name: string,
  { channels, count, json, symbols }: ListenOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> {
  const abort = new AbortController();
  const restore = onInterruptOrClose(terminal, () => abort.abort());
  const most = count === undefined ? Number.POSITIVE_INFINITY : parseCount(count);
  try {
    await withFirstAccount(settings, abort.signal, async (call, where) => {
      if (where !== 'server') throw noServerFailure();
      const query = new URLSearchParams({ heartbeat: '30' });
      if (symbols !== undefined) query.set(name.includes('/') ? 'keys' : 'symbols', symbols);
      if (channels !== undefined) query.set('channels', channels);
      const path = `/${name.includes('/') ? `stream/${name}` : name}?${query}`;
      const { body, headers } = await call({ method: 'GET', path, accept: 'text/event-stream' });
      if (!String(headers['content-type']).startsWith('text/event-stream')) {
        throw new SyntaxError('the answer is no stream');
      }
      const isTable = json !== true && terminal.stdout.isTTY === true;
      const show = isTable ? tableOn(terminal) : linesOn(terminal, json === true);
      let left = most;
      for await (const message of readMessages(body)) {
        show(message);
        left -= 1;
        if (left <= 0) break;
      }
      body.destroy();
    });
  } catch (error) {
    if (!abort.signal.aborted) throw error;
  } finally {
    restore();
  }
}

function parseCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new Failure('InvalidParameter', `--count ${WHOLE_NUMBER_RULE} above 0`);
}

async function* readMessages(body: Readable): AsyncGenerator<Message> {
  let rest = '';
  for await (const chunk of body.setEncoding('utf8')) {
    rest += String(chunk);
    const parts = rest.split('\r\n\r\n');
    rest = parts.pop() ?? '';
    if (rest.length > MESSAGE_CHARACTERS_MAX) throw new Failure('TooLarge', 'a message has no end');
    for (const part of parts) {
      const data = part.split('\r\n').find((line) => line.startsWith('data: '));
      if (data === undefined) continue;
      const [message] = JSON.parse(data.slice(6)) as readonly Message[];
      if (message !== undefined) yield message;
    }
  }
}

type Show = (message: Message) => void;

const linesOn = (terminal: Terminal, isJson: boolean): Show => {
  const print = printTo(terminal);
  return (message) =>
    print(
      isJson
        ? JSON.stringify(message)
        : escapeControls(Object.entries(selectMembers(message)).map(pair).join('  ')),
    );
};

const pair = ([name, value]: readonly [string, unknown]): string =>
  name === 'symbol' ? String(value).padEnd(8) : `${name} ${textOf(value)}`;

const textOf = (value: unknown): string =>
  typeof value === 'object' ? JSON.stringify(value) : String(value);

/** Members of a quote that are shown; other messages are shown whole. */
const QUOTE = ['symbol', 'latestPrice', 'change', 'changePercent', 'volume', 'latestTime'];

const selectMembers = (message: Message): Message =>
  'latestPrice' in message
    ? Object.fromEntries(QUOTE.map((name) => [name, message[name]]))
    : message;

const ROWS_MAX = 40;
const CELL = 14;

/** Shows the latest message of each symbol in place, at most a screen of them. */
function tableOn({ stdout }: Terminal): Show {
  const rows = new Map<string, Message>();
  let lineCount = 0;
  return (message) => {
    const symbol = String(message['symbol'] ?? '');
    if (rows.has(symbol) || rows.size < ROWS_MAX) rows.set(symbol, selectMembers(message));
    const names = [...new Set([...rows.values()].flatMap(Object.keys))];
    const cells = (values: readonly unknown[]): string =>
      values
        .map((value) =>
          escapeControls(textOf(value ?? ''))
            .slice(0, CELL)
            .padEnd(CELL),
        )
        .join(' ');
    const lines = [
      cells(names),
      ...[...rows.values()].map((row) => cells(names.map((name) => row[name]))),
    ].map((line) => line.slice(0, (stdout.columns ?? 80) - 1));
    const up = lineCount === 0 ? '' : `\u001b[${lineCount}A`;
    stdout.write(`${up}${lines.map((line) => `\u001b[2K${line}\n`).join('')}`);
    lineCount = lines.length;
  };
}
