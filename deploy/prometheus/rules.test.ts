import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { alerts } from './alerts.ts'
import { rules } from './rules.ts'

test('the file of rules is made of the alerts', async () => {
  await expect(rules).toMatchFileSnapshot('./roster.rules.yml')
})

const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')

test.each(alerts())('$name has a runbook: what it means, how to look, what to do', ({ name }) => {
  const [, runbook = ''] = page.split(`\n### ${name}\n`)
  const text = runbook.split('\n##')[0]!
  const parts = ['**Means.**', '**Look.**', '**Do.**'].map((part) => text.indexOf(part))
  expect(parts.every((at) => at >= 0)).toBe(true)
  expect(parts).toEqual(parts.toSorted((a, b) => a - b))
})

test('there is no runbook of an alert that is not there', () => {
  const named = [...page.matchAll(/^### (Roster\w+)$/gm)].map(([, name]) => name)
  expect(named).toEqual(alerts().map(({ name }) => name))
})
