import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { findTextFault, placeOf } from './json-text.ts'

const isJson = (text: string) => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

test('the scanner finds no fault in a text that JSON.parse accepts, unless it has a name twice', () => {
  fc.assert(fc.property(fc.json({ maxDepth: 6 }), (text) => findTextFault(text) === undefined))
})

test('the scanner finds a fault in every text that JSON.parse refuses, whatever is cut, put in or changed', () => {
  const piece = fc.constantFrom(
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
  )
  const broken = fc
    .tuple(fc.json({ maxDepth: 4 }), fc.nat(), fc.nat({ max: 3 }), piece)
    .map(
      ([text, at, cut, put]) =>
        text.slice(0, at % (text.length + 1)) + put + text.slice((at % (text.length + 1)) + cut),
    )
  fc.assert(
    fc.property(broken, (text) => {
      const fault = findTextFault(text)
      return isJson(text) ? (fault?.duplicate ?? true) : fault !== undefined
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
])('%j is at fault at offset %d: %s', (text, offset, problem) =>
  expect(findTextFault(text)).toMatchObject({ offset, problem, duplicate: false }),
)

test('a name that is given twice is found with its path, however it is written', () => {
  expect(findTextFault('{"a":[{},{"b":1,"\\u0062":2}]}')).toMatchObject({ duplicate: true, path: ['a', 1, 'b'] })
})

test('text that is nested without end is refused, and the process survives it', () => {
  expect(findTextFault('['.repeat(1_000_000))?.problem).toBe('it is nested too deeply')
})

test('places count lines and columns from one', () => {
  expect(placeOf('{\n  "a": x\n}', 9)).toEqual({ line: 2, column: 8 })
})
