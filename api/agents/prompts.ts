// Prompts for common tasks: they order the queries so that the cost stays low.

interface PromptArgument {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
}

interface Prompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: readonly PromptArgument[];
  readonly text: (values: Readonly<Record<string, string>>) => string;
}

/** Characters of an argument; longer ones are refused. */
export const ARGUMENT_MAX = 500;

const argument = (name: string, description: string): PromptArgument => ({
  name,
  description,
  required: true,
});

const SYMBOLS = argument('symbols', 'Symbols, with commas between them');

export const PROMPTS: readonly Prompt[] = [
  {
    name: 'explore_dataset',
    title: 'Explore a dataset',
    description: 'What a dataset holds, how good it is, and what it can answer.',
    arguments: [
      argument('workspace', 'Name of the workspace'),
      argument('dataset', 'Name of the dataset'),
    ],
    text: ({ dataset, workspace }) =>
      `Explore the dataset ${workspace}.${dataset}. Describe it, look at five records, then ` +
      `query in SQL the number ` +
      'of records, the first and the last date, and the number of keys (SUMMARIZE is there ' +
      'too). Estimate each query ' +
      'before you run it. State what the dataset is good for, what is missing or odd in it, ' +
      'and three questions that it can answer.',
  },
  {
    name: 'compare_symbols',
    title: 'Compare symbols',
    description: 'Prices, changes and swings of some symbols side by side.',
    arguments: [SYMBOLS, argument('range', '1m, 6m, 1y, 5y …')],
    text: ({ range, symbols }) =>
      `Compare ${symbols} over ${range}. Get their quotes in one call, then a chart of each ` +
      `with "every" so that there ` +
      'are at most 60 bars. State the change over the range, the largest fall from a peak, and ' +
      'how they moved together; ' +
      'name the source, and the delay of the prices where there is one.',
  },
  {
    name: 'morning_report',
    title: 'Morning report',
    description: 'What changed since yesterday for some symbols.',
    arguments: [SYMBOLS],
    text: ({ symbols }) =>
      `Write a morning report on ${symbols}: quotes in one call, the last five days of each, ` +
      `and anything unusual against ` +
      'the range of the year. At most ten lines. End with what the report cost.',
  },
  {
    name: 'write_rule',
    title: 'Write a rule',
    description: 'Conditions for an alert, backtested before it is created.',
    arguments: [
      argument('symbol', 'The symbol'),
      argument('wish', 'When you want an alert, in your own words'),
    ],
    text: ({ symbol, wish }) =>
      `I want an alert on ${symbol}: ${wish}. Turn that into conditions, try them with ` +
      `test_rule over the last weeks, and ` +
      'adjust them until they fire about as often as I would want an alert. Show the conditions ' +
      'as JSON, the firings that you saw, ' +
      'and what the alerts would cost.',
  },
];
