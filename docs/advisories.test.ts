import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { runningTests } from '#test/support/running-tests'

const page = readFileSync(new URL('advisories.md', import.meta.url), 'utf8')
const rows = page
  .split('\n')
  .filter((line) => /^\| (?!Published)/.test(line))
  .map((line) => line.split(' | '))

test('each mistake of others has tests by name, unless the feature does not', () => {
  expect(rows.length).toBeGreaterThan(50)
  for (const [published, ours, tests] of rows) {
    if (ours!.startsWith('Not built')) expect(tests, published).toBe('– |')
    else expect(tests, published).toMatch(/^\[[^\]]+\]\([^)]+\) ".*" \|$/)
  }
})

test.each(rows.flatMap(([, , tests]) => namedTests(tests!)))('%s runs a test "%s"', (file, name) => {
  const titles = [...runningTests(new URL(file, import.meta.url))]
  expect(titles.map((title) => title.replaceAll('"', ''))).toContain(name)
})

/** The files that a cell links, each with the titles that follow its link: a file without one has none of that name. */
function namedTests(cell: string): [file: string, name: string][] {
  return [...cell.matchAll(/\]\(([^)]+)\)((?:,? "[^"]+")*)/g)].flatMap(([, file, names]) => {
    const quoted = [...names!.matchAll(/"([^"]+)"/g)].map(([, name]): [string, string] => [file!, name!])
    return quoted.length > 0 ? quoted : [[file!, '']]
  })
}
