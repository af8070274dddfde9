// Entry of the chart task in a worker thread.
import { draw, type Drawing, type DrawingTask } from './drawing.ts';

export const run = (task: DrawingTask): Drawing => draw(task);
