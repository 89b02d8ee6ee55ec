/** A JSON value. A whole number that no double surely holds is a bigint. */
export type Json = string | number | bigint | boolean | null | Json[] | { [name: string]: Json }

/** A place in a JSON document: member names and array indices. */
export type JsonPath = (string | number)[]

/** A text is no JSON, or has a name twice, or more values than may be. */
export class TextFault extends Error {
  /** How many UTF-16 units stand before it. */
  readonly offset: number
  readonly path: JsonPath
  readonly kind: 'broken' | 'duplicate' | 'too many'

  constructor({ offset, path }: Reader, problem: string, kind: TextFault['kind'] = 'broken') {
    super(problem)
    this.offset = offset
    this.path = path
    this.kind = kind
  }
}

/** Parses a JSON text of at most `most` values, in which no object has a name twice. Throws a `TextFault`. */
export function parseText(text: string, most = Infinity): Json {
  const reader: Reader = { text, offset: 0, path: [], left: most }
  const value = readValue(reader)
  if (peek(reader) !== '') throw new TextFault(reader, 'something follows the end')
  return value
}

/** The digits of a number as ProtoJSON has whole numbers: also with zeros for a fraction, or with an exponent. */
export function wholeNumber(text: string): string | undefined {
  const [, sign, before, after = '', exponent = '0'] =
    /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  if (before === undefined) return undefined
  const digits = before + after
  if (/^0+$/.test(digits)) return '0'
  const end = before.length + Number(exponent)
  if (end > mostDigits + digits.length || /[1-9]/.test(digits.slice(Math.max(end, 0)))) return undefined
  const whole = digits.slice(0, end).padEnd(end, '0').replace(/^0+/, '')
  return whole.length > mostDigits ? undefined : `${sign}${whole}`
}

/** No whole number of 64 bits has more. */
const mostDigits = 20

interface Reader {
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

function readValue(reader: Reader): Json {
  const next = peek(reader)
  if (reader.path.length > maxDepth) throw new TextFault(reader, 'it is nested too deeply')
  if (--reader.left < 0) throw new TextFault(reader, 'it has too many values', 'too many')
  if (next === '{') return readObject(reader)
  if (next === '[') return readArray(reader)
  if (next === '"') return readString(reader)
  const start = reader.offset
  if (!skip(reader, literals)) throw new TextFault(reader, missingValue(next))
  return readLiteral(reader.text.slice(start, reader.offset))
}

function readLiteral(text: string): Json {
  const value = JSON.parse(text) as Json
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  const whole = wholeNumber(text)
  return whole === undefined ? value : BigInt(whole)
}

function missingValue(next: string): string {
  if (next === '') return 'the end comes too soon'
  return next === '\ufeff' ? 'a byte order mark is no part of JSON' : 'a value is expected'
}

function readObject(reader: Reader): Json {
  const members = new Map<string, Json>()
  readItems(reader, '}', 'a comma or } is expected', () => {
    if (peek(reader) !== '"') throw new TextFault(reader, 'a name in double quotes is expected')
    const { offset } = reader
    const name = readString(reader)
    reader.path.push(name)
    if (members.has(name)) throw new TextFault({ ...reader, offset }, 'the name is given twice', 'duplicate')
    if (peek(reader) !== ':') throw new TextFault(reader, 'a colon is expected')
    reader.offset++
    members.set(name, readValue(reader))
    reader.path.pop()
  })
  // From entries also "__proto__" becomes a member.
  return Object.fromEntries(members)
}

function readArray(reader: Reader): Json {
  const items: Json[] = []
  readItems(reader, ']', 'a comma or ] is expected', () => {
    reader.path.push(items.length)
    items.push(readValue(reader))
    reader.path.pop()
  })
  return items
}

function readItems(reader: Reader, end: string, problem: string, readItem: () => void) {
  reader.offset++
  if (peek(reader) === end) return void reader.offset++
  for (;;) {
    readItem()
    const next = peek(reader)
    if (next !== ',' && next !== end) throw new TextFault(reader, next === '' ? 'the end comes too soon' : problem)
    reader.offset++
    if (next === end) return
  }
}

function readString(reader: Reader): string {
  const { text } = reader
  const start = reader.offset++
  while (skip(reader, letters));
  const next = text[reader.offset]
  if (next === undefined) throw new TextFault(reader, 'the end comes too soon')
  if (next === '\\') throw new TextFault(reader, 'there is no such escape')
  if (next !== '"') throw new TextFault(reader, 'a control character must be escaped')
  const written = text.slice(start, ++reader.offset)
  return written.includes('\\') ? (JSON.parse(written) as string) : written.slice(1, -1)
}

function peek(reader: Reader): string {
  const next = reader.text[reader.offset] ?? ''
  if (next > ' ') return next
  skip(reader, blanks)
  return reader.text[reader.offset] ?? ''
}

function skip(reader: Reader, pattern: RegExp): boolean {
  pattern.lastIndex = reader.offset
  const found = pattern.test(reader.text)
  if (found) reader.offset = pattern.lastIndex
  return found
}
