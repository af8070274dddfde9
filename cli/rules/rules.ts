// `tapedeck rule`: creates, shows, backtests and removes rules.
import { text } from 'node:stream/consumers';
import { isoTime } from '../../store/base/clock.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { tableAnswer } from '../print/answerLists.ts';
import { type Method, withFirstAccount } from '../connect/dataApi.ts';
import { printTo, type Terminal } from '../connect/terminal.ts';
import { parseRuleLine } from './ruleLine.ts';
import { noServerFailure } from '../connect/folderAccess.ts';

export interface JsonOptions {
  readonly json?: boolean;
}

interface OutputOptions {
  readonly webhook?: string;
  readonly dataset?: string;
  readonly slack?: string;
  readonly mattermost?: string;
  readonly email?: string;
  readonly every?: string;
}

export interface AddOptions extends OutputOptions, JsonOptions {
  readonly name?: string;
  readonly also?: string;
  readonly edge?: boolean;
  readonly shadow?: boolean;
}

export interface TestOptions extends AddOptions {
  readonly from?: string;
  readonly to?: string;
  readonly step?: string;
  readonly symbols?: string;
}

type Json = Readonly<Record<string, unknown>>;
type CallJson = (method: Method, path: string, body?: object) => Promise<unknown>;

/** @throws Failure NotFound without a server, since rules run on the server */
async function withServer(
  settings: Settings,
  terminal: Terminal,
  work: (call: CallJson) => Promise<void>,
): Promise<void> {
  const abort = new AbortController();
  const forget = terminal.onInterrupt(() => abort.abort());
  try {
    await withFirstAccount(settings, abort.signal, async (callData, where) => {
      if (where !== 'server') throw noServerFailure();
      await work(async (method, path, body) => {
        const payload = body === undefined ? {} : { body: JSON.stringify(body) };
        const answer = await callData({ method, path, ...payload });
        return JSON.parse(await text(answer.body));
      });
    });
  } finally {
    forget();
  }
}

export const addRule = (
  line: string,
  options: AddOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> => {
  const body = buildBody(line, options);
  return withServer(settings, terminal, async (call) => {
    const created = (await call('POST', '/rules/create', body)) as { id: string; weight: number };
    const print = printTo(terminal);
    if (options.json === true) print(JSON.stringify(created));
    else print(`${created.id} runs; each alert costs ${created.weight} messages`);
  });
};

const LISTED = ['id', 'name', 'event', 'isActive', 'evaluated', 'passed', 'sent', 'weight'];

export const listRules = (
  options: JsonOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> =>
  withServer(settings, terminal, async (call) => {
    tableAnswer((await call('GET', '/rules')) as readonly object[], LISTED, options, terminal);
  });

export const showRule = (
  id: string,
  options: JsonOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> =>
  withServer(settings, terminal, async (call) => {
    const [rule = {}] = (await call('GET', `/rules/info/${encodeURIComponent(id)}`)) as Json[];
    const print = printTo(terminal);
    if (options.json === true) return print(JSON.stringify(rule));
    for (const [name, value] of Object.entries(rule)) {
      print(`${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
    }
  });

/** @param act `pause` or `resume` */
export const switchRule = (
  id: string,
  act: 'pause' | 'resume',
  settings: Settings,
  terminal: Terminal,
): Promise<void> =>
  withServer(settings, terminal, async (call) => {
    const isDone = await call('POST', `/rules/${act}`, { ruleId: id });
    if (isDone !== true) throw new Failure('NotFound', `no rule ${id} that could be ${act}d`);
    printTo(terminal)(`${id} is ${act}d`);
  });

export const removeRule = (id: string, settings: Settings, terminal: Terminal): Promise<void> =>
  withServer(settings, terminal, async (call) => {
    const isDone = await call('DELETE', `/rules/${encodeURIComponent(id)}`);
    if (isDone !== true) throw new Failure('NotFound', `there is no rule ${id}`);
    printTo(terminal)(`${id} is removed`);
  });

interface Tested {
  readonly from: string;
  readonly to: string;
  readonly step: string;
  readonly instants: number;
  readonly passed: number;
  readonly alerts: number;
  readonly weight: number;
  readonly messages: number;
  readonly conditions: readonly { readonly condition: readonly unknown[]; readonly held: number }[];
  readonly firings: readonly (Json & { readonly timestamp: number; readonly data: Json })[];
}

export const testRule = (
  line: string,
  options: TestOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> => {
  const { from, step, symbols, to } = options;
  const range = { from, to, step, symbols: symbols?.split(',') };
  const body = { ...buildBody(line, options), ...range };
  return withServer(settings, terminal, async (call) => {
    const result = (await call('POST', '/rules/backtest', body)) as Tested;
    const print = printTo(terminal);
    if (options.json === true) return print(JSON.stringify(result));
    print(`${result.from} to ${result.to}, ${result.instants} ends of a ${result.step}:`);
    for (const { condition, held: times } of result.conditions)
      print(`  ${condition.join(' ')}: ${times} times`);
    print(`${result.alerts} alerts of ${result.weight} messages: ${result.messages} messages`);
    if (result.firings.length === 0) return;
    const rows = result.firings.map(({ data, event, timestamp }) => ({
      time: isoTime(timestamp),
      event,
      ...data,
    }));
    tableAnswer(rows, Object.keys(rows[0] ?? {}), {}, terminal);
  });
};

const ALERT_MEMBERS = ['time', 'event', 'state', 'outcome', 'messages', 'data'];

export const showLog = (
  id: string,
  options: JsonOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> =>
  withServer(settings, terminal, async (call) => {
    const path = `/rules/alerts/${encodeURIComponent(id)}?limit=1000`;
    const alerts = (await call('GET', path)) as readonly (Json & { readonly timestamp: number })[];
    const rows = alerts.map((alert) => ({
      ...alert,
      time: isoTime(alert.timestamp),
      data: JSON.stringify(alert['data']),
    }));
    tableAnswer(options.json === true ? alerts : rows, ALERT_MEMBERS, options, terminal);
  });

export interface WhyOptions extends JsonOptions {
  readonly symbol?: string;
  readonly at?: string;
}

export const showWhy = (
  id: string,
  options: WhyOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> =>
  withServer(settings, terminal, async (call) => {
    const { at, symbol } = options;
    const query = new URLSearchParams({
      ...(symbol === undefined ? {} : { symbol }),
      ...(at === undefined ? {} : { at }),
    });
    const why = (await call('GET', `/rules/why/${encodeURIComponent(id)}?${query}`)) as {
      readonly passes: boolean;
      readonly values: Json;
      readonly conditions: readonly {
        readonly condition: readonly unknown[];
        readonly holds: boolean;
      }[];
    };
    const print = printTo(terminal);
    if (options.json === true) return print(JSON.stringify(why));
    print(why.passes ? 'it passes' : 'it does not pass');
    for (const { condition, holds } of why.conditions) {
      const [name] = condition;
      const value = JSON.stringify(why.values[String(name)] ?? null);
      print(
        `  ${holds ? 'holds' : 'does not hold'}: ${condition.join(' ')} (${String(name)} is ${value})`,
      );
    }
  });

function buildBody(line: string, options: AddOptions): object {
  const { also, edge, name, shadow } = options;
  return {
    ...parseRuleLine(line),
    ruleName: name ?? line.slice(0, 200),
    outputs: [buildOutput(options)],
    ...(also === undefined ? {} : { additionalKeys: also.split(',') }),
    ...(edge === true ? { trigger: 'edge' } : {}),
    ...(shadow === true ? { shadow } : {}),
  };
}

/** Returns the output of a rule; by default alerts are logged. */
function buildOutput(options: OutputOptions): object {
  const { dataset, email, every = '60s', mattermost, slack, webhook } = options;
  const places = [
    ...(webhook === undefined ? [] : [{ method: 'webhook', url: webhook }]),
    ...(slack === undefined ? [] : [{ method: 'slack', url: slack }]),
    ...(mattermost === undefined ? [] : [{ method: 'mattermost', url: mattermost }]),
    ...(dataset === undefined ? [] : [{ method: 'dataset', dataset }]),
    ...(email === undefined ? [] : [{ method: 'email', to: email }]),
  ];
  const [place = { method: 'logs' }, ...more] = places;
  if (more.length > 0) throw new Failure('InvalidParameter', 'a rule has one output');
  return { ...place, frequency: parseSeconds(every) };
}

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

function parseSeconds(every: string): number {
  const [, count = '', unit = 's'] = /^(\d{1,9})([smhd])?$/.exec(every) ?? [];
  if (count !== '') return Number(count) * (UNITS[unit] ?? 1);
  throw new Failure('InvalidParameter', '--every is a time such as 60s, 5m, 1h or 1d');
}
