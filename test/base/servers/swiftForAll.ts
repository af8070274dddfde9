// One Swift for all test files that request one: it takes 4 s of processor time to start. It starts with the
// first request; each file gets an account, so that none sees the buckets of another.
import { runSwift, SWIFT_URL, swiftAccount } from './swift.ts';
import { startHttp } from './http.ts';

/** Runs for each project; the first of them opens the endpoint. */
export async function setup(): Promise<() => Promise<void>> {
  if (process.env[SWIFT_URL] !== undefined) return async () => undefined;
  let running: ReturnType<typeof runSwift> | undefined;
  let accounts = 0;
  const door = await startHttp((_request, response) => {
    running ??= runSwift();
    running.then(
      (swift) => {
        const account = swift && swiftAccount(swift.port, (accounts += 1));
        response.end(JSON.stringify(account ?? { missing: true }));
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
