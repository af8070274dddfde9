// Names in sentences of the documents exist: commands with their options, requests with their parameters,
// npm scripts.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { ENDPOINTS } from '../../../api/endpoints/index.ts';
import { runnableCommands } from '../../../docs/pages/commandsPage.ts';
import { codeSpans, documents, ROOT, textOf } from './markdown.ts';

const COMMANDS = runnableCommands();

/** Options of every command, and parameters of every endpoint. */
const EVERY_COMMAND = ['--help', '--version'];
const EVERY_ENDPOINT = ['token'];

/** The fault of a command line; undefined if it names a command. */
function faultOfCommand(line: string): string | undefined {
  const words = line.replace(/^npx /, '').split(/\s+/);
  const names = words.filter((word) => /^[a-z][a-z-]*$/.test(word));
  const prefixes = names.map((_, at) => names.slice(0, at + 1).join(' '));
  const commands = COMMANDS.filter(({ name }) =>
    prefixes.some((prefix) => name === prefix || name.startsWith(`${prefix} `)),
  );
  // The longest prefix that is a command or the parent of some.
  const best = prefixes.findLast((prefix) =>
    COMMANDS.some(({ name }) => name === prefix || name.startsWith(`${prefix} `)),
  );
  if (best === undefined || (best === 'tapedeck' && names.length > 1)) return `no command: ${line}`;
  const options = commands
    .filter(({ name }) => name === best || name.startsWith(`${best} `))
    .flatMap(({ command }) => command.options.map(({ long }) => long));
  const knownOptions = [...EVERY_COMMAND, ...options];
  const unknown = words.filter((word) => /^--[a-z]/.test(word) && !knownOptions.includes(word));
  return unknown.length === 0 ? undefined : `no option ${unknown.join(', ')}: ${line}`;
}

/** The fault of a request; undefined if it reaches an endpoint with such parameters. */
function faultOfRequest(span: string): string | undefined {
  const [method = '', target = ''] = span.split(' ');
  const [path = '', query = ''] = target.replace(/^\/v1/, '').split('?');
  const endpoints = ENDPOINTS.filter(
    (endpoint) =>
      endpoint.method === method &&
      [endpoint.path, ...(endpoint.aliases ?? [])].some((pattern) => matches(pattern, path)),
  );
  if (endpoints.length === 0) return `no endpoint: ${span}`;
  const parameterNames = endpoints.flatMap(({ parameters }) => parameters.map(({ name }) => name));
  const unknown = [...new URLSearchParams(query).keys()].filter(
    (name) => ![...EVERY_ENDPOINT, ...parameterNames].includes(name),
  );
  return unknown.length === 0 ? undefined : `no parameter ${unknown.join(', ')}: ${span}`;
}

/** `…` replaces omitted parts of a path; a sentence may name a path without its parameters. */
function matches(pattern: string, path: string): boolean {
  const patternParts = pattern.split('/');
  const pathParts = path.split('/');
  if (pathParts.includes('…')) return patternParts.includes(pathParts[1] ?? '');
  return (
    patternParts.every((part, at) => {
      const own = pathParts[at];
      if (own === undefined) return part.startsWith(':');
      return part.startsWith(':') || part === own;
    }) && pathParts.length <= patternParts.length
  );
}

describe('names in sentences of the documents exist', () => {
  const scripts = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  for (const document of documents()) {
    test(document, () => {
      const spans = codeSpans(document);
      const commands = spans.filter((span) => /^(npx )?tapedeck [a-z-]/.test(span));
      const requests = spans.filter((span) => /^(GET|HEAD|POST|PUT|PATCH|DELETE) \//.test(span));
      const named = [...textOf(document).matchAll(/\bnpm run ([a-z:]+)/g)].map(
        ([, name = '']) => name,
      );
      assert.deepEqual(
        [
          ...commands.map(faultOfCommand),
          ...requests.map(faultOfRequest),
          ...named.map((name) => (name in scripts.scripts ? undefined : `no script ${name}`)),
        ].filter((fault) => fault !== undefined),
        [],
      );
    });
  }
});

test('an unknown name is found', () => {
  assert.match(faultOfCommand('tapedeck swim') ?? '', /no command/);
  assert.match(faultOfCommand('tapedeck tokens create --fin 1') ?? '', /no option --fin/);
  assert.equal(faultOfCommand('npx tapedeck tokens create --limit 5'), undefined);
  assert.match(faultOfRequest('GET /swim') ?? '', /no endpoint/);
  assert.match(faultOfRequest('GET /v1/data/WS/ID?fins=2') ?? '', /no parameter fins/);
  assert.equal(faultOfRequest('POST /data/:workspace/:id?wait=true'), undefined);
});
