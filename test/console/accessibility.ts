// Accessibility of a page for people who do not see or point: checked in the browser's own accessibility tree
// and in the page. One line for each fault.
import type { Page } from 'playwright-core';

interface Node {
  readonly nodeId: string;
  readonly ignored: boolean;
  readonly role?: { readonly value: string };
  readonly name?: { readonly value: string };
}

/** Roles that need a name. */
const NAMED = new Set([
  'button',
  'link',
  'textbox',
  'searchbox',
  'combobox',
  'checkbox',
  'radio',
  'slider',
  'spinbutton',
  'img',
  'dialog',
  'region',
  'progressbar',
  'tab',
  'menuitem',
  'table',
  'listbox',
]);

const names = async (page: Page): Promise<readonly string[]> => {
  const session = await page.context().newCDPSession(page);
  const { nodes } = (await session.send('Accessibility.getFullAXTree')) as {
    nodes: readonly Node[];
  };
  await session.detach();
  return nodes
    .filter(({ ignored, role }) => !ignored && NAMED.has(role?.value ?? ''))
    .filter(({ name }) => (name?.value ?? '').trim() === '')
    .map(({ role }) => `a ${role?.value} has no name`);
};

/** Runs in the page: checks structure, order and focus. */
const LOOK = `(() => {
  const faults = [];
  const shown = (node) => node.checkVisibility({ visibilityProperty: true });
  const all = (selector) => [...document.querySelectorAll(selector)].filter(shown);
  if (all('main').length !== 1) faults.push(all('main').length + ' main landmarks');
  if (document.documentElement.lang === '') faults.push('no language');
  if (document.title.trim() === '') faults.push('no title');
  if (all('h1').length !== 1) faults.push(all('h1').length + ' headings of level 1');
  let level = 0;
  for (const heading of all('h1, h2, h3, h4, h5, h6')) {
    const own = Number(heading.tagName[1]);
    if (own > level + 1 && heading.closest('dialog') === null)
      faults.push('heading "' + heading.textContent + '" jumps from level ' + level + ' to ' + own);
    level = own;
  }
  const ids = [...document.querySelectorAll('[id]')].map((node) => node.id);
  for (const id of new Set(ids))
    if (ids.filter((one) => one === id).length > 1) faults.push('id ' + id + ' twice');
  for (const node of document.querySelectorAll('[tabindex]'))
    if (node.tabIndex > 0) faults.push('a positive tabindex on ' + node.tagName);
  for (const node of document.querySelectorAll('[aria-controls], [aria-labelledby], [aria-describedby]'))
    for (const name of ['aria-controls', 'aria-labelledby', 'aria-describedby'])
      for (const id of (node.getAttribute(name) ?? '').split(' ').filter(Boolean))
        if (document.getElementById(id) === null) faults.push(name + ' names no ' + id);
  for (const table of all('table'))
    if (table.querySelector('caption') === null) faults.push('a table without a caption');
  for (const picture of document.querySelectorAll('img:not([alt])'))
    faults.push('a picture without alt: ' + picture.src);
  for (const node of document.querySelectorAll('[aria-hidden=true] :is(a[href], button, input, select)'))
    faults.push('a hidden ' + node.tagName + ' can be focused');
  for (const node of all('label'))
    if (node.htmlFor === '' && node.querySelector('input, select, textarea') === null)
      faults.push('a label of nothing: ' + node.textContent);
  const before = document.activeElement;
  const focusable = 'a[href], button:not(:disabled), input, select, textarea, summary, [tabindex="0"]';
  for (const node of all(focusable)) {
    if (node.matches('.skip, [tabindex="-1"]') || node.closest('[inert]')) continue;
    node.focus({ preventScroll: true, focusVisible: true });
    if (document.activeElement !== node) continue;
    const style = getComputedStyle(node);
    const around = getComputedStyle(node.closest('.editor') ?? node);
    if (parseFloat(style.outlineWidth) < 2 && parseFloat(around.outlineWidth) < 2 && !node.shadowRoot)
      faults.push(
        'focus is not seen on ' + node.tagName + ' ' +
          (node.getAttribute('aria-label') ?? node.textContent),
      );
  }
  before?.focus?.({ preventScroll: true });
  return faults;
})()`;

export async function accessible(page: Page): Promise<readonly string[]> {
  const structure = await page.evaluate<readonly string[]>(LOOK);
  return [...structure, ...(await names(page))];
}
