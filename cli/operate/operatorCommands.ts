// Declares the operator's commands on a data folder. Each implementation is imported when its command runs.
import type { Command } from 'commander';
import type { Settings } from '../../store/base/settings/settings.ts';
import { addTokenChanges } from './accountCommands.ts';
import type { BackupOptions, RestoreOptions } from './backups.ts';
import type { RepairOptions } from './repair.ts';
import type { ListTokensOptions } from './tokens.ts';
import type { MoveOptions } from './move.ts';
import type { RotateOptions } from './rotateKey.ts';
import type { Terminal } from '../connect/terminal.ts';

interface JsonOption {
  readonly json?: boolean;
}

export function addServe(root: Command, settings: () => Settings, terminal: Terminal): void {
  root
    .command('serve')
    .description('run the server until SIGTERM or SIGINT')
    .action(async () => {
      const startSettings = settings();
      // Start the catalog thread early: half of a start is reading files, which leaves a core free.
      const { prestartedThreads } = await import('../../store/sqlite/writer.ts');
      const threads = startSettings.database === undefined ? prestartedThreads() : undefined;
      await (await import('./serve.ts')).serve(startSettings, terminal, threads);
    });
}

export function addTokens(root: Command, settings: () => Settings, terminal: Terminal): void {
  const tokens = root.command('tokens').description('tokens of the data folder');
  tokens
    .command('list', { isDefault: true })
    .description('list tokens; only the last four characters of secret ones')
    .option('--account <accountId>', 'only those of this account')
    .option('--show', 'print secret tokens in full')
    .option('--json', 'print JSON lines')
    .action(async (options: ListTokensOptions) =>
      (await import('./tokens.ts')).listTokens(options, settings(), terminal),
    );
  addTokenChanges(tokens, settings, terminal);
}

export function addWorkspaces(root: Command, settings: () => Settings, terminal: Terminal): void {
  const workspace = root.command('workspace').description('workspaces of the data folder');
  workspace
    .command('create <name>')
    .description('create a workspace; its name is permanent')
    .option('--json', 'print JSON lines')
    .action(async (name: string, options: JsonOption) =>
      (await import('./workspaces.ts')).createWorkspace(name, options, settings(), terminal),
    );
  workspace
    .command('list')
    .description('list workspaces')
    .option('--json', 'print JSON lines')
    .action(async (options: JsonOption) =>
      (await import('./workspaces.ts')).listWorkspaces(options, settings(), terminal),
    );
}

export function addBackups(root: Command, settings: () => Settings, terminal: Terminal): void {
  const backup = root
    .command('backup')
    .description('back up the data folder, also while its server runs');
  backup
    .command('make <target>', { isDefault: true })
    .description('back up into a folder, or update the backup in it')
    .option('--without-key', 'leave out the data key and the admin token')
    .option('--copy', 'copy files even where they could be linked')
    .option('--json', 'print JSON')
    .action(async (target: string, options: BackupOptions) =>
      (await import('./backups.ts')).makeBackup(target, options, settings(), terminal),
    );
  backup
    .command('verify <folder>')
    .description('read every file of a backup; exits with 1 if one is damaged or missing')
    .option('--json', 'print JSON')
    .action(async (folder: string, options: JsonOption) =>
      (await import('./backups.ts')).verify(folder, options, terminal),
    );
  root
    .command('restore <backup> <folder>')
    .description(
      'restore a backup into a data folder, which must be new or empty; schedules and alerts stay paused',
    )
    .option('--awake', 'resume schedules, webhooks, alerts and exports when it is served')
    .option('--json', 'print JSON')
    .action(async (from: string, folder: string, options: RestoreOptions) =>
      (await import('./backups.ts')).restore(from, folder, options, terminal),
    );
  root
    .command('wake')
    .description('resume schedules, webhooks, alerts and exports of a restored data folder')
    .action(async () => (await import('./backups.ts')).wakeFolder(settings(), terminal));
}

export function addStatus(root: Command, settings: () => Settings, terminal: Terminal): void {
  root
    .command('status')
    .description('show what is wrong and what to do about it; exits with 1 if something is')
    .option('--json', 'print JSON')
    .action(async (options: JsonOption) =>
      (await import('./status.ts')).showStatus(options, settings(), terminal),
    );
}

export function addNodes(root: Command, settings: () => Settings, terminal: Terminal): void {
  root
    .command('nodes')
    .description(
      'list the servers that share the catalog of TAPEDECK_DATABASE, and which one serves',
    )
    .option('--json', 'print JSON lines')
    .action(async (options: JsonOption) =>
      (await import('./nodes.ts')).showNodes(options, settings(), terminal),
    );
}

export function addDoctor(root: Command, settings: () => Settings, terminal: Terminal): void {
  root
    .command('doctor')
    .description(
      'check folder, version, ports, rights, clock, disk, ledger and sources, with advice; changes ' +
        'nothing; exits with 1 if something is wrong',
    )
    .option('--json', 'print JSON')
    .action(async (options: JsonOption) =>
      (await import('../doctor/doctor.ts')).examine(options, settings(), terminal),
    );
}

export function addCompletion(root: Command, terminal: Terminal): void {
  root
    .command('completion <shell>')
    .description('print the script by which bash, zsh or fish completes commands and options')
    .action(async (shell: string) =>
      (await import('./completion.ts')).printCompletion(shell, root, terminal),
    );
}

export function addRepair(root: Command, settings: () => Settings, terminal: Terminal): void {
  root
    .command('verify')
    .description('read every file of the lake; exits with 1 if one is damaged or missing')
    .option('--json', 'print JSON')
    .action(async (options: JsonOption) =>
      (await import('./repair.ts')).verify(options, settings(), terminal),
    );
  root
    .command('repair')
    .description(
      'show what is damaged or lost and how to repair it; without options it changes nothing',
    )
    .option('--from <backup>', 'replace damaged files by those of a backup')
    .option(
      '--accept',
      'continue with the present catalog; files that it does not know are set aside',
    )
    .option('--rebuild', 'create datasets from files that the catalog does not know')
    .option('--json', 'print JSON')
    .action(async (options: RepairOptions) =>
      (await import('./repair.ts')).repair(options, settings(), terminal),
    );
}

export function addMove(root: Command, settings: () => Settings, terminal: Terminal): void {
  root
    .command('move')
    .description(
      'move the data folder to TAPEDECK_DATABASE and TAPEDECK_DATA, or back from there; run it again to ' +
        'continue',
    )
    .option('--back', 'from there into the data folder')
    .option('--json', 'print JSON')
    .action(async (options: MoveOptions) =>
      (await import('./move.ts')).move(options, settings(), terminal),
    );
}

export function addKeyRotation(root: Command, settings: () => Settings, terminal: Terminal): void {
  root
    .command('rotate-key')
    .description(
      'encrypt tokens, credentials and webhooks with a new data key; with TAPEDECK_ENCRYPTION_KEY the ' +
        'new one is read from standard input',
    )
    .option('--json', 'print JSON')
    .action(async (options: RotateOptions) =>
      (await import('./rotateKey.ts')).rotate(options, settings(), terminal),
    );
}
