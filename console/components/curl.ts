// Shows the requests of the current screen as curl commands.
import { h, type JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { formatCurl, onRequests, loggedRequests } from '../api/requestLog.ts';

export function Curl(): JSX.Element | null {
  const [requests, setRequests] = useState(loggedRequests);
  useEffect(() => {
    // The screen may have sent requests before this component was mounted.
    setRequests(loggedRequests());
    return onRequests(() => setRequests(loggedRequests()));
  }, []);
  if (requests.length === 0) return null;
  const text = requests.map((one) => formatCurl(one, location.origin)).join('\n\n');
  return h(
    'details',
    { class: 'curl' },
    h('summary', null, 'Requests as curl commands'),
    h('pre', null, h('code', null, text)),
    h(
      'p',
      { class: 'soft small' },
      'TOKEN is one of your tokens; OPERATOR_TOKEN is in the file admin-token of the data folder.',
    ),
  );
}
