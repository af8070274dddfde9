// Follows a run of vitest and prints its report (report.ts), a file as soon as it has ended.
import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';
import { ON_POSTGRES } from './postgres/contract.ts';
import { type Failed, type FileReport, linesOf, reasonOf, summary, type Thrown } from './report.ts';
import { resultsOf, unfinished } from './results.ts';

/** State of a file while it runs. */
interface Following {
  readonly startedMs: number;
  readonly notes: string[];
}

interface Outlets {
  /** Paths are relative to it. */
  readonly root: string;
  say(line: string): void;
  /** Called at the end of each file, so that the next run begins with the longest. */
  took(file: string, ms: number): void;
}

export function reporter({ root, say, took }: Outlets): Reporter {
  let startedMs = 0;
  const done = new Map<string, FileReport>();
  const following = new Map<string, Following>();
  const ended = (module: TestModule, more: readonly Failed[]): void => {
    const { notes, startedMs: since } = followed(following, module.id);
    const ms = performance.now() - since;
    const path = relative(root, module.moduleId);
    const file = module.project.name === ON_POSTGRES ? `${path} (${ON_POSTGRES})` : path;
    const report = { file, ...resultsOf(module, root, more), notes, ms };
    done.set(module.id, report);
    for (const line of linesOf(report)) say(line);
    if (more.length === 0) took(file, ms);
  };
  return {
    ...notesInto(following, say),
    onTestRunStart() {
      startedMs = performance.now();
      following.clear();
      done.clear();
    },
    onTestModuleEnd(module) {
      ended(module, []);
    },
    onTestRunEnd(modules, errors) {
      const lost = modules.filter(({ id }) => !done.has(id));
      for (const module of lost) ended(module, [unfinished(module)]);
      const outside = errors
        .filter((error) => !lost.some(({ moduleId }) => endOf(error)?.includes(moduleId)))
        .map((error) => ({
          name: `outside of a test: ${error.message}`,
          reason: reasonOf(error, root),
        }));
      const { lines, ok } = summary([...done.values()], outside, performance.now() - startedMs);
      for (const line of lines) say(line);
      if (!ok) process.exitCode = 1;
    },
  };
}

/** Handlers of the events while a file runs. */
function notesInto(following: Map<string, Following>, say: (line: string) => void): Reporter {
  return {
    onTestModuleQueued({ id }) {
      followed(following, id);
    },
    onTestCaseAnnotate({ module }, { message }) {
      followed(following, module.id).notes.push(message);
    },
    onUserConsoleLog({ content, taskId }) {
      // The number of a test begins with that of its file.
      const notes = following.get(taskId?.split('_')[0] ?? '')?.notes;
      if (notes === undefined) say(content.trimEnd());
      else notes.push(content);
    },
  };
}

function followed(following: Map<string, Following>, id: string): Following {
  const entry = following.get(id);
  if (entry !== undefined) return entry;
  const fresh = { startedMs: performance.now(), notes: [] };
  following.set(id, fresh);
  return fresh;
}

/** The message of vitest about a process that ended while it ran a file: it has the path of the file. */
const endOf = ({ cause }: Thrown): string | undefined =>
  typeof cause === 'object' && cause !== null && 'message' in cause
    ? String(cause.message)
    : undefined;
