import { expect, test } from 'vitest'
import { documentPart } from './document-part.ts'

test.each([
  ['operations.md', 'metrics'],
  ['operations.md', 'alerts'],
  ['reliability.md', 'matrix'],
  ['upgrading.md', 'numbers'],
])('docs/%s has a place for the %s, which holds a table and no mark', (document, name) => {
  const { text } = documentPart(document, name)
  expect(text).toMatch(/\|$|\.$/)
  expect(text).toContain('\n|')
  expect(text).not.toContain('<!--')
})

test('a document without a place is an error', () => {
  expect(() => documentPart('operations.md', 'matrix')).toThrow('docs/operations.md has no place for the matrix')
})
