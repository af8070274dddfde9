// Declares every command with its arguments and options. docs/reference/commands.md is generated from it.
import { Command } from 'commander';
import { redactText } from '../store/base/redact.ts';
import type { Settings } from '../store/base/settings/settings.ts';
import { VERSION } from '../store/base/version.ts';
import { addDatasets, addFiles, addIngest, addSql, addStreams } from './data/dataCommands.ts';
import { addAccounts, addBooks } from './operate/accountCommands.ts';
import {
  addBackups,
  addCompletion,
  addDoctor,
  addNodes,
  addKeyRotation,
  addMove,
  addRepair,
  addStatus,
  addServe,
  addTokens,
  addWorkspaces,
} from './operate/operatorCommands.ts';
import { addCore } from './pipeline/coreCommands.ts';
import { addPipeline } from './pipeline/pipelineCommands.ts';
import { addExport, addRecipes } from './pipeline/readyCommands.ts';
import { addRules } from './rules/ruleCommands.ts';
import type { Output, Terminal } from './connect/terminal.ts';

/** Options that may come before or after the command. */
export interface ServerOptions {
  readonly server?: string;
  readonly token?: string;
  readonly ca?: string;
}

/**
 * @param settings read when a command runs: `--help` needs none.
 * @throws CommanderError after printing help, or an error of the command line
 */
export function program(settings: () => Settings, terminal: Terminal): Command {
  const { stderr, stdout } = terminal;
  // Subcommands inherit how errors are printed and how parsing ends.
  const root = new Command('tapedeck')
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      // An error of the command line may contain a token.
      writeErr: (text) => void stderr.write(redactText(text)),
      getOutHelpWidth: () => widthOf(stdout),
      getErrHelpWidth: () => widthOf(stderr),
      getOutHasColors: () => stdout.isTTY === true && stdout.hasColors?.() === true,
      getErrHasColors: () => stderr.isTTY === true && stderr.hasColors?.() === true,
    })
    .exitOverride()
    .description(
      'Self-hosted financial data platform. Settings: TAPEDECK_… (docs/reference/settings.md).',
    )
    .version(VERSION)
    .option('--server <url>', 'speak to this server in place of a data folder; TAPEDECK_SERVER')
    .option('--token <token>', 'its secret token, or admin token; better as TAPEDECK_TOKEN')
    .option('--ca <file>', 'PEM file to trust its certificate by; TAPEDECK_CA');
  addServe(root, settings, terminal);
  addIngest(root, settings, terminal);
  addCore(root, settings, terminal);
  addSql(root, settings, terminal);
  addDatasets(root, settings, terminal);
  addExport(root, settings, terminal);
  addFiles(root, settings, terminal);
  addStreams(root, settings, terminal);
  addRules(root, settings, terminal);
  addPipeline(root, settings, terminal);
  addRecipes(root, settings, terminal);
  addTokens(root, settings, terminal);
  addWorkspaces(root, settings, terminal);
  addAccounts(root, settings, terminal);
  addBooks(root, settings, terminal);
  addBackups(root, settings, terminal);
  addRepair(root, settings, terminal);
  addStatus(root, settings, terminal);
  addDoctor(root, settings, terminal);
  addNodes(root, settings, terminal);
  addKeyRotation(root, settings, terminal);
  addMove(root, settings, terminal);
  addCompletion(root, terminal);
  return root;
}

/** Returns the width of a terminal; Commander's default for other outputs. */
const widthOf = ({ columns, isTTY }: Output): number => (isTTY === true ? (columns ?? 80) : 80);
