// Parses TypeScript exactly, with the compiler's own parser. The only file that uses the compiler's
// programming interface, which TypeScript 7 still calls unstable.
import { dirname, join, normalize } from 'node:path/posix';
import * as ast from 'typescript/unstable/ast';
import { createVirtualFileSystem } from 'typescript/unstable/fs';
import { API } from 'typescript/unstable/sync';

/** One import, re-export or `import()`. `names` is `'*'` when all of the module is imported. */
interface Import {
  readonly line: number;
  readonly specifier: string;
  /** Path in the repository, or undefined for a package or a builtin. */
  readonly target: string | undefined;
  /** True when nothing of it remains at run time. */
  readonly typeOnly: boolean;
  readonly reExport: boolean;
  readonly names: readonly string[] | '*';
}

/** A regular expression: a literal, `new RegExp(…)`, or the text of a schema's `pattern`. */
interface Expression {
  readonly line: number;
  readonly excerpt: string;
  /** Undefined if it is not constant in the source. */
  readonly pattern: string | undefined;
  readonly flags: string;
}

export interface Source {
  /** From the root of the repository, with `/`. */
  readonly path: string;
  readonly text: string;
  /** The text, as long, with comments as spaces and the inside of literals as middle dots. */
  readonly code: string;
  readonly imports: readonly Import[];
  readonly exports: readonly { readonly name: string; readonly line: number }[];
  readonly expressions: readonly Expression[];
}

/** Path -> text, of one tree. */
export type Texts = ReadonlyMap<string, string>;

// The compiler reads from memory only: no file of the machine is opened, nothing is resolved.
const OPTIONS = { noLib: true, noResolve: true, noEmit: true, types: [] };

/** Parses many trees in one start of the compiler, which costs 15-100 ms. */
export function parseTrees(trees: readonly Texts[]): readonly (readonly Source[])[] {
  const files: Record<string, string> = {};
  trees.forEach((tree, index) => {
    for (const [path, text] of tree) files[`/${index}/${path}`] = text;
  });
  const config = { compilerOptions: OPTIONS, files: Object.keys(files) };
  const fs = createVirtualFileSystem({ ...files, '/tsconfig.json': JSON.stringify(config) });
  const api = new API({ cwd: '/', fs });
  try {
    const snapshot = api.updateSnapshot({ openProjects: ['/tsconfig.json'] });
    const program = snapshot.getProjects()[0]?.program;
    return trees.map((tree, index) =>
      [...tree.keys()].map((path) => {
        const file = program?.getSourceFile(`/${index}/${path}`);
        if (file === undefined) throw new Error(`${path} could not be parsed`);
        return describeFile(path, file);
      }),
    );
  } finally {
    api.close();
  }
}

interface Declarations {
  readonly literals: ast.Node[];
  readonly imports: Import[];
  readonly exports: { name: string; line: number }[];
  readonly expressions: Expression[];
}

function describeFile(path: string, file: ast.SourceFile): Source {
  const findings: Declarations = {
    literals: [],
    imports: [],
    exports: [],
    expressions: [],
  };
  const lineOf = lineFinder(file.text);
  const visit = (node: ast.Node): void => {
    if (LITERALS.has(node.kind)) findings.literals.push(node);
    collectImport(path, file, node, lineOf, findings);
    collectExpression(file, node, lineOf, findings);
    node.forEachChild((child) => {
      visit(child);
    });
  };
  visit(file);
  for (const statement of file.statements) {
    const line = lineOf(statement.getStart(file));
    findings.exports.push(...exportedNames(statement).map((name) => ({ name, line })));
  }
  const { literals, ...parts } = findings;
  return { path, text: file.text, code: mask(file, literals), ...parts };
}

/** Line numbers from 1 of character offsets. */
function lineFinder(text: string): (offset: number) => number {
  const starts = [0];
  for (let i = text.indexOf('\n'); i >= 0; i = text.indexOf('\n', i + 1)) starts.push(i + 1);
  return (offset) => {
    let low = 0;
    let high = starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return low + 1;
  };
}

const LITERALS: ReadonlySet<ast.SyntaxKind> = new Set([
  ast.SyntaxKind.StringLiteral,
  ast.SyntaxKind.NoSubstitutionTemplateLiteral,
  ast.SyntaxKind.TemplateHead,
  ast.SyntaxKind.TemplateMiddle,
  ast.SyntaxKind.TemplateTail,
  ast.SyntaxKind.RegularExpressionLiteral,
]);

/** Outside of literals, two slashes or a slash and a star can only begin a comment. */
function mask(file: ast.SourceFile, literals: readonly ast.Node[]): string {
  const { text } = file;
  const ends = new Map(literals.map((node) => [node.getStart(file), node.end]));
  let code = '';
  for (let at = 0; at < text.length;) {
    const literalEnd = ends.get(at);
    const end = literalEnd ?? commentEnd(text, at);
    const part = text.slice(at, end ?? at + 1);
    if (literalEnd !== undefined) code += part[0] + inside(part, '·') + (part.at(-1) ?? '');
    else code += end === undefined ? part : part.replace(/[^\n]/g, ' ');
    at += part.length;
  }
  return code;
}

const inside = (literal: string, fill: string): string =>
  literal.slice(1, -1).replace(/[^\n]/g, fill);

function commentEnd(text: string, at: number): number | undefined {
  const close = text.startsWith('//', at) ? '\n' : text.startsWith('/*', at) ? '*/' : undefined;
  if (close === undefined) return undefined;
  const end = text.indexOf(close, at + 2);
  return end < 0 ? text.length : end + (close === '\n' ? 0 : close.length);
}

type LineOf = (offset: number) => number;

function collectImport(
  path: string,
  file: ast.SourceFile,
  node: ast.Node,
  lineOf: LineOf,
  findings: Declarations,
): void {
  const declaration = importedNames(node);
  if (declaration === undefined) return;
  const { specifier } = declaration;
  const target = specifier.startsWith('.') ? normalize(join(dirname(path), specifier)) : undefined;
  findings.imports.push({ ...declaration, target, line: lineOf(node.getStart(file)) });
}

type ImportedNames = Pick<Import, 'specifier' | 'typeOnly' | 'reExport' | 'names'>;

function importedNames(node: ast.Node): ImportedNames | undefined {
  if (ast.isImportDeclaration(node)) return declaredImport(node);
  if (ast.isExportDeclaration(node)) return reExported(node);
  const argument = inlineImport(node);
  if (argument === undefined || !ast.isStringLiteral(argument)) return undefined;
  const typeOnly = ast.isImportTypeNode(node);
  return { specifier: argument.text, typeOnly, reExport: false, names: '*' };
}

/** The argument of `import('a')`, as an expression or as a type. */
function inlineImport(node: ast.Node): ast.Node | undefined {
  if (ast.isImportTypeNode(node)) {
    return ast.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined;
  }
  const called = ast.isCallExpression(node) ? node : undefined;
  return called?.expression.kind === ast.SyntaxKind.ImportKeyword ? called.arguments[0] : undefined;
}

// `import { type A }` stays an import at run time (only the names go): not type-only.
function declaredImport(node: ast.ImportDeclaration): ImportedNames | undefined {
  if (!ast.isStringLiteral(node.moduleSpecifier)) return undefined;
  const clause = node.importClause;
  const bindings = clause?.namedBindings;
  const named = bindings !== undefined && ast.isNamedImports(bindings) ? bindings.elements : [];
  const names = named.map((element) => (element.propertyName ?? element.name).text);
  if (clause?.name !== undefined) names.push('default');
  const all = bindings !== undefined && ast.isNamespaceImport(bindings);
  const typeOnly = clause?.phaseModifier === ast.SyntaxKind.TypeKeyword;
  const specifier = node.moduleSpecifier.text;
  return { specifier, typeOnly, reExport: false, names: all ? '*' : names };
}

function reExported(node: ast.ExportDeclaration): ImportedNames | undefined {
  if (node.moduleSpecifier === undefined || !ast.isStringLiteral(node.moduleSpecifier)) {
    return undefined;
  }
  const clause = node.exportClause;
  const names =
    clause !== undefined && ast.isNamedExports(clause)
      ? clause.elements.map((element) => (element.propertyName ?? element.name).text)
      : '*';
  const specifier = node.moduleSpecifier.text;
  return { specifier, typeOnly: node.isTypeOnly, reExport: true, names };
}

function exportedNames(statement: ast.Statement): readonly string[] {
  if (ast.isExportAssignment(statement)) return ['default'];
  if (ast.isExportDeclaration(statement)) {
    const clause = statement.exportClause;
    if (clause === undefined || !ast.isNamedExports(clause)) return [];
    return clause.elements.map((element) => element.name.text);
  }
  if (!isExported(statement)) return [];
  if (ast.isVariableStatement(statement)) {
    return statement.declarationList.declarations.flatMap((one) => boundNames(one.name));
  }
  const name = 'name' in statement ? (statement.name as ast.Node | undefined) : undefined;
  return name !== undefined && ast.isIdentifier(name) ? [name.text] : [];
}

function isExported(statement: ast.Statement): boolean {
  let exported = false;
  statement.forEachChild((child) => {
    exported ||= child.kind === ast.SyntaxKind.ExportKeyword;
  });
  return exported;
}

/** The identifiers of `a`, `{ a, b: [c] }`. */
function boundNames(name: ast.Node): readonly string[] {
  if (ast.isIdentifier(name)) return [name.text];
  const names: string[] = [];
  name.forEachChild((element) => {
    const bound = ast.isBindingElement(element) ? element.name : undefined;
    if (bound !== undefined) names.push(...boundNames(bound));
  });
  return names;
}

function collectExpression(
  file: ast.SourceFile,
  node: ast.Node,
  lineOf: LineOf,
  findings: Declarations,
): void {
  const parts = expressionOf(file, node);
  if (parts === undefined) return;
  const line = lineOf(node.getStart(file));
  findings.expressions.push({ line, excerpt: node.getText(file).slice(0, 200), ...parts });
}

function expressionOf(
  file: ast.SourceFile,
  node: ast.Node,
): Pick<Expression, 'pattern' | 'flags'> | undefined {
  if (node.kind === ast.SyntaxKind.RegularExpressionLiteral) {
    const text = node.getText(file);
    const end = text.lastIndexOf('/');
    return { pattern: text.slice(1, end), flags: text.slice(end + 1) };
  }
  if (ast.isPropertyAssignment(node)) {
    const isPattern = node.name.getText(file) === 'pattern';
    const isText =
      ast.isStringLiteral(node.initializer) ||
      node.initializer.kind === ast.SyntaxKind.TemplateExpression;
    return isPattern && isText
      ? { pattern: constantText(file, node.initializer), flags: 'u' }
      : undefined;
  }
  const call = ast.isNewExpression(node) || ast.isCallExpression(node) ? node : undefined;
  if (call === undefined || call.expression.getText(file) !== 'RegExp') return undefined;
  const [pattern, flags] = call.arguments ?? [];
  const texts = [pattern, flags].map((text) => text && constantText(file, text));
  return { pattern: texts[0], flags: texts[1] ?? '' };
}

/** The text that a literal is, or a template of constants of the same file that are literals. */
function constantText(file: ast.SourceFile, node: ast.Node): string | undefined {
  if (ast.isStringLiteral(node) || ast.isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (ast.isTaggedTemplateExpression(node)) {
    if (node.tag.getText(file) !== 'String.raw') return undefined;
    const { template } = node;
    return ast.isNoSubstitutionTemplateLiteral(template)
      ? template.getText(file).slice(1, -1)
      : undefined;
  }
  if (ast.isIdentifier(node)) {
    const value = constantOf(file, node.text);
    return value && constantText(file, value);
  }
  if (ast.isNumericLiteral(node)) return node.text;
  if (!ast.isTemplateExpression(node)) return undefined;
  const parts = node.templateSpans.map((span) => {
    const hole = constantText(file, span.expression);
    return hole === undefined ? undefined : hole + span.literal.text;
  });
  return parts.includes(undefined) ? undefined : node.head.text + parts.join('');
}

/** The initializer of a `const` at the top of the file. */
function constantOf(file: ast.SourceFile, name: string): ast.Node | undefined {
  for (const statement of file.statements) {
    if (!ast.isVariableStatement(statement)) continue;
    for (const one of statement.declarationList.declarations) {
      if (ast.isIdentifier(one.name) && one.name.text === name) return one.initializer;
    }
  }
  return undefined;
}
