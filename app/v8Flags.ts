// Where V8 puts the objects of a request. It watches which survive, and from then on makes such ones
// old from the start. Reads that wait for files teach it that requests live long: afterwards each
// dead one of the short reads that follow keeps others alive until the old ones are collected, and a
// collection of the young takes 13 ms instead of 1.2, ten times a second, for as long as the server runs.
import { setFlagsFromString } from 'node:v8';

/** For the whole process, from then on; all that a request makes begins young. */
export function keepRequestsYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}
