#!/usr/bin/env node
// `tapedeck`: runs the command of its arguments (docs/reference/commands.md).
import { environment } from '../store/base/settings/settings.ts';
import { processTerminal } from './connect/terminal.ts';
import { runCommand } from './runCommand.ts';

void runCommand(process.argv.slice(2), processTerminal(), environment());
