// Splits a JSON object into the texts of its values, in their written order. A parsed object would reorder
// numeric names, drop one of two equal names, and round long numbers.

/** @param json an object written by our server, without spaces between its members */
export function memberTexts(json: string): readonly string[] {
  const texts: string[] = [];
  for (let at = json.indexOf('{') + 1; json[at] === '"';) {
    const start = endOfText(json, at) + 1;
    const end = endOfValue(json, start);
    texts.push(json.slice(start, end));
    at = end + 1;
  }
  return texts;
}

/** Returns the position after the closing quote of the text that begins at `at`. */
function endOfText(json: string, at: number): number {
  for (let end = json.indexOf('"', at + 1); end >= 0; end = json.indexOf('"', end + 1)) {
    let escapes = 0;
    while (json[end - 1 - escapes] === '\\') escapes += 1;
    if (escapes % 2 === 0) return end + 1;
  }
  return json.length;
}

/** Returns the position of the comma or the brace after a value. */
function endOfValue(json: string, start: number): number {
  let depth = 0;
  for (let at = start; at < json.length;) {
    const sign = json[at];
    if (depth === 0 && (sign === ',' || sign === '}')) return at;
    if (sign === '[' || sign === '{') depth += 1;
    if (sign === ']' || sign === '}') depth -= 1;
    at = sign === '"' ? endOfText(json, at) : at + 1;
  }
  return json.length;
}
