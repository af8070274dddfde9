// Speaks to the process that started this one. Without it there is nobody to work for, nor to complain to.

/** Ends this process where the other one is gone: a message that can't be written is no error of ours. */
export function sendToParent(message: object): void {
  process.send?.(message, undefined, undefined, (error: Error | null) => {
    if (error !== null) end();
  });
}

/** An exit would wait for what runs: minutes, while nobody wants its answer. */
export function endWithParent(): void {
  process.on('disconnect', end);
}

const end = (): void => {
  process.kill(process.pid, 'SIGKILL');
};
