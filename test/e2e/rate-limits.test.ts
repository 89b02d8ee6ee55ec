import { beforeAll, describe, expect, test, vi } from 'vitest'
import { admin, newMember, newOrganization, ok } from '../examples/people.ts'
import { type Answer, factsOf } from './clients/call.ts'
import { call as json, over } from './clients/encodings.ts'
import { type OpenStream, streaming } from './clients/streams.ts'

let organization: string
let other: { token: string; userId: string }

beforeAll(async () => {
  organization = await newOrganization()
  other = await newMember(organization, [])
})

/**
 * Makes so many calls, forty at a time, and gives the number that passed. Every other answer must name a retry time.
 */
async function passed(count: number, once: () => Promise<Answer>): Promise<number> {
  let [left, refused] = [count, 0]
  async function work() {
    while (left-- > 0) {
      const answer = await once()
      if (answer.error?.code !== 8) continue
      refused++
      expect(factsOf(answer)).toMatchObject({
        reason: 'RATE_LIMITED',
        retryDelay: expect.stringMatching(/^[1-9]\d*s$/),
      })
    }
  }
  await Promise.all(Array.from({ length: 40 }, work))
  return count - refused
}

describe.each(over('grpc-web'))('calls a second over $encoding', ({ call }) => {
  test('a caller without roles writes 200 times at once and 20 times a second, and others go on', async () => {
    const me = await newMember(organization, [])
    const started = performance.now()
    // Invalid requests count too.
    const count = await passed(600, () => call('UpdateMyProfile', {}, me))
    const seconds = (performance.now() - started) / 1000
    expect(count).toBeGreaterThanOrEqual(200)
    expect(count).toBeLessThanOrEqual(200 + 20 * (seconds + 1))
    expect(count).toBeLessThan(600)
    expect(factsOf(await call('UpdateMyProfile', {}, other)).code).toBe(3)
    ok(await call('GetUser', { userId: me.userId }, me))
  })

  test('an owner of the instance may call without limit', async () => {
    expect(await passed(600, () => call('UpdateMyProfile', {}, admin()))).toBe(600)
  })
})

test('a caller with a role writes more often than one without; reads may be ten times as many', async () => {
  const [member, me] = [await newMember(organization, ['ORG_OWNER_VIEWER']), await newMember(organization, [])]
  expect(await passed(600, () => json('UpdateMyProfile', {}, member))).toBe(600)
  expect(await passed(600, () => json('GetUser', { userId: me.userId }, me))).toBe(600)
})

test.each(streaming)('a caller may have ten streams open over $encoding', async ({ open }) => {
  const me = await newMember(organization, ['ORG_OWNER'])
  const streams: OpenStream[] = Array.from({ length: 10 }, () => open('WatchOrganizationEvents', {}, me))
  await vi.waitFor(() => streams.forEach(({ messages }) => expect(messages.length).toBeGreaterThan(0)), 20_000)
  const status = await open('WatchOrganizationEvents', {}, me).ended
  expect(status).toMatchObject({
    code: 8,
    details: [{ reason: 'LIMIT_REACHED', metadata: { limit: 'streams.caller' } }, {}],
  })
  for (const stream of streams) stream.cancel()
})
