// Entry of the task that renders the documentation, in a worker thread.
import { renderDocs, type RenderedDocs } from './renderDocs.ts';

export const run = (folder: string): Promise<RenderedDocs> => renderDocs(folder);
