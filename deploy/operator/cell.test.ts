import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { cell, idCell } from './cell.ts'
import { table } from './output.ts'

test('a cell has no run of blanks, no blank but the space, and 200 characters at most', () => {
  expect(cell('a  \t\u2800 \n b     c')).toBe('a \\u{9}\\u{2800} \\u{a} b c')
  expect(cell('x'.repeat(200))).toBe('x'.repeat(200))
  expect(cell('x'.repeat(2_000_000))).toBe(`${'x'.repeat(199)}…`)
  expect(cell('\u3164'.repeat(2_000_000))).toHaveLength(200)
})

test('a cell cannot look like a row of its own, nor make the others wide', () => {
  const lines = table(
    ['ID', 'REASON'],
    [
      ['users-1', `refused${' '.repeat(150)}users-2  fine`],
      ['users-3', 'x'.repeat(1_900_000)],
      ['users-4', 'short'],
    ],
  )
  expect(lines[1]).toBe('users-1  refused users-2 fine')
  expect(lines.map((line) => line.length).toSorted((a, b) => b - a)[0]).toBe('users-3  '.length + 200)
  expect(table(['A'], [['b'], ['c'.repeat(500)]])[1]).toBe('b')
})

test('an id is shown as it is, or so that a shell runs nothing of it', () => {
  expect(idCell('grants/user-removal/17')).toBe('grants/user-removal/17')
  expect(idCell('grants/$(touch$IFS./PWNED)/7')).toBe("'grants/$(touch$IFS./PWNED)/7'")
  for (const id of [
    '$(id)',
    '`id`',
    'a b',
    "a'; id; '",
    "'\u3164'",
    'x\ny',
    `${"'".repeat(300)}$(id)`,
    '!!',
    '~',
    'a\\',
  ]) {
    const word = idCell(id)
    expect(word.length).toBeLessThanOrEqual(200)
    expect(execFileSync('sh', ['-c', `printf %s ${word}`], { encoding: 'utf8' })).toBe(word.slice(1, -1))
  }
})
