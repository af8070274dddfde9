// Due times by checking every minute: slow, plain, and independent of the product's code.

/** The forms in the schedules of the tests: `*`, a number, a list, a range, a step. */
function matches(field: string, value: number): boolean {
  return field.split(',').some((part) => {
    const [span = '', step = '1'] = part.split('/');
    const [from = '', to = from] = span.split('-');
    if (span === '*') return value % Number(step) === 0;
    return (
      value >= Number(from) && value <= Number(to) && (value - Number(from)) % Number(step) === 0
    );
  });
}

/** Whole minutes after `fromMs`, up to `untilMs`, that match the five fields in UTC. */
export function dueTimes(cron: string, fromMs: number, untilMs: number): readonly number[] {
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = cron.split(' ');
  const due: number[] = [];
  const first = Math.floor(fromMs / 60_000) * 60_000 + 60_000;
  for (let ms = first; ms <= untilMs; ms += 60_000) {
    const time = new Date(ms);
    const named =
      matches(minute, time.getUTCMinutes()) &&
      matches(hour, time.getUTCHours()) &&
      matches(month, time.getUTCMonth() + 1) &&
      matches(day, time.getUTCDate()) &&
      matches(weekday, time.getUTCDay());
    if (named) due.push(ms);
  }
  return due;
}
