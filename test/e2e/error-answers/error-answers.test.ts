import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { authorizeRequests } from './authorize-requests.ts'
import { differences } from './differences.ts'
import { startOidcProvider } from './oidc-provider.ts'
import type { Peer } from './peer.ts'
import { programRequests } from './program-requests.ts'
import { openRoster } from './roster.ts'

let roster: Peer
let oracle: Awaited<ReturnType<typeof startOidcProvider>>
// It advises whoever would run it in earnest.
const advice = [vi.spyOn(console, 'info'), vi.spyOn(console, 'warn')]
beforeAll(async () => {
  for (const each of advice) each.mockReturnValue()
  ;[roster, oracle] = await Promise.all([openRoster(), startOidcProvider()])
})
afterAll(() => {
  oracle?.stop()
  for (const each of advice) each.mockRestore()
})

const requests = { ...authorizeRequests, ...programRequests }
const other = new Map(differences.flatMap(({ answers }) => Object.entries(answers)))

test.each(Object.keys(requests))('oidc-provider answers as Roster does, or differs for a reason: %s', async (name) => {
  const [ours, theirs] = [await requests[name]!(roster), await requests[name]!(oracle)]
  expect(ours).toBe(other.get(name) ?? theirs)
  // A difference that is gone has no reason.
  expect(ours !== theirs).toBe(other.has(name))
})

test('each difference is one of a request', () => {
  expect(Object.keys(requests)).toEqual(expect.arrayContaining([...other.keys()]))
})
