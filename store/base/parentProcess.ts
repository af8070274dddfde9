// Sends messages to the parent process, and ends this process when the parent is gone.

/** Sends a message. A failed send means that the parent is gone: it ends this process and does not throw. */
export function sendToParent(message: object): void {
  process.send?.(message, undefined, undefined, (error: Error | null) => {
    if (error !== null) end();
  });
}

/** Kills this process when its parent ends: an exit would wait minutes for a running statement. */
export function endWithParent(): void {
  process.on('disconnect', end);
}

const end = (): void => {
  process.kill(process.pid, 'SIGKILL');
};
