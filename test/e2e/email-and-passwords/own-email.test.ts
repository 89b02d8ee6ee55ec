import type { JsonObject } from '@bufbuild/protobuf'
import { beforeAll, describe, expect, test } from 'vitest'
import { admin, getUser, newMember, newOrganization, ok, uniqueEmail } from '../../examples/people.ts'
import { factsOf } from '../clients/call.ts'
import { over } from '../clients/encodings.ts'

let organization: string
/** Requests for which being the user is not enough. */
const declared: JsonObject[] = [{ returnCode: {} }, { isVerified: true }, { isVerified: false }]

beforeAll(async () => {
  organization = await newOrganization()
})

describe.each(over('grpc-web'))('the own address over $encoding', ({ call }) => {
  test('may be changed with a mailed code, but not with a returned code or a declared verification', async () => {
    const me = await newMember(organization, [])
    const set = (choice: object) => call('SetEmail', { userId: me.userId, email: uniqueEmail(), ...choice }, me)
    for (const choice of declared)
      expect(factsOf(await set(choice))).toMatchObject({ code: 7, reason: 'PERMISSION_DENIED' })
    expect((await getUser(me.userId)).human.email).toEqual({ email: me.email, isVerified: true })
    for (const choice of [{}, { sendCode: {} }, { sendCode: { urlTemplate: 'https://app.example.com/{{.Code}}' } }])
      expect(ok(await set(choice))).not.toHaveProperty('verificationCode')
  })

  test('may be changed in every way by a user with user.write', async () => {
    const me = await newMember(organization, ['ORG_USER_MANAGER'])
    for (const choice of declared)
      ok(await call('SetEmail', { userId: me.userId, email: uniqueEmail(), ...choice }, me))
  })

  test('may be changed ten times an hour with a mailed code, and by an administrator even afterwards', async () => {
    const me = await newMember(organization, [])
    const set = () => call('SetEmail', { userId: me.userId, email: uniqueEmail() }, me)
    for (let n = 0; n < 10; n++) ok(await set())
    const before = (await getUser(me.userId)).human.email
    expect(factsOf(await set())).toMatchObject({ code: 8, reason: 'EMAIL_CHANGES_THROTTLED' })
    expect((await getUser(me.userId)).human.email).toEqual(before)
    ok(await call('SetEmail', { userId: me.userId, email: uniqueEmail() }, admin()))
  })
})
