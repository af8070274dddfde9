// What the command line understands: every command with its arguments and options. docs/commands.md
// is made of it.
import { Command, Option } from 'commander';
import { redacted } from '../store/base/redact.ts';
import type { readSettings } from '../store/base/settings.ts';
import { VERSION } from '../store/base/version.ts';
import { dateOrderOption, ingestFile, type IngestOptions } from './data/ingest.ts';
import { readingOptions } from './data/readingOptions.ts';
import { addExport } from './pipeline/export.ts';
import { addKeyRotation } from './operate/rotateKey.ts';
import { serve } from './operate/serve.ts';
import { addSql } from './data/sql.ts';
import { addAccounts, addBooks, addTokenChanges } from './operate/accountCommands.ts';
import { addBackups } from './operate/backups.ts';
import { addPipeline } from './pipeline/pipelineCommands.ts';
import { addRecipes } from './pipeline/recipes.ts';
import { addRepair } from './operate/repair.ts';
import { listTokens } from './operate/tokens.ts';
import { createWorkspace, listWorkspaces } from './operate/workspaces.ts';

type ReadSettings = () => ReturnType<typeof readSettings>;

interface JsonOption {
  readonly json?: boolean;
}

/** @param settings read when a command runs: `--help` needs none. */
export function program(settings: ReadSettings): Command {
  const root = new Command('tapedeck')
    // Commands below take it over: what is wrong with a command line may be a token on it.
    .configureOutput({ writeErr: (text) => void process.stderr.write(redacted(text)) })
    .description('Self-hosted financial data platform. Settings: TAPEDECK_… (docs/operating.md).')
    .version(VERSION);
  root
    .command('serve')
    .description('run the server until SIGTERM or SIGINT')
    .action(() => serve(settings()));
  const ingest = root
    .command('ingest <file>')
    .description(
      'load CSV, JSON, Parquet or Arrow, compressed or not, into a dataset; - reads standard input',
    )
    .requiredOption('--dataset <name>', 'dataset to load into')
    .option('--workspace <name>', 'workspace; the first one of the account by default')
    .option('--key <property>', 'key of the unique index, for a new dataset')
    .option('--subkey <property>', 'subkey of the unique index, for a new dataset')
    .option('--date <property>', 'date of the unique index, for a new dataset')
    .option(
      '--no-index',
      'a new dataset has no unique index: it keeps every record, duplicates too',
    )
    .addOption(
      new Option(
        '--duplicates <how>',
        'ignore records whose index value is already stored, or replace the stored ones',
      ).choices(['ignore', 'replace']),
    )
    .addOption(dateOrderOption())
    .option('--max-errors <n>', 'most invalid records; with more, nothing is ingested')
    .option('--json-path <path>', 'path of the records in a JSON document, such as $.data.items[*]')
    .option('--json', 'print JSON lines');
  readingOptions(ingest).action((file: string, options: IngestOptions) =>
    ingestFile(file, options, settings()),
  );
  addSql(root, settings);
  addExport(root, settings);
  addPipeline(root, settings);
  addRecipes(root, settings);
  addTokens(root, settings);
  addWorkspaces(root, settings);
  addAccounts(root, settings);
  addBooks(root, settings);
  addBackups(root, settings);
  addRepair(root, settings);
  addKeyRotation(root, settings);
  return root;
}

function addTokens(root: Command, settings: ReadSettings): void {
  const tokens = root.command('tokens').description('tokens of the data folder');
  tokens
    .command('list', { isDefault: true })
    .description('list tokens; only the last four characters of secret ones')
    .option('--show', 'print secret tokens in full')
    .option('--json', 'print JSON lines')
    .action((options: JsonOption & { readonly show?: boolean }) => listTokens(options, settings()));
  addTokenChanges(tokens, settings);
}

function addWorkspaces(root: Command, settings: ReadSettings): void {
  const workspace = root.command('workspace').description('workspaces of the data folder');
  workspace
    .command('create <name>')
    .description('create a workspace; its name is permanent')
    .option('--json', 'print JSON lines')
    .action((name: string, options: JsonOption) => createWorkspace(name, options, settings()));
  workspace
    .command('list')
    .description('list workspaces')
    .option('--json', 'print JSON lines')
    .action((options: JsonOption) => listWorkspaces(options, settings()));
}
