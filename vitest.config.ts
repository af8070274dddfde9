export { config as default } from './test/runner/config.ts';
