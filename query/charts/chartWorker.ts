// The drawing thread: draws one task after the other.
import { parentPort } from 'node:worker_threads';
import { draw, type DrawingTask } from './drawing.ts';

parentPort?.on('message', (task: DrawingTask) => {
  const drawing = draw(task);
  parentPort?.postMessage(drawing, drawing.kind === 'picture' ? [drawing.bytes.buffer] : []);
});
