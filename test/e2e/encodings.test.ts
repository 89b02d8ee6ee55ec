import { beforeAll, describe, expect, test } from 'vitest'
import { admin, getUser, newMember, newOrganization, ok, unique, uniqueEmail } from '../examples/people.ts'
import { newIdp, newProject } from '../examples/projects.ts'
import { everyEncoding } from './clients/encodings.ts'

let organization: string
let human: Awaited<ReturnType<typeof newMember>>

beforeAll(async () => {
  organization = await newOrganization()
  human = await newMember(organization, [])
})

describe.each(everyEncoding)('over $encoding', ({ call }) => {
  test('UpdateMyProfile', async () => {
    const displayName = unique('Display')
    const { details } = ok(await call('UpdateMyProfile', { firstName: 'A', lastName: 'B', displayName }, human))
    const user = await getUser(human.userId)
    expect(user.human.profile).toEqual({ firstName: 'A', lastName: 'B', displayName })
    expect(details).toEqual(user.details)
  })

  test('UpdateIDP', async () => {
    const { idpId, name } = await newIdp()
    const { details } = ok(await call('UpdateIDP', { idpId, name, autoRegister: true }, admin()))
    expect(details).toMatchObject({ sequence: '2', creationDate: expect.any(String), changeDate: expect.any(String) })
  })

  test('AddMachineUser', async () => {
    const { userId, details } = ok(
      await call('AddMachineUser', { userName: unique('machine'), name: 'M' }, admin(organization)),
    )
    expect(details).toEqual((await getUser(userId)).details)
  })

  test('SetEmail', async () => {
    const email = uniqueEmail()
    const answer = ok(await call('SetEmail', { userId: human.userId, email, returnCode: {} }, admin()))
    expect(answer.verificationCode).toMatch(/^[2-9A-HJ-NP-Z]{6}$/)
    expect((await getUser(human.userId)).human.email).toEqual({ email })
  })

  test('AddUserGrant', async () => {
    const projectId = await newProject(organization, ['reader'])
    const request = { userId: human.userId, projectId, roleKeys: ['reader'] }
    const { userGrantId, details } = ok(await call('AddUserGrant', request, admin(organization)))
    const read = ok(await call('GetUserGrant', { userId: human.userId, grantId: userGrantId }, admin(organization)))
    expect(read.userGrant).toMatchObject({ ...request, details })
  })

  test('every answer carries x-request-id, and keeps the client’s own one', async () => {
    const given = unique('request')
    const sent = await call('GetUser', { userId: human.userId }, { ...admin(), headers: { 'x-request-id': given } })
    expect(sent.headers['x-request-id']).toBe(given)
    expect((await call('GetUser', { userId: human.userId }, admin())).headers['x-request-id']).toMatch(/\S/)
    expect((await call('GetUser', { userId: human.userId })).headers['x-request-id']).toMatch(/\S/)
  })
})
