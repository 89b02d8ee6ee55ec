import { beforeAll, describe, expect, test } from 'vitest'
import { getUser, newMember, newOrganization, ok, unique } from '../../examples/people.ts'
import { factsOf } from '../clients/call.ts'
import { over } from '../clients/encodings.ts'

const organization = newOrganization()
let me: Awaited<ReturnType<typeof newMember>>

describe.each(over('json'))('UpdateMyProfile over $encoding', ({ call }) => {
  beforeAll(async () => {
    me = await newMember(await organization, [])
  })
  const update = (request: object) => call('UpdateMyProfile', { ...request }, me)
  const myProfile = async () => (await getUser(me.userId)).human.profile
  const required = { firstName: 'Grace', lastName: 'Hopper', displayName: 'Grace H.' }

  test('replaces the whole profile: a missing field is empty afterwards', async () => {
    const full = { ...required, nickName: 'Amazing', preferredLanguage: 'en-US', gender: 'GENDER_FEMALE' }
    ok(await update(full))
    expect(await myProfile()).toEqual(full)
    ok(await update(required))
    expect(await myProfile()).toEqual(required)
  })

  test('answers with all four details: next sequence, dates of the first and last event, organization', async () => {
    const before = (await getUser(me.userId)).details
    const { details } = ok(await update({ ...required, firstName: unique('New') }))
    expect(details).toEqual({
      sequence: String(Number(before.sequence) + 1),
      creationDate: before.creationDate,
      changeDate: expect.any(String),
      resourceOwner: await organization,
    })
    expect(Date.parse(details.changeDate)).toBeGreaterThan(Date.parse(before.changeDate))
  })

  test('the same values: no event, the same sequence and change date, any number of times', async () => {
    const { details } = ok(await update(required))
    for (let n = 0; n < 2; n++) expect(ok(await update(required)).details).toEqual(details)
    expect((await getUser(me.userId)).details).toEqual(details)
  })

  test('accepted texts come back unchanged: wide, combining and right-to-left characters, quotes', async () => {
    const texts = { firstName: '𝒜👩‍👩‍👧', lastName: 'e\u0301 שרה', displayName: `"'\\;--<b>{{.Code}} علی\u200cرضا` }
    ok(await call('UpdateMyProfile', texts, me))
    expect((await getUser(me.userId)).human.profile).toEqual(texts)
  })

  test('changes the own profile in any selected organization, and none where the caller has no access', async () => {
    const updateIn = (acting: string) => call('UpdateMyProfile', required, { token: me.token, organization: acting })
    for (const acting of [unique('unknown'), await newOrganization()])
      expect(factsOf(await updateIn(acting)).reason).toBe('PERMISSION_DENIED')
    ok(await updateIn(me.organization))
    expect(await myProfile()).toEqual(required)
  })
})
