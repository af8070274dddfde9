// Prints `N passed, N failed` (`, N skipped`) of the JSON report of a test run.
import { readFileSync } from 'node:fs';

const report = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const { numFailedTests, numPassedTests, numPendingTests, numTodoTests, success } = report;
// A file that fails while it loads or ends, or whose process ends, has no failed test.
const failedFiles = report.testResults.filter(
  ({ assertionResults, status }) =>
    status === 'failed' && assertionResults.every((one) => one.status !== 'failed'),
);
const failed = numFailedTests + failedFiles.length;
const skipped = numPendingTests + numTodoTests;
const counts = `${numPassedTests} passed, ${success ? failed : Math.max(1, failed)} failed`;
process.stdout.write(`${counts}${skipped === 0 ? '' : `, ${skipped} skipped`}\n`);
