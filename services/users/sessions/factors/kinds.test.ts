import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { factorKinds } from './kinds.ts'

const root = new URL('../../../../', import.meta.url)

// What the compiler does not see of a kind: the rest is a missing property of a record.
test.each(Object.entries(factorKinds))('the factor %s has a row in the documents, and a page', (kind, { second }) => {
  const table = readFileSync(new URL('docs/sign-in/reference.md', root), 'utf8')
  expect(table, 'docs/sign-in/reference.md').toContain(`\n| \`${kind}\` |`)
  if (!second) return
  const page = `services/gateway/pages/login/factors/${kind}.ts`
  expect([page, existsSync(new URL(page, root))]).toEqual([page, true])
  const limits = readFileSync(new URL('docs/limits.md', root), 'utf8')
  for (const { most } of second.guesses)
    expect(limits, 'docs/limits.md').toMatch(new RegExp(`second factor.*\\b${most}\\b.*factors/${kind}/`))
})
