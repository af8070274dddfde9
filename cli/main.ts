#!/usr/bin/env node
// `tapedeck`: runs the command that it is given (docs/commands.md).
import { reasonOf } from '../store/base/failure.ts';
import { environment, readSettings } from '../store/base/settings.ts';
import { program } from './program.ts';

program(() => readSettings(environment()))
  .parseAsync()
  .catch((error: unknown) => {
    process.stderr.write(`tapedeck: ${reasonOf(error)}\n`);
    process.exitCode = 1;
  });
