/** A place in a JSON document: member names and array indices. */
export type JsonPath = (string | number)[]

/** A fault of a JSON text. */
export interface TextFault {
  /** How many UTF-16 units stand before it. */
  offset: number
  problem: string
  /** Its place in the document. */
  path: JsonPath
  /** The text may be JSON, but an object has a name twice. */
  duplicate: boolean
  /** The text may be JSON, but has more values than the scan looks at. */
  tooMany: boolean
}

/**
 * Finds the first fault of a JSON text of at most `most` values. An object with the same name twice is a fault too.
 * Undefined where it has none.
 */
export function findTextFault(text: string, most = Infinity): TextFault | undefined {
  try {
    scanDocument({ text, offset: 0, path: [], left: most })
    return undefined
  } catch (error) {
    if (error instanceof FaultFound) return error.fault
    throw error
  }
}

const newline = 10

/** The line and column of an offset in a text, both from 1. */
export function placeOf(text: string, offset: number): { line: number; column: number } {
  let [line, start] = [1, 0]
  for (let at = 0; at < offset; at++)
    if (text.charCodeAt(at) === newline) {
      line++
      start = at + 1
    }
  return { line, column: offset - start + 1 }
}

class FaultFound extends Error {
  readonly fault: TextFault

  constructor(fault: TextFault) {
    super(fault.problem)
    this.fault = fault
  }
}

interface Scanner {
  text: string
  offset: number
  path: JsonPath
  /** How many more values may follow. */
  left: number
}

const maxDepth = 200
const blanks = /[ \t\r\n]*/y
const literals = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
// Matches at most a thousand pieces at a time: an expression that repeats very often overflows the stack of the engine.
const letters = /(?:[ !#-[\]-\uffff]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})){1,1000}/y

function scanDocument(scanner: Scanner) {
  scanValue(scanner)
  if (peek(scanner) !== '') fail(scanner, 'something follows the end')
}

function scanValue(scanner: Scanner) {
  const next = peek(scanner)
  if (scanner.path.length > maxDepth) fail(scanner, 'it is nested too deeply')
  if (--scanner.left < 0) fail(scanner, 'it has too many values', 'tooMany')
  if (next === '{') scanObject(scanner)
  else if (next === '[') scanArray(scanner)
  else if (next === '"') scanString(scanner)
  else if (!skip(scanner, literals)) fail(scanner, missingValue(next))
}

function missingValue(next: string): string {
  if (next === '') return 'the end comes too soon'
  return next === '\ufeff' ? 'a byte order mark is no part of JSON' : 'a value is expected'
}

function scanObject(scanner: Scanner) {
  const names = new Set<string>()
  scanItems(scanner, '}', 'a comma or } is expected', () => {
    if (peek(scanner) !== '"') fail(scanner, 'a name in double quotes is expected')
    const start = scanner.offset
    scanString(scanner)
    const written = scanner.text.slice(start + 1, scanner.offset - 1)
    const name = written.includes('\\') ? (JSON.parse(`"${written}"`) as string) : written
    scanner.path.push(name)
    if (names.has(name)) fail({ ...scanner, offset: start }, 'the name is given twice', 'duplicate')
    names.add(name)
    if (peek(scanner) !== ':') fail(scanner, 'a colon is expected')
    scanner.offset++
    scanValue(scanner)
    scanner.path.pop()
  })
}

function scanArray(scanner: Scanner) {
  let index = 0
  scanItems(scanner, ']', 'a comma or ] is expected', () => {
    scanner.path.push(index++)
    scanValue(scanner)
    scanner.path.pop()
  })
}

function scanItems(scanner: Scanner, end: string, problem: string, scanItem: () => void) {
  scanner.offset++
  if (peek(scanner) === end) return void scanner.offset++
  for (;;) {
    scanItem()
    const next = peek(scanner)
    if (next !== ',' && next !== end) fail(scanner, next === '' ? 'the end comes too soon' : problem)
    scanner.offset++
    if (next === end) return
  }
}

function scanString(scanner: Scanner) {
  const { text } = scanner
  scanner.offset++
  while (skip(scanner, letters));
  const next = text[scanner.offset]
  if (next === undefined) fail(scanner, 'the end comes too soon')
  if (next === '\\') fail(scanner, 'there is no such escape')
  if (next !== '"') fail(scanner, 'a control character must be escaped')
  scanner.offset++
}

function peek(scanner: Scanner): string {
  skip(scanner, blanks)
  return scanner.text[scanner.offset] ?? ''
}

function skip(scanner: Scanner, pattern: RegExp): boolean {
  pattern.lastIndex = scanner.offset
  const found = pattern.test(scanner.text)
  if (found) scanner.offset = pattern.lastIndex
  return found
}

function fail({ offset, path }: Scanner, problem: string, kind?: 'duplicate' | 'tooMany'): never {
  const [duplicate, tooMany] = [kind === 'duplicate', kind === 'tooMany']
  throw new FaultFound({ offset, problem, path: [...path], duplicate, tooMany })
}
