import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { RosterError } from './errors.ts'
import { limitOf } from './limits-hit.ts'
import { declared } from './telemetry/instruments.ts'

const known = declared.find(({ name }) => name === 'roster.limit.hits')!.labels['roster.limit'] as string[]
const page = readFileSync(new URL('../docs/errors.md', import.meta.url), 'utf8')

/** Reasons of limits that the gateway counts itself, or that say that a single request is too large. */
const ofGateway = ['RATE_LIMITED', 'TOO_MUCH_UNDER_WAY', 'REQUEST_TOO_LARGE', 'HEADERS_TOO_LARGE']

test('each documented reason of a limit has a label of its own', () => {
  const reasons = [...page.matchAll(/^\| `(\w+)` \| RESOURCE_EXHAUSTED/gm)].map(([, reason]) => reason!)
  expect(reasons.length).toBeGreaterThan(10)
  const counted = [...reasons, 'STORE_OVERLOADED'].filter((reason) => !ofGateway.includes(reason))
  for (const reason of counted) {
    const metadata: Record<string, string> = reason === 'LIMIT_REACHED' ? { limit: 'project.roles' } : {}
    expect(known).toContain(limitOf(new RosterError('RESOURCE_EXHAUSTED', reason, '', { metadata })))
  }
})

test('each documented name of a limit has a label of its own', () => {
  const [, names = ''] = /`LIMIT_REACHED`.*?is its name \((.*?)\)/.exec(page)!
  for (const [, limit] of names.matchAll(/`([\w.]+)`/g)) expect(known).toContain(limit)
})

test('another error is no limit', () => {
  expect(limitOf(new RosterError('NOT_FOUND', 'USER_NOT_FOUND', ''))).toBeUndefined()
})
