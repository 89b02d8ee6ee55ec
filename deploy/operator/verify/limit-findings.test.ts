import { expect, test } from 'vitest'
import type { FileFinding } from './finding.ts'
import { limitFindings, mostFindings } from './limit-findings.ts'

function limited() {
  const shown: FileFinding[] = []
  return { shown, ...limitFindings(async (finding) => void shown.push(finding)) }
}

const users = { service: 'users', row: 'events position=1', problem: 'it is missing' } as const

test('of each service the first findings are shown, and how many more there are', async () => {
  const { shown, report, end } = limited()
  for (let i = 0; i < 3; i++) await report(Array.from({ length: mostFindings / 2 }, () => users))
  await report([
    { row: 'line 1', problem: 'strange' },
    { ...users, service: 'grants' },
  ])
  expect(await end()).toBe(mostFindings * 1.5 + 2)
  expect(shown).toHaveLength(mostFindings + 3)
  expect(shown.slice(-3)).toEqual([
    { row: 'line 1', problem: 'strange' },
    { ...users, service: 'grants' },
    { service: 'users', row: 'verify', problem: `${mostFindings / 2} more differ, and are not shown` },
  ])
})

test('a finding with a long text is shown in part', async () => {
  const { shown, report, end } = limited()
  await report([{ ...users, row: 'x'.repeat(1_000_000), problem: 'y'.repeat(1_000_000) }])
  expect(await end()).toBe(1)
  expect(shown).toEqual([{ service: 'users', row: `${'x'.repeat(2000)}…`, problem: `${'y'.repeat(2000)}…` }])
})
