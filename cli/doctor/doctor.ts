// `tapedeck doctor`: checks everything that a server needs, and gives advice about each fault.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findCatalog } from '../../app/lake/lakePlaces.ts';
import type { Database } from '../../store/catalog/database.ts';
import { systemClock } from '../../store/base/clock.ts';
import { reasonOf } from '../../store/base/failure.ts';
import { redactText } from '../../store/base/redact.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { escapeControls } from '../print/terminalText.ts';
import { namedServer } from '../connect/serverEndpoint.ts';
import { printTo, type Terminal } from '../connect/terminal.ts';
import { catalogFindings } from './catalogChecks.ts';
import { COPY_BYTES_MAX, withCatalog, withNamedCatalog } from './catalogReading.ts';
import { fault, fine, type Finding, notice } from './finding.ts';
import { diskFinding, folderFinding, permissionFindings } from './folderChecks.ts';
import { checkServer, portFindings } from './portChecks.ts';

/** Oldest supported major version of Node. */
const NODE_LEAST = 24;

export async function examine(
  { json }: { readonly json?: boolean },
  settings: Settings,
  terminal: Terminal,
): Promise<void> {
  const print = printTo(terminal);
  // The error of a source may contain secrets of its settings.
  const findings = (await findingsOf(settings)).map((one) => ({
    ...one,
    what: redactText(one.what),
  }));
  const faults = findings.filter(({ level }) => level === 'fault').length;
  if (faults > 0) terminal.endWith(1);
  if (json === true) return print(JSON.stringify({ ok: faults === 0, findings }));
  for (const finding of findings) print(escapeControls(lineOf(finding)));
}

const LEVELS = { ok: 'ok   ', notice: 'NOTE ', fault: 'WRONG' } as const;

const lineOf = ({ advice, check, level, what }: Finding): string =>
  `${LEVELS[level]} ${check}: ${what}${advice === '' ? '' : `. ${advice}`}`;

async function findingsOf(settings: Settings): Promise<readonly Finding[]> {
  const { data } = settings;
  const named = namedServer(settings);
  const server = await checkServer(settings, named);
  if (named !== undefined) return [nodeFinding(), ...server.findings];
  const database = await checkDatabase(settings);
  const isUnavailable = database.length > 0 && database.every(({ level }) => level === 'fault');
  const ports = server.isRunning ? [] : await portFindings(settings);
  return [
    nodeFinding(),
    folderFinding(data, settings.database === undefined),
    ...permissionFindings(data),
    await diskFinding(data),
    ...(await bucketFindings(settings)),
    ...(await busFindings(settings)),
    ...database,
    ...server.findings,
    ...ports,
    // An unavailable database is already reported above.
    ...(isUnavailable ? [] : await readFindings(settings, server.isRunning)),
  ];
}

async function bucketFindings({ bucket }: Settings): Promise<readonly Finding[]> {
  if (bucket === undefined) return [];
  const { bucketFinding } = await import('./bucketChecks.ts');
  return [await bucketFinding(bucket)];
}

async function busFindings({ bus }: Settings): Promise<readonly Finding[]> {
  if (bus === undefined) return [];
  const { busFinding } = await import('./busChecks.ts');
  return [await busFinding(bus)];
}

async function checkDatabase({ database }: Settings): Promise<readonly Finding[]> {
  if (database === undefined) return [];
  return (await import('./databaseChecks.ts')).databaseFindings(database);
}

function nodeFinding(): Finding {
  const { node } = process.versions;
  if (Number(node.split('.')[0]) >= NODE_LEAST) return fine('version', `Node ${node}`);
  const advice = 'Start it as `npx tapedeck`, which brings its own.';
  return fault('version', `Node ${node} is older than ${NODE_LEAST}`, advice);
}

async function readFindings(
  { data, database: named, zone }: Settings,
  isServed: boolean,
): Promise<readonly Finding[]> {
  if (named === undefined && !existsSync(join(data, 'catalog.db'))) return [];
  try {
    const check = (database: Database): Promise<readonly Finding[]> =>
      catalogFindings(database, { clock: systemClock, zone });
    const findings =
      named === undefined
        ? await withCatalog(data, isServed, check)
        : await withNamedCatalog(await findCatalog(named, { catalog: '' }), check);
    if (findings !== undefined) return findings;
    const what = `the catalog is larger than ${COPY_BYTES_MAX} bytes and was not checked`;
    return [notice('catalog', what, 'Run the check again while its server runs.')];
  } catch (error) {
    const what = `the catalog can not be read: ${reasonOf(error)}`;
    return [fault('catalog', what, 'Restore a backup, or run `tapedeck repair`.')];
  }
}
