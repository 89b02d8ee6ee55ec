import { beforeAll, describe, expect, test } from 'vitest'
import { admin, getUser, newHuman, newMember, newOrganization, ok, unique, uniqueEmail } from '../../examples/people.ts'
import { type Answer, factsOf } from '../clients/call.ts'
import { over } from '../clients/encodings.ts'
import { hasMailbox, mailCount, mailTo } from '../mailbox.ts'

let organizations: string[]
let users: string[]

beforeAll(async () => {
  organizations = await Promise.all([newOrganization(), newOrganization()])
  users = await Promise.all(Array.from({ length: 20 }, async (_, n) => (await newHuman(organizations[n % 2]!)).userId))
})

const expectThrottled = (answer: Answer) => {
  expect(factsOf(answer)).toMatchObject({ code: 8, reason: 'MAILS_THROTTLED', metadata: { limit: 'address' } })
  const { retryDelay } = factsOf(answer)
  expect(parseInt(retryDelay!)).toBeGreaterThan(0)
  expect(parseInt(retryDelay!)).toBeLessThanOrEqual(600)
  if (answer.http === 429) expect(answer.headers['retry-after']).toBe(String(parseInt(retryDelay!)))
}

const thrown = (answers: Answer[]) => answers.filter((answer) => factsOf(answer).reason === 'MAILS_THROTTLED')

describe.each(over('grpc'))('one address gets five mails in ten minutes over $encoding', ({ call }) => {
  const create = (email: string, userName = unique('human')) =>
    call(
      'AddHumanUser',
      { userName, profile: { firstName: 'A', lastName: 'B' }, email: { email } },
      admin(organizations[0]),
    )

  test('for any user, in any organization, with any number of concurrent requests', async () => {
    const victim = uniqueEmail()
    const answers = await Promise.all(users.map((userId) => call('SetEmail', { userId, email: victim }, admin())))
    expect(answers.filter(({ error }) => !error)).toHaveLength(5)
    for (const answer of thrown(answers)) expectThrottled(answer)
    expect(thrown(answers)).toHaveLength(15)
    const has = await Promise.all(users.map(async (userId) => (await getUser(userId)).human.email.email === victim))
    expect(has).toEqual(answers.map(({ error }) => !error))
    if (!hasMailbox()) return
    await mailTo(victim, 5)
    expect(await mailCount(victim)).toBe(5)
  })

  test('creations, the user’s own changes and resent codes count too; a refusal changes nothing', async () => {
    const [name, me] = [unique('victim'), await newMember(organizations[1]!, [])]
    const spelt = [`${name}@example.com`, `${name.toUpperCase()}@Example.COM`, `${name}+a@example.com`]
    for (const email of [...spelt, spelt[0]!]) ok(await create(email))
    // A user's own change sends a mail to the address in one more spelling.
    ok(await call('SetEmail', { userId: me.userId, email: `${name}+me@example.com` }, me))
    // Its mail adds one more event, at any time.
    const before = (await getUser(me.userId)).human
    expectThrottled(await call('SetEmail', { userId: me.userId, email: `${name}+you@example.com` }, me))
    expectThrottled(await call('ResendEmailCode', { userId: me.userId }, me))
    expect((await getUser(me.userId)).human).toEqual(before)
    const userName = unique('human')
    expectThrottled(await create(spelt[1]!, userName))
    ok(await create(uniqueEmail(), userName))
    // Requests without a mail are not throttled.
    ok(await call('SetEmail', { userId: users[0]!, email: spelt[0]!, isVerified: true }, admin()))
    ok(await call('ResendEmailCode', { userId: me.userId, returnCode: {} }, admin()))
  })
})
