import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { runningTests } from '#test/support/running-tests'

const page = readFileSync(new URL('threat-model.md', import.meta.url), 'utf8')
const rows = page.split('\n').filter((line) => /^\| (?!Cannot|Captured|-)/.test(line))
const links = (text: string) => [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, link]) => link!)

test('each thing that a party cannot do has a file of tests that run', () => {
  const promises = rows.filter((row) => row.split(' | ').length === 2)
  expect(promises.length).toBeGreaterThan(30)
  for (const row of promises) expect(links(row), row).not.toEqual([])
  for (const link of links(page)) {
    expect(link).toMatch(/\.test\.ts$/)
    expect(runningTests(new URL(link, import.meta.url)), link).not.toEqual(new Set())
  }
})
