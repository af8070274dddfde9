// On every screen: the requests that gave what it shows.
import { h, type JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { curlOf, onRequests, requestsMade } from '../asking/requestLog.ts';

export function Curl(): JSX.Element | null {
  const [requests, setRequests] = useState(requestsMade);
  useEffect(() => {
    // The screen asked before this was shown.
    setRequests(requestsMade());
    return onRequests(() => setRequests(requestsMade()));
  }, []);
  if (requests.length === 0) return null;
  const text = requests.map((one) => curlOf(one, location.origin)).join('\n\n');
  return h(
    'details',
    { class: 'curl' },
    h('summary', null, 'The same by curl'),
    h('pre', null, h('code', null, text)),
    h(
      'p',
      { class: 'soft small' },
      'TOKEN is a token of yours, OPERATOR_TOKEN the one in the file admin-token of the data folder.',
    ),
  );
}
