import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const page = readFileSync(new URL('advisories.md', import.meta.url), 'utf8')
const rows = page
  .split('\n')
  .filter((line) => /^\| (?!Published)/.test(line))
  .map((line) => line.split(' | '))

test('each mistake of others has a test that exists, unless the feature does not', () => {
  expect(rows.length).toBeGreaterThan(50)
  for (const [published, ours, tests] of rows) {
    if (ours!.startsWith('Not built')) expect(tests, published).toBe('– |')
    else expect(namedTests(tests!), published).not.toEqual([])
  }
})

test.each(rows.flatMap(([, , tests]) => namedTests(tests!)))('%s has a test "%s"', (file, name) => {
  expect(readFileSync(new URL(file, import.meta.url), 'utf8')).toContain(name)
})

/** The files that a cell links, each with the names of tests that follow its link. */
function namedTests(cell: string): [file: string, name: string][] {
  return [...cell.matchAll(/\]\(([^)]+\.test\.ts)\)((?:,? "[^"]+")*)/g)].flatMap(([, file, names]) => {
    const quoted = [...names!.matchAll(/"([^"]+)"/g)].map(([, name]): [string, string] => [file!, name!])
    return quoted.length > 0 ? quoted : [[file!, 'test']]
  })
}
