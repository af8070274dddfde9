// Recognizes bodies that are not data by their first bytes: files that people load by mistake, and responses
// of a source without records. Neither status nor header is trusted.
import { Failure } from '../../store/base/failure.ts';
import { extractExcerpt, quoteExcerpt } from './excerpt.ts';

/** A body that is not records. */
export class NoDataFailure extends Failure {
  /** With its article: `a web page ("Please log in")`. */
  readonly what: string;

  constructor(what: string) {
    super('InvalidBody', `the body is ${what}`);
    this.what = what;
  }

  /** The same failure for a response of a source. */
  forSource(): Failure {
    return new Failure('InvalidBody', `the source answered ${this.what}`);
  }
}

interface Magic {
  /** Latin-1. */
  readonly bytes: string;
  readonly at?: number;
  readonly what: string;
}

const OFFICE = 'an office file: export it as CSV';
const EXECUTABLE = 'an executable program';
const BINARY_TABLE = 'export it as Parquet or CSV';
const EXPORT_TABLE = 'export its table as CSV';
const OTHER_PACKING = 'unpack it, or pack it as gzip, zstd or zip';
export const ENCRYPTED_PARQUET = 'an encrypted Parquet file: write it without encryption';

/** The reason of a decoder that failed without one. */
export const UNDECODABLE = 'the body could not be decoded';

const MAGIC: readonly Magic[] = [
  { bytes: '%PDF-', what: 'a PDF document' },
  { bytes: '\x89PNG', what: 'an image (PNG)' },
  { bytes: '\xFF\xD8\xFF', what: 'an image (JPEG)' },
  { bytes: 'GIF87a', what: 'an image (GIF)' },
  { bytes: 'GIF89a', what: 'an image (GIF)' },
  { bytes: 'WEBP', at: 8, what: 'an image (WebP)' },
  { bytes: 'II*\0', what: 'an image (TIFF)' },
  { bytes: 'MM\0*', what: 'an image (TIFF)' },
  { bytes: '\0\0\x01\0', what: 'an image (icon)' },
  { bytes: 'WAVE', at: 8, what: 'a sound (WAV)' },
  { bytes: 'ID3', what: 'a sound (MP3)' },
  { bytes: 'OggS', what: 'a sound or film (Ogg)' },
  { bytes: 'ftyp', at: 4, what: 'a film or an image (MP4, HEIC)' },
  { bytes: '\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1', what: OFFICE },
  { bytes: '\x7FELF', what: EXECUTABLE },
  { bytes: 'MZ', what: EXECUTABLE },
  { bytes: '\xCF\xFA\xED\xFE', what: EXECUTABLE },
  { bytes: '\xCE\xFA\xED\xFE', what: EXECUTABLE },
  { bytes: '\xCA\xFE\xBA\xBE', what: EXECUTABLE },
  { bytes: '\0asm', what: EXECUTABLE },
  { bytes: 'SQLite format 3\0', what: `an SQLite database: ${EXPORT_TABLE}` },
  { bytes: 'DUCK', at: 8, what: `a DuckDB database: ${BINARY_TABLE}` },
  { bytes: 'PARE', what: ENCRYPTED_PARQUET },
  { bytes: 'FEA1', what: `a Feather file of version 1: ${BINARY_TABLE}` },
  { bytes: 'Obj\x01', what: `an Avro file: ${BINARY_TABLE}` },
  { bytes: 'ORC', what: `an ORC file: ${BINARY_TABLE}` },
  { bytes: '\x89HDF\r\n', what: `an HDF5 file: ${BINARY_TABLE}` },
  { bytes: 'CDF\x01', what: `a NetCDF file: ${BINARY_TABLE}` },
  { bytes: '\x93NUMPY', what: `a NumPy array: ${BINARY_TABLE}` },
  { bytes: '\x80\x04\x95', what: `a Python pickle: ${BINARY_TABLE}` },
  { bytes: '\x80\x05\x95', what: `a Python pickle: ${BINARY_TABLE}` },
  { bytes: 'RDX3\n', what: `an R data file: ${BINARY_TABLE}` },
  { bytes: '$FL2', what: `an SPSS file: ${BINARY_TABLE}` },
  { bytes: '<stata_dta>', what: `a Stata file: ${BINARY_TABLE}` },
  { bytes: 'BZh', what: `packed by bzip2: ${OTHER_PACKING}` },
  { bytes: '\xFD7zXZ\0', what: `packed by xz: ${OTHER_PACKING}` },
  { bytes: '7z\xBC\xAF', what: `a 7z archive: ${OTHER_PACKING}` },
  { bytes: 'Rar!', what: `a RAR archive: ${OTHER_PACKING}` },
  { bytes: '\x04"M\x18', what: `packed by lz4: ${OTHER_PACKING}` },
  { bytes: 'ustar', at: 257, what: 'a tar archive: send one file of it' },
  { bytes: '\xD4\xC3\xB2\xA1', what: 'a recording of network packets (pcap)' },
  { bytes: '\x0A\x0D\x0D\x0A', what: 'a recording of network packets (pcapng)' },
  { bytes: '{\\rtf', what: OFFICE },
  { bytes: '%!PS', what: 'a PostScript document' },
  { bytes: '-----BEGIN ', what: 'a certificate or a key' },
  { bytes: 'BEGIN:VCALENDAR', what: 'a calendar' },
  { bytes: 'BEGIN:VCARD', what: 'a list of contacts' },
  { bytes: '#!/', what: 'a script' },
  {
    bytes: 'version https://git-lfs.github.com/',
    what: 'a pointer of Git LFS: fetch the file that it stands for',
  },
];

/** Beginnings of text that could be a word of data: more than the word must match. */
const TEXTS: readonly { readonly pattern: RegExp; readonly what: string }[] = [
  { pattern: /^[A-Za-z_$][\w$.]{0,60}\(\s*[[{]/, what: 'JavaScript (JSONP): request plain JSON' },
  { pattern: /^-----\s*\n|^---\r?\n[\w-]+:/, what: 'a document (YAML)' },
];

/** Bytes of text that are inspected. */
const INSPECTED_BYTES = 64 * 1024;

/**
 * What the body is if it is not data; undefined if it may be data.
 * @param head its first bytes, of text in UTF-8
 */
export function describeNoData(head: Buffer): string | undefined {
  const start = head.toString('latin1', 0, 600);
  const magic = MAGIC.find(({ bytes, at = 0 }) => start.startsWith(bytes, at));
  if (magic !== undefined && !isWord(magic, start)) return magic.what;
  if (head.subarray(0, INSPECTED_BYTES).includes(0)) return undefined;
  const text = head
    .toString('utf8', 0, INSPECTED_BYTES)
    .replace(/^\uFEFF/, '')
    .trimStart();
  return (
    markupIn(text) ??
    markdownIn(text) ??
    sqlIn(text) ??
    protoIn(text) ??
    mailIn(text) ??
    TEXTS.find(({ pattern }) => pattern.test(text))?.what
  );
}

/** Whether the magic bytes may be a word of data: `ORC,1` and `MZ;price` are headers of CSV, `ID3` a name. */
function isWord({ bytes, at = 0 }: Magic, start: string): boolean {
  const isText = /^[\w:%$+-]+$/.test(bytes) && bytes !== '%PDF-';
  if (!isText || bytes.length > 8) return false;
  return /^[\x20-\x7E\t\r\n]*$/.test(start.slice(0, at + bytes.length + 64));
}

const PAGE_TAGS = new Set(
  [
    'html head body meta link style script title base div span p h1 h2 h3 h4 h5 h6 form input table',
    'center br hr ul ol li main section article header footer nav iframe img pre a b i strong em font',
    'noscript template',
  ].flatMap((tags) => tags.split(' ')),
);

/** Adds an excerpt, unless the page has no text. */
function withExcerpt(what: string, text: string): string {
  const excerpt = extractExcerpt(text);
  return excerpt === '""' ? what : `${what} (${excerpt})`;
}

/** Web pages and fragments of them, XML, SVG: `<TICKER>,<DATE>` is a header of CSV. */
function markupIn(text: string): string | undefined {
  let rest = text;
  let isXml = false;
  for (;;) {
    const skipped = /^(?:<!--[\s\S]*?(?:-->|$)|<\?[\s\S]*?(?:\?>|$)|<!doctype\b[^>]*>)\s*/i.exec(
      rest,
    );
    if (skipped === null) break;
    if (/^<!doctype\s+html/i.test(rest)) return withExcerpt('a web page', text);
    isXml ||= /^<[?]|^<!doctype/i.test(rest);
    rest = rest.slice(skipped[0].length);
  }
  const wasComment = rest.length < text.length && !isXml;
  const tag = /^<([a-z_][\w:.-]{0,60})(?:\s[^>]*)?(\/?)>?(.?)/is.exec(rest);
  const [, name = '', closed, next = ''] = tag ?? [];
  const lower = name.toLowerCase();
  if (tag === null) {
    if (isXml) return withExcerpt('XML', text);
    return wasComment && rest.startsWith('<') ? withExcerpt('a web page', text) : undefined;
  }
  if (/[,;|\t]/.test(next) && !isXml) return undefined;
  if (lower === 'svg') return 'an image (SVG)';
  const ends = closed === '/' || rest.toLowerCase().includes(`</${lower}`);
  const isPage = PAGE_TAGS.has(lower);
  const tags = rest.match(/<\/?[a-z][^<>]*>/gi)?.length ?? 0;
  if (isPage && (ends || tags > 1 || /^(?:html|head|body|meta|script)$/.test(lower))) {
    return withExcerpt('a web page', text);
  }
  return isXml || ends ? withExcerpt('XML', text) : undefined;
}

const SQL = /^(?:CREATE (?:TABLE|DATABASE)|INSERT INTO|DROP TABLE|BEGIN TRANSACTION|SET \w+ ?=) /i;

/** Detects a script, below its comments. */
function sqlIn(text: string): string | undefined {
  const lines = text.split('\n', DOCUMENT_LINES);
  const first = lines.find((line) => line.trim() !== '' && !line.startsWith('--'));
  return SQL.test(`${first?.trim()} `) ? `a script of SQL: ${EXPORT_TABLE}` : undefined;
}

/** Lines that are searched for the marks of a document. */
const DOCUMENT_LINES = 200;

const MARKS: readonly RegExp[] = [
  /^#{1,6} \S/,
  /^\s*(?:[-*+]|\d+\.) \S/,
  /^(?:```|~~~)/,
  /\]\(/,
  /^\|?\s*:?-{3,}/,
  /^> /,
  /\*\*\S/,
];

/** Whether the lines that are not comments are a table: all have the same number of delimiters. */
function isTable(lines: readonly string[]): boolean {
  const rows = lines
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .slice(0, TABLE_LINES);
  if (rows.length < 2 || rows.some((line) => /^\|?\s*:?-{3,}/.test(line))) return false;
  return [',', ';', '\t', '|'].some((sign) => {
    const [first = 1, ...others] = rows.map((line) => line.split(sign).length);
    return first > 1 && others.every((cells) => cells === first);
  });
}

/** Lines compared to recognize a table. */
const TABLE_LINES = 5;

/** Detects a schema of Protocol Buffers, below its comments. */
function protoIn(text: string): string | undefined {
  const lines = text.split('\n', DOCUMENT_LINES).map((line) => line.trim());
  const code = lines.filter((line) => line !== '' && !/^(?:\/\/|\/\*|\*)/.test(line));
  const [first = ''] = code;
  const isProto =
    /^(?:syntax|edition) ?= ?["'][\w.]{1,20}["'] ?;/.test(first) ||
    (/^(?:package|import|message|enum|option) /.test(first) &&
      code.some((line) => /^message \w{1,100} ?\{/.test(line)));
  return isProto ? 'a schema of Protocol Buffers (.proto)' : undefined;
}

const MAIL =
  /^(?:from|received|return-path|mime-version|delivered-to|message-id|subject|to|date): \S/i;
/** Lines at the beginning of a message that are inspected, and the least number of mail headers in them. */
const MAIL_LINES = 20;
const MAIL_HEADERS = 3;

function mailIn(text: string): string | undefined {
  const lines = text.split(/\r?\n/, MAIL_LINES);
  const [first = ''] = lines;
  const headers = lines.filter((line) => MAIL.test(line)).length;
  const begins = /^[A-Za-z][A-Za-z-]{1,40}: \S/.test(first) || /^From \S{1,200}@/.test(first);
  return begins && headers >= MAIL_HEADERS ? 'an e-mail message' : undefined;
}

/** Detects Markdown. A heading alone may be a comment above a table; the following lines must match too. */
function markdownIn(text: string): string | undefined {
  const lines = text.split(/\r?\n/, DOCUMENT_LINES);
  const [first = '', second = ''] = lines;
  const heading = /^#{1,6} \S/.test(first) || /^!?\[!?\[/.test(first);
  const underlined = /^(?:={3,}|-{3,})$/.test(second.trim()) && !/[,;|\t]/.test(first);
  if ((!heading && !underlined) || isTable(lines)) return undefined;
  const after = lines.findIndex((line) => !/^#{1,6} \S/.test(line));
  const rest = lines.slice(Math.max(1, after)).filter((line) => line.trim() !== '');
  const marked = rest.some((line) => MARKS.some((mark) => mark.test(line)));
  const prose = lines[after]?.trim() === '' && rest.some((line) => /[.!?:]$/.test(line.trim()));
  if (!underlined && !marked && !prose) return undefined;
  return `a document (Markdown, ${quoteExcerpt(first.replace(/^#+ /, ''))})`;
}
