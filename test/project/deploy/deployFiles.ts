// The files of deploy/, and what the program says of itself that they have to agree with.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { SETTINGS } from '../../../store/base/settings/settingsTable.ts';
import { type Instruction, instructionsOf } from './dockerfile.ts';

export const ROOT = join(import.meta.dirname, '..', '..', '..');
export const DEPLOY = join(ROOT, 'deploy');

/** Paths below deploy/, but for a user's own secrets. */
export const deployFiles = (): readonly string[] =>
  readdirSync(DEPLOY, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== '.env')
    .map((entry) => join(entry.parentPath, entry.name).slice(DEPLOY.length + 1));

export const deployed = (path: string): string => readFileSync(join(DEPLOY, path), 'utf8');

/** A document of YAML; doubled keys and the like are errors. */
export const yamlOf = (text: string): unknown => parse(text, { strict: true, uniqueKeys: true });

const settings: readonly { readonly name: string; readonly fallback: string }[] = SETTINGS;
export const SETTING_NAMES: ReadonlySet<string> = new Set(settings.map(({ name }) => name));

export const fallbackOf = (name: string): string =>
  settings.find((setting) => setting.name === name)?.fallback ?? '';

/** Time from a signal to the end of the process. */
export const DRAIN_SECONDS = Number(fallbackOf('TAPEDECK_DRAIN')) / 1000;

/** What the image is started as, by keyword: the last of each of its last stage. */
export function imageSays(keyword: string): string {
  const found = lastStage().findLast((one) => one.keyword === keyword);
  if (found === undefined) throw new Error(`the Dockerfile has no ${keyword}`);
  return found.rest;
}

export function lastStage(): readonly Instruction[] {
  const all = instructionsOf(deployed('Dockerfile'));
  return all.slice(all.findLastIndex(({ keyword }) => keyword === 'FROM'));
}

/** Seconds of what compose and systemd write: `30s`, `30`. */
export function secondsOf(text: string): number {
  const [, count = ''] = /^(\d+)s?$/.exec(text) ?? [];
  if (count === '') throw new Error(`not seconds: ${text}`);
  return Number(count);
}
