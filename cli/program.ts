// What the command line understands: every command with its arguments and options. docs/commands.md
// is made of it.
import { Command } from 'commander';
import { redacted } from '../store/base/redact.ts';
import type { Settings } from '../store/base/settings.ts';
import { VERSION } from '../store/base/version.ts';
import { addIngest, addSql } from './data/dataCommands.ts';
import { addAccounts, addBooks } from './operate/accountCommands.ts';
import {
  addBackups,
  addKeyRotation,
  addRepair,
  addServe,
  addTokens,
  addWorkspaces,
} from './operate/operatorCommands.ts';
import { addPipeline } from './pipeline/pipelineCommands.ts';
import { addExport, addRecipes } from './pipeline/readyCommands.ts';

/** @param settings read when a command runs: `--help` needs none. */
export function program(settings: () => Settings): Command {
  const root = new Command('tapedeck')
    // Commands below take it over: what is wrong with a command line may be a token on it.
    .configureOutput({ writeErr: (text) => void process.stderr.write(redacted(text)) })
    .description('Self-hosted financial data platform. Settings: TAPEDECK_… (docs/operating.md).')
    .version(VERSION);
  addServe(root, settings);
  addIngest(root, settings);
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
