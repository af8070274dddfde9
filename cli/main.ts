#!/usr/bin/env node
// `tapedeck`: runs the command that it is given (docs/reference/commands.md).
import { environment } from '../store/base/settings/settings.ts';
import { processTerminal } from './reach/terminal.ts';
import { runCommand } from './runCommand.ts';

void runCommand(process.argv.slice(2), processTerminal(), environment());
