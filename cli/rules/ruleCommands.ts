// Declares the commands of rules. Each implementation is imported when its command runs.
import { type Command, Option } from 'commander';
import type { Settings } from '../../store/base/settings/settings.ts';
import type { Terminal } from '../connect/terminal.ts';
import type { AddOptions, JsonOptions, TestOptions, WhyOptions } from './rules.ts';

export function addRules(root: Command, settings: () => Settings, terminal: Terminal): void {
  const rule = root
    .command('rule')
    .description(
      'rules: conditions over the market and datasets, and alerts (docs/guides/rules.md)',
    );
  const placed = (name: string, what: string): Command =>
    rule.command(name).description(what).option('--json', 'print JSON');
  const sent = (command: Command): Command =>
    command
      .option('--webhook <url>', 'post alerts there; without any such option they are logged')
      .option('--dataset <name>', 'store alerts as records of a dataset')
      .option('--slack <url>', 'post alerts to a room of Slack')
      .option('--mattermost <url>', 'post alerts to a room of Mattermost')
      .option('--email <address>', 'mail alerts there')
      .option('--every <time>', 'at most one alert in 60s (the default), 5m, 1h or 1d')
      .option('--name <name>', 'name of the rule; the line by default')
      .option('--also <names>', 'further values that alerts include, with commas')
      .option('--edge', 'only when the conditions become true')
      .option('--shadow', 'record alerts and send none');
  sent(
    placed('add <rule>', 'create a rule: "AAPL latestPrice > 150 and changePercent < -2%"'),
  ).action(async (line: string, options: AddOptions) =>
    (await import('./rules.ts')).addRule(line, options, settings(), terminal),
  );
  sent(placed('test <rule>', 'backtest a rule: show when it would have fired and at what cost'))
    .option('--from <day>', 'first day; a week ago by default')
    .option('--to <day>', 'last day; today by default')
    .addOption(
      new Option('--step <step>', 'evaluate at the end of each; minutes for up to a month').choices(
        ['minute', 'day'],
      ),
    )
    .option('--symbols <list>', 'symbols of a rule for any symbol, with commas')
    .action(async (line: string, options: TestOptions) =>
      (await import('./rules.ts')).testRule(line, options, settings(), terminal),
    );
  placed('list', 'list rules and what they did').action(async (options: JsonOptions) =>
    (await import('./rules.ts')).listRules(options, settings(), terminal),
  );
  placed('show <id>', 'show a rule').action(async (id: string, options: JsonOptions) =>
    (await import('./rules.ts')).showRule(id, options, settings(), terminal),
  );
  placed('log <id>', 'show the alerts of a rule and their outcomes').action(
    async (id: string, options: JsonOptions) =>
      (await import('./rules.ts')).showLog(id, options, settings(), terminal),
  );
  placed('why <id>', 'show the current values of a rule, and which of its conditions are met')
    .option('--symbol <symbol>', 'symbol of a rule for any symbol')
    .option('--at <time>', 'as of that time')
    .action(async (id: string, options: WhyOptions) =>
      (await import('./rules.ts')).showWhy(id, options, settings(), terminal),
    );
  addSwitches(rule, settings, terminal);
}

function addSwitches(rule: Command, settings: () => Settings, terminal: Terminal): void {
  for (const act of ['pause', 'resume'] as const) {
    rule
      .command(`${act} <id>`)
      .description(act === 'pause' ? 'stop a rule until it is resumed' : 'resume a rule')
      .action(async (id: string) =>
        (await import('./rules.ts')).switchRule(id, act, settings(), terminal),
      );
  }
  rule
    .command('remove <id>')
    .description('delete a rule with its alerts')
    .action(async (id: string) =>
      (await import('./rules.ts')).removeRule(id, settings(), terminal),
    );
}
