// The commands of the pipeline: sources, credentials, schedules.
import { type Command, Option } from 'commander';
import type { readSettings } from '../../store/base/settings.ts';
import { dateOrderOption } from '../data/ingest.ts';
import { readingOptions } from '../data/readingOptions.ts';
import {
  addSchedule,
  listSchedules,
  removeSchedule,
  runSchedule,
  type ScheduleOptions,
  setState,
  showHistory,
} from './schedules.ts';
import {
  addCredential,
  type AddOptions,
  addSource,
  listCredentials,
  listSources,
  type PlaceOptions,
  removeSource,
  sampleSource,
  showSchema,
} from './sources.ts';

type ReadSettings = () => ReturnType<typeof readSettings>;

/** A command of one workspace that may answer JSON lines. */
const placed = (parent: Command, name: string, what: string): Command =>
  parent
    .command(name)
    .description(what)
    .option('--workspace <name>', 'workspace; the first one of the account by default')
    .option('--json', 'answer JSON lines');

const collect = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  value,
];

export function addPipeline(root: Command, settings: ReadSettings): void {
  addSources(root, settings);
  addCredentials(root, settings);
  addSchedules(root, settings);
}

function addSources(root: Command, settings: ReadSettings): void {
  const source = root.command('source').description('where records come from');
  placed(
    source,
    'add <from>',
    'keep a URL, s3://bucket/key, a path, @definition.json or - as a source',
  )
    .option('--name <name>', 'name by which commands know it')
    .option('--json-path <path>', 'where the records stand in a JSON document: $.name[*]')
    .option('--header <line>', 'header sent to a URL, as name: value; may be repeated', collect)
    .option('--credential <name>', 'credential that opens it')
    .action((from: string, options: AddOptions) => addSource(from, options, settings()));
  placed(source, 'list', 'list the sources of a workspace').action((options: PlaceOptions) =>
    listSources(options, settings()),
  );
  placed(source, 'sample <source>', 'fetch a source and show its first records').action(
    (name: string, options: PlaceOptions) => sampleSource(name, options, settings()),
  );
  placed(source, 'schema <source>', 'the schema that a source suggests').action(
    (name: string, options: PlaceOptions) => showSchema(name, options, settings()),
  );
  placed(source, 'remove <source>', 'forget a source that no schedule takes from').action(
    (name: string, options: PlaceOptions) => removeSource(name, options, settings()),
  );
}

function addCredentials(root: Command, settings: ReadSettings): void {
  const credential = root.command('credential').description('what opens sources');
  placed(credential, 'add', 'keep a credential, JSON on standard input, sealed').action(
    (options: PlaceOptions) => addCredential(options, settings()),
  );
  placed(credential, 'list', 'list credentials, without their secrets').action(
    (options: PlaceOptions) => listCredentials(options, settings()),
  );
}

function addSchedules(root: Command, settings: ReadSettings): void {
  const schedule = root.command('schedule').description('when sources are taken into datasets');
  const add = placed(
    schedule,
    'add <source>',
    'take from a source by the clock; the first time at once',
  )
    .requiredOption('--dataset <name>', 'dataset to load into; made when there is none')
    .option('--name <name>', 'name by which commands know it; the dataset by default')
    .addOption(
      new Option('--every <time>', 'how often, in UTC; day by default')
        .choices(['minute', 'hour', 'day'])
        .conflicts('cron'),
    )
    .option('--cron <expression>', 'five fields, in UTC')
    .option('--start <time>', 'first run, ISO 8601; at once by default')
    .addOption(
      new Option('--missed <how>', 'runs that were missed').choices(['once', 'skip', 'all']),
    )
    .addOption(
      new Option('--duplicates <how>', 'records whose index value is stored').choices([
        'ignore',
        'replace',
      ]),
    )
    .option('--overwrite', 'each run takes the place of all records')
    .option('--key <property>', 'key of the unique index, for a new dataset')
    .option('--subkey <property>', 'subkey of the unique index, for a new dataset')
    .option('--date <property>', 'date of the unique index, for a new dataset')
    .option('--no-index', 'a new dataset keeps every record, also equal ones')
    .addOption(dateOrderOption());
  readingOptions(add).action((source: string, options: ScheduleOptions) =>
    addSchedule(source, options, settings()),
  );
  placed(schedule, 'list', 'list schedules, their last and next runs').action(
    (options: PlaceOptions) => listSchedules(options, settings()),
  );
  placed(schedule, 'run <schedule>', 'run a schedule now and show how it goes').action(
    (name: string, options: PlaceOptions) => runSchedule(name, options, settings()),
  );
  placed(schedule, 'history [schedule]', 'what was done at each due time')
    .option('--last <n>', 'the latest n runs; 20 by default')
    .action((name: string | undefined, options: PlaceOptions & { readonly last?: string }) =>
      showHistory(name, options, settings()),
    );
  placed(schedule, 'pause <schedule>', 'stop running it; a job that runs goes on').action(
    (name: string, options: PlaceOptions) => setState(name, 'PAUSED', options, settings()),
  );
  placed(schedule, 'resume <schedule>', 'run it again, from its next time on').action(
    (name: string, options: PlaceOptions) => setState(name, 'ENABLED', options, settings()),
  );
  placed(schedule, 'remove <schedule>', 'delete it and its history; its records stay').action(
    (name: string, options: PlaceOptions) => removeSchedule(name, options, settings()),
  );
}
