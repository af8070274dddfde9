// Declares the commands of exports and recipes. Each implementation is imported when its command runs.
import { type Command, Option } from 'commander';
import type { Settings } from '../../store/base/settings/settings.ts';
import type { ExportOptions } from './export.ts';
import type { AddRecipeOptions } from './recipes.ts';
import type { Terminal } from '../connect/terminal.ts';

export function addExport(root: Command, settings: () => Settings, terminal: Terminal): void {
  const format = new Option('--format <format>', 'format of the parts');
  const compression = new Option('--compression <how>', 'compression of csv and jsonl');
  root
    .command('export [dataset]')
    .description(
      'write a dataset, such as DEMO.STOCKS, or the result of a query to files with a manifest',
    )
    .option('--query <select>', 'export the result of this SELECT instead of a dataset')
    .addOption(format.choices(['csv', 'jsonl', 'parquet', 'arrow']).default('parquet'))
    .requiredOption('--to <folder>', 'a folder, or s3://bucket/prefix')
    .addOption(compression.choices(['none', 'gzip', 'zstd']))
    .option('--workspace <name>', 'workspace; that of the dataset, or the first one')
    .option('--as-of <moment>', 'read the data as of a snapshot id, a date or a time')
    .option('--rows-per-file <n>', 'records of each part of a dataset')
    .option('--credential <id>', 'name or id of the credential of a bucket')
    .option('--region <name>', 'region of a bucket')
    .option('--endpoint <url>', 'URL of a store that is compatible with S3')
    .option('--json', 'print JSON lines')
    .action(async (dataset: string | undefined, options: ExportOptions) =>
      (await import('./export.ts')).exportData(dataset, options, settings(), terminal),
    );
}

export function addRecipes(root: Command, settings: () => Settings, terminal: Terminal): void {
  const recipe = root.command('recipe').description('public sources, ready to be scheduled');
  recipe
    .command('list', { isDefault: true })
    .description('list the recipes')
    .option('--json', 'print JSON lines')
    .action(async (options: { readonly json?: boolean }) =>
      (await import('./recipes.ts')).listRecipes(options, terminal),
    );
  recipe
    .command('show <recipe>')
    .description('show what a recipe loads, its parameters and what it creates')
    .option('--json', 'print the recipe as JSON')
    .action(async (name: string, options: { readonly json?: boolean }) =>
      (await import('./recipes.ts')).showRecipe(name, options, terminal),
    );
  recipe
    .command('add <recipe>')
    .description('create the dataset, the source and the schedule of a recipe; it runs immediately')
    .option(
      '--set <parameter>',
      'value of a parameter, written name=value; can be repeated',
      collect,
    )
    .option('--dataset <name>', 'dataset to load into; the name in the recipe by default')
    .option('--name <name>', 'name of the source and the schedule; that of the dataset by default')
    .option('--base <url>', 'fetch from this origin, a mirror, instead of the publisher’s')
    .option('--dry-run', 'show what would be created, and create nothing')
    .option('--workspace <name>', 'workspace; the first one of the account by default')
    .option('--json', 'print JSON lines')
    .action(async (name: string, options: AddRecipeOptions) =>
      (await import('./recipes.ts')).addRecipe(name, options, settings(), terminal),
    );
}

const collect = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  value,
];
