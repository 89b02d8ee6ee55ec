import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseText, TextFault } from './text.ts'

function faultOf(text: string): TextFault | undefined {
  try {
    parseText(text)
    return undefined
  } catch (error) {
    if (error instanceof TextFault) return error
    throw error
  }
}

const ours = (text: string) => {
  const fault = faultOf(text)
  return fault ? fault.kind : parseText(text)
}
const theirs = (text: string) => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return 'broken'
  }
}

test('a text is read or refused as JSON.parse does, unless it has a name twice, whatever is cut, put in or changed', () => {
  const pieces = [
    '"',
    '\\',
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '0',
    '-',
    '.',
    'e',
    't',
    'null',
    '\u0001',
    '\\u12',
    ' ',
    '\u00a0',
  ]
  const changed = fc
    .tuple(fc.json({ maxDepth: 4 }), fc.nat(), fc.nat({ max: 3 }), fc.constantFrom(...pieces))
    .map(([text, at, cut, put]) => {
      const place = at % (text.length + 1)
      return text.slice(0, place) + put + text.slice(place + cut)
    })
  fc.assert(
    fc.property(fc.oneof(fc.json(), changed), (text) => {
      const read = ours(text)
      if (read !== 'duplicate') expect(withoutBig(read)).toEqual(theirs(text))
    }),
    { numRuns: 2000 },
  )
})

test.each([
  ['{"a":1,}', 7, 'a name in double quotes is expected'],
  ['{"a" 1}', 5, 'a colon is expected'],
  ['{"a":1 "b":2}', 7, 'a comma or } is expected'],
  ['[1 2]', 3, 'a comma or ] is expected'],
  ['{"a":tru}', 5, 'a value is expected'],
  ['{"a":"x', 7, 'the end comes too soon'],
  ['{"a":[', 6, 'the end comes too soon'],
  ['', 0, 'the end comes too soon'],
  ['{} x', 3, 'something follows the end'],
  ['"\\x"', 1, 'there is no such escape'],
  ['"\n"', 1, 'a control character must be escaped'],
])('%j is at fault at offset %d: %s', (text, offset, message) =>
  expect(faultOf(text)).toMatchObject({ offset, message, kind: 'broken' }),
)

test('a name that is given twice is found with its path, however it is written', () => {
  expect(faultOf('{"a":[{},{"b":1,"\\u0062":2}]}')).toMatchObject({ kind: 'duplicate', path: ['a', 1, 'b'] })
})

test('text that is nested without end is refused, and the process survives it', () => {
  expect(faultOf('['.repeat(1_000_000))?.message).toBe('it is nested too deeply')
})

function withoutBig(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (Array.isArray(value)) return value.map(withoutBig)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withoutBig(item)]))
}
