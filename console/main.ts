// The console begins: theme, session, and the door to the screen that the address names.
import { h, render } from 'preact';
import { restoreSession } from './asking/session.ts';
import { followLinks } from './routing/place.ts';
import { restoreTheme } from './showing/theme.ts';
import { Door } from './door.ts';

restoreTheme();
restoreSession();
followLinks();
const place = document.getElementById('console');
if (place !== null) render(h(Door, {}), place);
