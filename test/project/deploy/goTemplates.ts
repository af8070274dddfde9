// Templates of a chart, rendered by Go's own templates with the functions of sprig, which are those of Helm:
// Caddy, which CI has for its proxies, serves files through them. Caddy refuses functions that only Helm has
// (`toYaml`, `tpl`, `lookup`, `required`, `.Files`, `.Capabilities`), so the charts here do not use them.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, programIn, startDaemon } from '../../base/servers/daemon.ts';

export interface GoTemplates extends AsyncDisposable {
  /** @throws Error with the status if the template fails */
  readonly render: (template: string, context: unknown) => Promise<string>;
}

const DEFINED =
  /\{\{-? define "([\w.]+)" -?\}\}([^]*?)\n?\{\{-? end -?\}\}(?=\n*(?:\{\{-? (?:define|\/\*)|$))/g;

/**
 * @param partials a file of templates that others include by their names
 * Undefined without Caddy.
 */
export async function startGoTemplates(partials: string): Promise<GoTemplates | undefined> {
  const program = await programIn('caddy', ['/usr/bin']);
  if (program === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'tapedeck-templates-'));
  const site = join(folder, 'site');
  mkdirSync(site);
  // Caddy's `include` takes a file, and passes it its arguments in a list.
  for (const [, name = '', body = ''] of partials.matchAll(DEFINED)) {
    writeFileSync(join(site, name), `{{- with index .Args 0 -}}${body}{{- end -}}`);
  }
  writeFileSync(join(site, 'ready.txt'), '{{ add 1 1 }}');
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const config = join(folder, 'Caddyfile');
  const options = `{\n\tadmin off\n\tauto_https off\n\tstorage file_system ${folder}\n}\n`;
  const door = `\tbind 127.0.0.1\n\troot * ${site}\n\ttemplates\n\tfile_server\n`;
  writeFileSync(config, `${options}${base} {\n${door}}\n`);
  const caddy = await startDaemon({
    command: [program, 'run', '--adapter', 'caddyfile', '--config', config],
    isReady: async () => (await (await fetch(`${base}/ready.txt`)).text()) === '2',
  });
  let count = 0;
  return {
    render: async (template, context) => {
      const name = `${(count += 1)}.txt`;
      // A Go string between backticks has no escapes, so no backtick either.
      const values = JSON.stringify(context).replaceAll('`', '\\u0060');
      writeFileSync(join(site, name), `{{- with fromJson \`${values}\` }}${template}{{- end }}`);
      const answer = await fetch(`${base}/${name}`);
      if (answer.status !== 200) throw new Error(`Go refuses the template: ${answer.status}`);
      return answer.text();
    },
    [Symbol.asyncDispose]: async () => {
      await caddy[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
