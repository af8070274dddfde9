// Searches the documentation in the browser. The index is loaded with the first letter that is typed.
import MiniSearch from './minisearch.js';

const RESULTS_MAX = 12;
const input = document.getElementById('search');
const list = document.getElementById('results');
let index;

async function loadIndex() {
  const response = await fetch('/docs/assets/search.json');
  if (!response.ok) throw new Error(`the search index is not available: ${response.status}`);
  return MiniSearch.loadJSON(await response.text(), {
    fields: ['title', 'text'],
    storeFields: ['title'],
  });
}

async function search() {
  const words = input.value.trim();
  index ??= loadIndex();
  const pages = await index;
  const options = { prefix: true, fuzzy: 0.15, boost: { title: 3 } };
  const exact = pages.search(words, { ...options, combineWith: 'AND' });
  const found = exact.length > 0 ? exact : pages.search(words, options);
  // An older, slower search must not replace the results of what is typed now.
  if (input.value.trim() !== words) return;
  const items = found.slice(0, RESULTS_MAX).map(({ id, title }) => {
    const link = document.createElement('a');
    link.href = `/docs/${id}`;
    link.textContent = title;
    const item = document.createElement('li');
    item.append(link);
    return item;
  });
  if (words !== '' && items.length === 0) {
    const item = document.createElement('li');
    item.textContent = `Nothing found for "${words}"`;
    items.push(item);
  }
  list.replaceChildren(...(words === '' ? [] : items));
}

input.addEventListener('input', () => void search());
document.addEventListener('keydown', (event) => {
  const isTyping = document.activeElement instanceof HTMLInputElement;
  if (event.key === '/' && !isTyping) {
    event.preventDefault();
    input.focus();
  }
  if (event.key === 'Escape') {
    input.value = '';
    list.replaceChildren();
  }
});
