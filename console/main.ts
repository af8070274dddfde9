// Entry point of the console: restores theme and session, then renders the app.
import { h, render } from 'preact';
import { restoreSession } from './api/session.ts';
import { followLinks } from './routing/place.ts';
import { restoreTheme } from './components/theme.ts';
import { App } from './app.ts';

restoreTheme();
restoreSession();
followLinks();
const place = document.getElementById('console');
if (place !== null) render(h(App, {}), place);
