#!/usr/bin/env node
// `tapedeck`: serve, ingest, sql, export, source, credential, schedule, recipe, tokens, workspace, account,
// audit, verify-ledger, backup, restore, verify, repair, rotate-key.
import { Command, Option } from 'commander';
import { VERSION } from '../store/base/version.ts';

import { reasonOf } from '../store/base/failure.ts';
import { redacted } from '../store/base/redact.ts';
import { environment, readSettings } from '../store/base/settings.ts';
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

interface JsonOption {
  readonly json?: boolean;
}

const settings = (): ReturnType<typeof readSettings> => readSettings(environment());

function program(): Command {
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
      'load CSV, JSON, Parquet or Arrow, also packed, into a dataset; - is the standard input',
    )
    .requiredOption('--dataset <name>', 'dataset to load into')
    .option('--workspace <name>', 'workspace; the first one of the account by default')
    .option('--key <property>', 'key of the unique index, for a new dataset')
    .option('--subkey <property>', 'subkey of the unique index, for a new dataset')
    .option('--date <property>', 'date of the unique index, for a new dataset')
    .option('--no-index', 'a new dataset keeps every record, also equal ones')
    .addOption(
      new Option(
        '--duplicates <how>',
        'records whose index value is stored: ignored, or they replace; a first load asks',
      ).choices(['ignore', 'replace']),
    )
    .addOption(dateOrderOption())
    .option('--max-errors <n>', 'invalid records after which nothing is ingested')
    .option('--json-path <path>', 'where the records of a JSON document are, as $.data.items[*]')
    .option('--json', 'answer JSON lines');
  readingOptions(ingest).action((file: string, options: IngestOptions) =>
    ingestFile(file, options, settings()),
  );
  addSql(root, settings);
  addExport(root, settings);
  addPipeline(root, settings);
  addRecipes(root, settings);
  addTokens(root);
  addWorkspaces(root);
  addAccounts(root, settings);
  addBooks(root, settings);
  addBackups(root, settings);
  addRepair(root, settings);
  addKeyRotation(root, settings);
  return root;
}

function addTokens(root: Command): void {
  const tokens = root.command('tokens').description('tokens of the data folder');
  tokens
    .command('list', { isDefault: true })
    .description('list tokens; secret ones by their last four characters')
    .option('--show', 'print secret tokens whole')
    .option('--json', 'answer JSON lines')
    .action((options: JsonOption & { readonly show?: boolean }) => listTokens(options, settings()));
  addTokenChanges(tokens, settings);
}

function addWorkspaces(root: Command): void {
  const workspace = root.command('workspace').description('workspaces of the data folder');
  workspace
    .command('create <name>')
    .description('make a workspace; its name is permanent')
    .option('--json', 'answer JSON lines')
    .action((name: string, options: JsonOption) => createWorkspace(name, options, settings()));
  workspace
    .command('list')
    .description('list workspaces')
    .option('--json', 'answer JSON lines')
    .action((options: JsonOption) => listWorkspaces(options, settings()));
}

program()
  .parseAsync()
  .catch((error: unknown) => {
    process.stderr.write(`tapedeck: ${reasonOf(error)}\n`);
    process.exitCode = 1;
  });
