// Parses CHANGELOG.md: versions with their changes, newest first.

export interface Release {
  /** `Unreleased` for changes without a version. */
  readonly version: string;
  /** YYYY-MM-DD; null if not released. */
  readonly date: string | null;
  readonly changes: readonly Change[];
}

interface Change {
  /** The heading: Added, Changed, Deprecated, Removed, Fixed, Security. */
  readonly kind: string;
  /** Markdown, in one line. */
  readonly text: string;
}

const RELEASE = /^## \[([^\]]+)\](?: - (\d{4}-\d{2}-\d{2}))?$/;
const KIND = /^### (\w+)$/;
const FIRST_LINE = /^- (.*)$/;
const NEXT_LINE = /^ {2,}(\S.*)$/;

/** @param text in the form of Keep a Changelog 1.1.0 */
export function parseReleases(text: string): readonly Release[] {
  const releases: (Release & { readonly changes: Change[] })[] = [];
  let kind = '';
  for (const line of text.split(/\r?\n/)) {
    const [, version, date = null] = RELEASE.exec(line) ?? [];
    if (version !== undefined) releases.push({ version, date, changes: [] });
    kind = KIND.exec(line)?.[1] ?? kind;
    const changes = releases.at(-1)?.changes;
    const first = FIRST_LINE.exec(line)?.[1];
    if (first !== undefined) changes?.push({ kind, text: first });
    const next = NEXT_LINE.exec(line)?.[1];
    const open = next === undefined ? undefined : changes?.pop();
    if (open !== undefined) changes?.push({ ...open, text: `${open.text} ${next}` });
  }
  return releases;
}
