// The files of deploy/, and the settings of the program that they must agree with.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { SETTINGS } from '../../../store/base/settings/settingsTable.ts';
import { type Instruction, instructionsOf } from './dockerfile.ts';

export const ROOT = join(import.meta.dirname, '..', '..', '..');
export const DEPLOY = join(ROOT, 'deploy');

/** Paths below deploy/, except for a user's own secrets. */
export const deployFiles = (): readonly string[] =>
  readdirSync(DEPLOY, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== '.env')
    .map((entry) => join(entry.parentPath, entry.name).slice(DEPLOY.length + 1));

export const deployed = (path: string): string => readFileSync(join(DEPLOY, path), 'utf8');

/** Parses a YAML document; duplicate keys and similar faults are errors. */
export const yamlOf = (text: string): unknown => parse(text, { strict: true, uniqueKeys: true });

const settings: readonly { readonly name: string; readonly fallback: string }[] = SETTINGS;
export const SETTING_NAMES: ReadonlySet<string> = new Set(settings.map(({ name }) => name));

export const fallbackOf = (name: string): string =>
  settings.find((setting) => setting.name === name)?.fallback ?? '';

/** Time from a signal to the end of the process. */
export const DRAIN_SECONDS = Number(fallbackOf('TAPEDECK_DRAIN')) / 1000;

/** The arguments of the last instruction with this keyword in the last stage of the image. */
export function readInstruction(keyword: string): string {
  const instruction = lastStage().findLast((one) => one.keyword === keyword);
  if (instruction === undefined) throw new Error(`the Dockerfile has no ${keyword}`);
  return instruction.rest;
}

export function lastStage(): readonly Instruction[] {
  const all = instructionsOf(deployed('Dockerfile'));
  return all.slice(all.findLastIndex(({ keyword }) => keyword === 'FROM'));
}

/** Parses seconds as compose and systemd write them: `30s`, `30`. */
export function secondsOf(text: string): number {
  const [, count = ''] = /^(\d+)s?$/.exec(text) ?? [];
  if (count === '') throw new Error(`not seconds: ${text}`);
  return Number(count);
}
