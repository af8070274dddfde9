// Declares the commands that load into the market.
import { type Command, Option } from 'commander';
import { INPUTS } from '../../market/inputs/inputs.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { dateOrderOption, duplicatesOption, shapeOptions } from '../data/readingOptions.ts';
import type { Terminal } from '../connect/terminal.ts';
import type { CoreLoadOptions } from './coreLoad.ts';

export function addCore(root: Command, settings: () => Settings, terminal: Terminal): void {
  const core = root
    .command('core')
    .description('workspace CORE, which the market is computed from');
  const load = core
    .command('load <origin...>')
    .description(
      'load files of a vendor, or a data source, into an input of the market, after a preview',
    )
    .requiredOption('--as <input>', `input: ${INPUTS.map(({ id }) => id).join(', ')}`)
    .option('--symbol <symbol>', 'symbol of each record; the name of the file if no column has it')
    .option('--wide <property>', 'the file has a column for each symbol: the property of its cells')
    .option('--adjusted', 'the prices are already split-adjusted')
    .option('--with-actions', 'load the dividends and splits in a file of daily bars too')
    .addOption(duplicatesOption())
    .addOption(dateOrderOption())
    .option('--max-errors <n>', 'most invalid records; with more, nothing of the file is ingested')
    .addOption(
      new Option('--every <time>', 'load the source at this interval, with the same options')
        .choices(['minute', 'hour', 'day'])
        .conflicts('cron'),
    )
    .option('--cron <expression>', 'the schedule as a cron expression of five fields')
    .option('--time-zone <zone>', 'IANA time zone of the schedule; UTC by default')
    .option('--yes', 'load without confirmation')
    .option('--json', 'print JSON lines');
  shapeOptions(load).action(async (origins: readonly string[], options: CoreLoadOptions) =>
    (await import('./coreLoad.ts')).loadCore(origins, options, settings(), terminal),
  );
}
