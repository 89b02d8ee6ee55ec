import { beforeAll, describe, expect, test } from 'vitest'
import { admin, getUser, newHuman, newMember, newOrganization, ok, unique } from '../../examples/people.ts'
import { factsOf } from '../clients/call.ts'
import { over } from '../clients/encodings.ts'

let organization: string
let manager: Awaited<ReturnType<typeof newMember>>

beforeAll(async () => {
  organization = await newOrganization()
  manager = await newMember(organization, ['ORG_USER_MANAGER'])
})

describe.each(over('json'))('AddMachineUser over $encoding', ({ call }) => {
  const add = (request: object, acting = organization) =>
    call('AddMachineUser', { userName: unique('machine'), name: 'M', ...request }, admin(acting))

  test('creates the machine with all that was sent, at sequence 1', async () => {
    const userName = unique('Machine')
    const request = { userName, name: 'Robot', description: 'Sorts', accessTokenType: 'ACCESS_TOKEN_TYPE_JWT' }
    const { userId, details } = ok(await add(request))
    expect(details).toEqual({
      sequence: '1',
      creationDate: expect.any(String),
      changeDate: details.creationDate,
      resourceOwner: organization,
    })
    expect(await getUser(userId)).toEqual({
      userId,
      details,
      state: 'USER_STATE_ACTIVE',
      userName,
      organizationId: organization,
      machine: { name: 'Robot', description: 'Sorts', accessTokenType: 'ACCESS_TOKEN_TYPE_JWT' },
    })
  })

  test('the access token type is BEARER when none is sent', async () => {
    const { userId } = ok(await add({}))
    // Answers leave out the default.
    expect((await getUser(userId)).machine).toEqual({ name: 'M' })
  })

  test('without x-service-orgid it is in the organization of the caller', async () => {
    const request = { userName: unique('machine'), name: 'M' }
    expect(ok(await call('AddMachineUser', request, manager)).details.resourceOwner).toBe(organization)
  })

  test('a user name is unique within its organization, compared after NFKC and lower-casing', async () => {
    const userName = unique('Ａｌｉｃｅ')
    ok(await add({ userName }))
    for (const alike of [userName, userName.normalize('NFKC'), userName.normalize('NFKC').toUpperCase()])
      expect(factsOf(await add({ userName: alike }))).toMatchObject({ code: 6, reason: 'USER_NAME_TAKEN' })
    ok(await add({ userName }, await newOrganization()))
  })

  test('humans and machines share the names', async () => {
    const { userName } = await newHuman(organization)
    expect(factsOf(await add({ userName })).reason).toBe('USER_NAME_TAKEN')
    const machine = unique('machine')
    ok(await add({ userName: machine }))
    await expect(newHuman(organization, { userName: machine })).rejects.toThrow('USER_NAME_TAKEN')
  })

  test('an id may be chosen; one that is in use is refused, in another organization too', async () => {
    const userId = unique('Chosen_id')
    expect(ok(await add({ userId })).userId).toBe(userId)
    for (const acting of [organization, await newOrganization()])
      expect(factsOf(await add({ userId }, acting))).toMatchObject({ code: 6, reason: 'USER_ID_TAKEN' })
  })

  test('a name whose creation was refused stays free', async () => {
    const [userId, userName] = [unique('id'), unique('machine')]
    ok(await add({ userId }))
    expect(factsOf(await add({ userId, userName })).reason).toBe('USER_ID_TAKEN')
    ok(await add({ userName }))
  })
})
