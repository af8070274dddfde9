// Simulates a queueing network. The same seed gives the same run.
import { seeded, type Seeded } from '../../test/soak/crash/rounds/seeded.ts';
import { type EventQueue, eventQueue } from './eventQueue.ts';
import { type StationQueue, stationQueue } from './stationQueue.ts';
import { exponential, type GoOn, type Network, type Regular, type Step } from './network.ts';

interface Length {
  readonly seed: number;
  /** Calls before this time are not counted. */
  readonly warmUpMs: number;
  readonly untilMs: number;
}

export interface RunResult {
  /** Milliseconds of counted calls, by kind. */
  readonly times: ReadonlyMap<string, readonly number[]>;
  /** Utilization of each station: arrived work divided by its capacity. */
  readonly load: readonly number[];
  /** Mean waiting time at each station. */
  readonly waitMs: readonly number[];
  /** Calls per second that ended in the counted time. */
  readonly callsPerSecond: number;
  /** Groups per second. */
  readonly groupsPerSecond: readonly number[];
}

/** A call, or a part of one, in progress. */
interface Task {
  readonly steps: readonly Step[];
  at: number;
  readonly done: (nowMs: number) => void;
}

type Event =
  { readonly call: (nowMs: number) => void } | { readonly task: Task; readonly station: number };

export function run(network: Network, length: Length): RunResult {
  return new Run(network, length).toItsEnd();
}

class Run {
  readonly #network: Network;
  readonly #length: Length;
  readonly #random: Seeded;
  readonly #events: EventQueue<Event> = eventQueue();
  readonly #lines: readonly StationQueue<Task>[];
  readonly #open: (Task[] | undefined)[];
  readonly #went: number[];
  readonly #times = new Map<string, number[]>();
  #ended = 0;

  constructor(network: Network, length: Length) {
    this.#network = network;
    this.#length = length;
    this.#random = seeded(length.seed);
    this.#lines = network.stations.map(({ servers }) => stationQueue(servers));
    this.#open = network.groups.map(() => undefined);
    this.#went = network.groups.map(() => 0);
  }

  toItsEnd(): RunResult {
    this.#arrive(0);
    for (const regular of this.#network.regular) {
      const firstMs = this.#random.next() * regular.everyMs;
      this.#events.add(firstMs, { call: (ms) => this.#repeat(regular, ms) });
    }
    for (let event = this.#events.next(); event !== undefined; event = this.#events.next()) {
      const { item, ms } = event;
      if ('call' in item) item.call(ms);
      else this.#leave(item.station, item.task, ms);
    }
    const lengthMs = this.#length.untilMs - this.#length.warmUpMs;
    const sums = this.#lines.map((line) => line.sums());
    return {
      times: this.#times,
      load: this.#network.stations.map(
        ({ servers }, at) => (sums[at]?.workMs ?? 0) / (servers * lengthMs),
      ),
      waitMs: sums.map(({ meanWaitMs }) => meanWaitMs),
      callsPerSecond: (this.#ended * 1_000) / lengthMs,
      groupsPerSecond: this.#went.map((count) => (count * 1_000) / lengthMs),
    };
  }

  #counts(ms: number): boolean {
    return ms >= this.#length.warmUpMs && ms < this.#length.untilMs;
  }

  #arrive(nowMs: number): void {
    if (nowMs >= this.#length.untilMs) return;
    const { nextCall, callsPerSecond } = this.#network;
    const { kind, steps } = nextCall(this.#random, nowMs);
    this.#begin(steps, nowMs, (ms) => this.#end(kind, nowMs, ms));
    const nextMs = nowMs + exponential(this.#random, 1_000 / callsPerSecond);
    this.#events.add(nextMs, { call: (ms) => this.#arrive(ms) });
  }

  #end(kind: string, beganMs: number, nowMs: number): void {
    if (this.#counts(nowMs)) this.#ended += 1;
    if (!this.#counts(beganMs)) return;
    const list = this.#times.get(kind);
    if (list === undefined) this.#times.set(kind, [nowMs - beganMs]);
    else list.push(nowMs - beganMs);
  }

  #repeat(regular: Regular, nowMs: number): void {
    if (nowMs >= this.#length.untilMs) return;
    const { everyMs, steps } = regular;
    this.#begin(steps(), nowMs, () => undefined);
    this.#events.add(nowMs + everyMs, { call: (ms) => this.#repeat(regular, ms) });
  }

  #begin(steps: readonly Step[], nowMs: number, done: Task['done']): void {
    this.#goOn({ steps, at: 0, done }, nowMs);
  }

  #next(task: Task, nowMs: number): void {
    task.at += 1;
    this.#goOn(task, nowMs);
  }

  #goOn(task: Task, nowMs: number): void {
    const step = task.steps[task.at];
    if (step === undefined) return task.done(nowMs);
    if ('at' in step) {
      const ms = this.#line(step.at).take(task, step.ms, nowMs, this.#counts(nowMs));
      if (ms !== undefined) this.#events.add(nowMs + ms, { task, station: step.at });
    } else if ('waitMs' in step) {
      this.#events.add(nowMs + step.waitMs, { call: (ms) => this.#next(task, ms) });
    } else if ('group' in step) this.#join(step.group, task, nowMs);
    else if ('all' in step) this.#fork(step.all, task, nowMs);
    else if ('until' in step) this.#wait(step, task, nowMs);
    else if ('decide' in step) {
      this.#begin(step.decide(nowMs), nowMs, (ms) => this.#next(task, ms));
    } else {
      if ('run' in step) step.run(nowMs);
      else for (const part of step.beside) this.#begin(part, nowMs, () => undefined);
      this.#next(task, nowMs);
    }
  }

  #wait(
    { mostMs, until }: Extract<Step, { readonly mostMs: number }>,
    task: Task,
    nowMs: number,
  ): void {
    let waits = true;
    const goOn: GoOn = (ms) => {
      if (waits) this.#next(task, ms);
      waits = false;
    };
    until(goOn);
    this.#events.add(nowMs + mostMs, { call: goOn });
  }

  #leave(station: number, task: Task, nowMs: number): void {
    const next = this.#line(station).free(nowMs);
    if (next !== undefined) this.#events.add(nowMs + next.ms, { task: next.task, station });
    this.#next(task, nowMs);
  }

  #line(at: number): StationQueue<Task> {
    const line = this.#lines[at];
    if (line === undefined) throw new Error(`there is no station ${at}`);
    return line;
  }

  #fork(parts: readonly (readonly Step[])[], task: Task, nowMs: number): void {
    let left = parts.length;
    if (left === 0) return this.#next(task, nowMs);
    for (const part of parts) {
      this.#begin(part, nowMs, (ms) => {
        left -= 1;
        if (left === 0) this.#next(task, ms);
      });
    }
  }

  #join(at: number, task: Task, nowMs: number): void {
    const group = this.#network.groups[at];
    if (group === undefined) throw new Error(`there is no group ${at}`);
    const open = this.#open[at];
    if (open !== undefined) return void open.push(task);
    const members = [task];
    this.#open[at] = members;
    const goTogether = (ms: number): void => {
      this.#open[at] = undefined;
      if (this.#counts(ms)) this.#went[at] = (this.#went[at] ?? 0) + 1;
      this.#begin(group.steps(), ms, (endMs) => {
        for (const member of members) this.#next(member, endMs);
      });
    };
    this.#events.add(nowMs + group.gatherMs, { call: goTogether });
  }
}
