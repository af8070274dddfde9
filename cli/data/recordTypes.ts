// `tapedeck types`: prints a TypeScript interface for the records of each dataset of a workspace.
import { text } from 'node:stream/consumers';
import type { Settings } from '../../store/base/settings/settings.ts';
import { withFirstAccount } from '../connect/dataApi.ts';
import type { Terminal } from '../connect/terminal.ts';

interface Property {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly items?: Property;
}

interface Listed {
  readonly datasetId: string;
  readonly title: string;
  readonly schema: {
    readonly properties: Readonly<Record<string, Property>>;
    readonly required?: readonly string[];
  };
}

export async function printTypes(
  workspace: string,
  settings: Settings,
  terminal: Terminal,
): Promise<void> {
  await withFirstAccount(settings, new AbortController().signal, async (call) => {
    const path = `/data/${encodeURIComponent(workspace)}`;
    const { body } = await call({ method: 'GET', path });
    const datasets = JSON.parse(await text(body)) as readonly Listed[];
    terminal.stdout.write(datasets.map(interfaceOf).join('\n'));
  });
}

function interfaceOf({ datasetId, schema, title }: Listed): string {
  const { properties, required = [] } = schema;
  const members = Object.entries(properties).map(([name, property]) => {
    const type = typeOf(property);
    // A property outside of the index may be null.
    return `  readonly ${memberName(name)}: ${required.includes(name) ? type : `${type} | null`};`;
  });
  const comment =
    title === '' ? [] : [`/** ${title.replaceAll('*/', '* /').replaceAll('\n', ' ')} */`];
  return [...comment, `export interface ${typeName(datasetId)} {`, ...members, '}', ''].join('\n');
}

function typeOf({ items, type }: Property): string {
  const [one] = Array.isArray(type) ? type.filter((each) => each !== 'null') : [type];
  if (one === 'integer' || one === 'number') return 'number';
  if (one === 'boolean') return 'boolean';
  if (one === 'string') return 'string';
  if (one === 'array') return `readonly (${typeOf(items ?? {})})[]`;
  return 'unknown';
}

const memberName = (name: string): string =>
  /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);

/** `DAILY_PRICES` -> `DailyPrices`. */
function typeName(datasetId: string): string {
  const words = datasetId.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  const joined = words
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase())
    .join('');
  return /^[A-Za-z]/.test(joined) ? joined : `Dataset${joined}`;
}
