// Declares the commands of the pipeline: sources, credentials, schedules.
import { type Command, Option } from 'commander';
import type { readSettings } from '../../store/base/settings/settings.ts';
import { duplicatesOption, readingOptions, dateOrderOption } from '../data/readingOptions.ts';
import type { ObjectsOptions } from './bucketObjects.ts';
import type { ScheduleOptions } from './schedules.ts';
import type { AddOptions, PlaceOptions } from './sources.ts';
import type { Terminal } from '../connect/terminal.ts';

type ReadSettings = () => ReturnType<typeof readSettings>;

/** Declares a command of one workspace that may print JSON lines. */
const placed = (parent: Command, name: string, what: string): Command =>
  parent
    .command(name)
    .description(what)
    .option('--workspace <name>', 'workspace; the first one of the account by default')
    .option('--json', 'print JSON lines');

const collect = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  value,
];

export function addPipeline(root: Command, settings: ReadSettings, terminal: Terminal): void {
  addSources(root, settings, terminal);
  addCredentials(root, settings, terminal);
  addSchedules(root, settings, terminal);
}

function addSources(root: Command, settings: ReadSettings, terminal: Terminal): void {
  const source = root.command('source').description('sources of records');
  placed(
    source,
    'add <from>',
    'add a source: a URL, s3://bucket/key, a path, @definition.json, or - for standard input',
  )
    .option('--name <name>', 'name for use in commands')
    .option('--json-path <path>', 'path of the records in a JSON document: $.name[*]')
    .option(
      '--header <line>',
      'header to send to a URL, written name: value; can be repeated',
      collect,
    )
    .option('--credential <name>', 'credential to open it with')
    .action(async (from: string, options: AddOptions) =>
      (await import('./sources.ts')).addSource(from, options, settings(), terminal),
    );
  placed(source, 'list', 'list the sources of a workspace').action(async (options: PlaceOptions) =>
    (await import('./sources.ts')).listSources(options, settings(), terminal),
  );
  placed(source, 'sample <source>', 'fetch a source and show its first records').action(
    async (name: string, options: PlaceOptions) =>
      (await import('./sources.ts')).sampleSource(name, options, settings(), terminal),
  );
  placed(
    source,
    'objects <from>',
    'list the objects of the bucket of a source, or of s3://bucket/prefix with --credential',
  )
    .option('--credential <name>', 'credential to list it with')
    .option('--prefix <text>', 'only objects whose key begins with it')
    .option('--folders', 'one level: objects and folders below the prefix')
    .option('--limit <number>', 'objects of one page, at most 1000; 100 by default')
    .option('--page <token>', 'token of the next page, as printed with the previous page')
    .option('--region <name>', 'region of s3://bucket; us-east-1 by default')
    .option('--endpoint <url>', 'URL of a store other than that of Amazon')
    .action(async (from: string, options: ObjectsOptions) =>
      (await import('./bucketObjects.ts')).listObjects(from, options, settings(), terminal),
    );
  placed(source, 'schema <source>', 'infer a schema from the first records of a source').action(
    async (name: string, options: PlaceOptions) =>
      (await import('./sources.ts')).showSchema(name, options, settings(), terminal),
  );
  placed(source, 'remove <source>', 'remove a source that no schedule uses').action(
    async (name: string, options: PlaceOptions) =>
      (await import('./sources.ts')).removeSource(name, options, settings(), terminal),
  );
}

function addCredentials(root: Command, settings: ReadSettings, terminal: Terminal): void {
  const credential = root.command('credential').description('credentials of sources');
  placed(credential, 'add', 'store a credential, JSON on standard input, encrypted').action(
    async (options: PlaceOptions) =>
      (await import('./sources.ts')).addCredential(options, settings(), terminal),
  );
  placed(credential, 'list', 'list credentials, without their secrets').action(
    async (options: PlaceOptions) =>
      (await import('./sources.ts')).listCredentials(options, settings(), terminal),
  );
}

function addSchedules(root: Command, settings: ReadSettings, terminal: Terminal): void {
  const schedule = root.command('schedule').description('when sources are loaded into datasets');
  const add = placed(
    schedule,
    'add <source>',
    'load from a source on a schedule; the first run is immediate',
  )
    .requiredOption('--dataset <name>', 'dataset to load into; created if it does not exist')
    .option('--name <name>', 'name for use in commands; that of the dataset by default')
    .addOption(
      new Option('--every <time>', 'how often; day by default')
        .choices(['minute', 'hour', 'day'])
        .conflicts('cron'),
    )
    .option('--cron <expression>', 'five fields: minute hour day month weekday')
    .option(
      '--time-zone <zone>',
      'IANA time zone of the schedule, such as Europe/Berlin; UTC by default',
    )
    .option('--start <time>', 'time of the first run, ISO 8601; immediately by default')
    .addOption(
      new Option('--missed <how>', 'what to do about missed runs').choices(['once', 'skip', 'all']),
    )
    .addOption(duplicatesOption().conflicts('append'))
    .option('--append', 'each run adds all records, also those of earlier runs')
    .option('--overwrite', 'each run replaces all records')
    .option('--key <property>', 'key of the unique index, for a new dataset')
    .option('--subkey <property>', 'subkey of the unique index, for a new dataset')
    .option('--date <property>', 'date of the unique index, for a new dataset')
    .option(
      '--no-index',
      'a new dataset has no unique index: it keeps every record, duplicates too',
    )
    .addOption(dateOrderOption());
  readingOptions(add).action(async (source: string, options: ScheduleOptions) =>
    (await import('./schedules.ts')).addSchedule(source, options, settings(), terminal),
  );
  addScheduleActs(schedule, settings, terminal);
}

function addScheduleActs(schedule: Command, settings: ReadSettings, terminal: Terminal): void {
  placed(schedule, 'list', 'list schedules with their last and next runs').action(
    async (options: PlaceOptions) =>
      (await import('./schedules.ts')).listSchedules(options, settings(), terminal),
  );
  placed(schedule, 'run <schedule>', 'run a schedule now and show its progress').action(
    async (name: string, options: PlaceOptions) =>
      (await import('./schedules.ts')).runSchedule(name, options, settings(), terminal),
  );
  placed(schedule, 'history [schedule]', 'show what happened at each due time')
    .option('--last <n>', 'number of runs; the latest 20 by default')
    .action(async (name: string | undefined, options: PlaceOptions & { readonly last?: string }) =>
      (await import('./schedules.ts')).showHistory(name, options, settings(), terminal),
    );
  placed(schedule, 'pause <schedule>', 'pause a schedule; a running job continues').action(
    async (name: string, options: PlaceOptions) =>
      (await import('./schedules.ts')).setState(name, 'PAUSED', options, settings(), terminal),
  );
  placed(schedule, 'resume <schedule>', 'resume a schedule from its next due time').action(
    async (name: string, options: PlaceOptions) =>
      (await import('./schedules.ts')).setState(name, 'ENABLED', options, settings(), terminal),
  );
  placed(
    schedule,
    'remove <schedule>',
    'delete a schedule and its history; the records stay',
  ).action(async (name: string, options: PlaceOptions) =>
    (await import('./schedules.ts')).removeSchedule(name, options, settings(), terminal),
  );
}
