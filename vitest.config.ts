export { config as default } from './test/project/runner/config.ts';
