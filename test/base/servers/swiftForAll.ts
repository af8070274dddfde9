// One Swift for all files that ask for one: it takes 4 s of processor time to start. It starts when the first
// one asks; each gets an account, so that none sees the buckets of another.
import { runSwift, SWIFT_URL, swiftAccount } from './swift.ts';
import { startHttp } from './http.ts';

/** Runs for each project; the first of them has the door. */
export async function setup(): Promise<() => Promise<void>> {
  if (process.env[SWIFT_URL] !== undefined) return async () => undefined;
  let running: ReturnType<typeof runSwift> | undefined;
  let accounts = 0;
  const door = await startHttp((_request, response) => {
    running ??= runSwift();
    running.then(
      (swift) => {
        const told = swift && swiftAccount(swift.port, (accounts += 1));
        response.end(JSON.stringify(told ?? { missing: true }));
      },
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  process.env[SWIFT_URL] = `http://127.0.0.1:${door.port}`;
  return async () => {
    delete process.env[SWIFT_URL];
    await door[Symbol.asyncDispose]();
    await (await running)?.[Symbol.asyncDispose]();
  };
}
