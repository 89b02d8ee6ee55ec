import { beforeAll, describe, expect, inject, test } from 'vitest'
import { getUser, newMember, newOrganization, unique, uniqueEmail } from '../examples/people.ts'

let home: string
let manager: Awaited<ReturnType<typeof newMember>>

beforeAll(async () => {
  home = await newOrganization()
  manager = await newMember(home, ['ORG_USER_MANAGER'])
})

describe('Connect in JSON', () => {
  const json = { 'content-type': 'application/json', 'connect-protocol-version': '1' }
  const post = (method: string, body: object) =>
    fetch(`${inject('roster').url}/zitadel.management.v1.ManagementService/${method}`, {
      method: 'POST',
      headers: { ...json, authorization: `Bearer ${manager.token}` },
      body: JSON.stringify(body),
    })

  test('has the names of ZITADEL', async () => {
    const response = await post('AddMachineUser', { userName: unique('machine'), name: 'Robot' })
    const { userId, details } = (await response.json()) as { userId: string; details: object }
    expect((await getUser(userId)).machine.name).toBe('Robot')
    expect(details).toMatchObject({ resourceOwner: home, sequence: '1' })
  })

  test('names a field that Roster has no equal for', async () => {
    const response = await post('AddHumanUser', {
      userName: unique('human'),
      profile: { firstName: 'Ada', lastName: 'Lovelace', displayName: 'Ada' },
      email: { email: uniqueEmail(), isEmailVerified: true },
      phone: { phone: '+41' },
    })
    expect(await response.json()).toMatchObject({ code: 'invalid_argument', message: expect.stringContaining('phone') })
  })

  test('reads by GET', async () => {
    const path = '/zitadel.auth.v1.AuthService/GetMyUser?connect=v1&encoding=json&message=%7B%7D'
    const response = await fetch(inject('roster').url + path, { headers: { authorization: `Bearer ${manager.token}` } })
    expect(await response.json()).toMatchObject({ user: { id: manager.userId, state: 'USER_STATE_ACTIVE' } })
  })
})
