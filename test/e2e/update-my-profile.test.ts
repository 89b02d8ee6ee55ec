import { beforeAll, describe, expect, test } from 'vitest'
import { getUser, newMember, newOrganization, ok, unique } from '../examples/people.ts'
import { factsOf } from './clients/call.ts'
import { over } from './clients/encodings.ts'

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

  test('an empty nick name is refused, and the profile stays unchanged', async () => {
    const before = await myProfile()
    const request = { ...required, firstName: unique('New'), nickName: '' }
    expect(factsOf(await update(request))).toMatchObject({ code: 3, fields: ['nickName'] })
    expect(await myProfile()).toEqual(before)
  })

  test.each(['de', 'de-CH', 'zh-Hant-TW', 'es-419', 'x-klingon', 'i-ami', ''])(
    'the language %j is accepted, as a well-formed tag or an empty text',
    async (preferredLanguage) => {
      ok(await update({ ...required, preferredLanguage }))
      expect((await myProfile()).preferredLanguage ?? '').toBe(preferredLanguage)
    },
  )

  test.each(['d', 'de_CH', 'de-', '-de', 'deutsch!', 'de--CH', 'd€'])(
    'the language %j is refused',
    async (preferredLanguage) => {
      expect(factsOf(await update({ ...required, preferredLanguage }))).toMatchObject({
        code: 3,
        fields: ['preferredLanguage'],
      })
    },
  )

  test('accepted texts come back unchanged: wide, combining and right-to-left characters, quotes', async () => {
    const texts = { firstName: '𝒜👩‍👩‍👧', lastName: 'e\u0301\u202Ex', displayName: `"'\\;--<b>\u0007\t\n{{.Code}}\u2028` }
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
