import { beforeAll, describe, expect, test } from 'vitest'
import { newSignedInMachine } from '../../examples/machines.ts'
import { admin, newMachine, newMember, newOrganization, ok } from '../../examples/people.ts'
import { factsOf } from '../clients/call.ts'
import { call, encodings } from '../clients/encodings.ts'

const adds = ['AddPersonalAccessToken', 'AddMachineKey', 'AddMachineSecret'] as const
let home: string
let abroad: string
let callers: Record<string, { token: string }>
let machines: Record<string, string>

beforeAll(async () => {
  ;[home, abroad] = [await newOrganization(), await newOrganization()]
  const join = (userId: string, organization: string, role: string) =>
    call('AddOrganizationMember', { userId, roles: [role] }, admin(organization)).then(ok)
  callers = {
    'the instance’s owner': admin(),
    'an owner': await newMember(home, ['ORG_OWNER']),
    'an owner machine': await newSignedInMachine(home, ['ORG_OWNER']),
    'a machine that manages users': await newSignedInMachine(home, ['ORG_USER_MANAGER']),
    'a user manager': await newMember(home, ['ORG_USER_MANAGER']),
    'a viewer': await newMember(home, ['ORG_OWNER_VIEWER']),
    'an owner of elsewhere': await newMember(abroad, ['ORG_OWNER']),
    'a machine without roles': await newSignedInMachine(home),
  }
  machines = { 'a machine without roles': await newMachine(home) }
  for (const role of ['ORG_OWNER', 'ORG_OWNER_VIEWER']) {
    machines[`${role} here`] = await newMachine(home)
    await join(machines[`${role} here`]!, home, role)
    machines[`${role} elsewhere`] = await newMachine(home)
    await join(machines[`${role} elsewhere`]!, abroad, role)
  }
})

const all = [
  'a machine without roles',
  'ORG_OWNER here',
  'ORG_OWNER_VIEWER here',
  'ORG_OWNER elsewhere',
  'ORG_OWNER_VIEWER elsewhere',
]
const may: [caller: string, machines: string[]][] = [
  ['the instance’s owner', all],
  // Roles from another organization do not shield a machine from its own organization.
  ['an owner', all],
  ['an owner machine', all],
  ['a machine that manages users', []],
  ['a user manager', []],
  ['a viewer', []],
  ['an owner of elsewhere', []],
  ['a machine without roles', []],
]

describe.each(adds)('no one gains permissions by %s:', (operation) => {
  test.each(may)('%s makes them for %j', async (caller, allowed) => {
    for (const [index, machine] of all.entries()) {
      const { call } = encodings[index % encodings.length]!
      const request = { userId: machines[machine]! }
      const options = { token: callers[caller]!.token }
      const answer = await call(operation, request, options)
      if (!allowed.includes(machine)) expect(factsOf(answer).reason, machine).toBe('PERMISSION_DENIED')
      // A caller with enough roles can only be stopped by the limit of secrets.
      else expect([undefined, 'SECRET_LIMIT_REACHED'], machine).toContain(factsOf(answer).reason)
    }
  })

  test('an owner of the first organization, person or machine, adds none to the machine that owns the instance', async () => {
    const owners = [await newMember('default', ['ORG_OWNER']), await newSignedInMachine('default', ['ORG_OWNER'])]
    const request = { userId: 'admin-machine', expirationDate: '2020-01-01T00:00:00Z' }
    for (const { token } of owners)
      for (const { call } of encodings)
        expect(factsOf(await call(operation, request, { token })).reason).toBe('PERMISSION_DENIED')
  })
})

test('nor change whether a more powerful machine needs bound tokens', async () => {
  const { token } = await newMember('default', ['ORG_OWNER'])
  const below = await newMachine('default')
  for (const userId of ['admin-machine', below])
    for (const required of [true, false]) {
      const wanted = userId === below ? undefined : 'PERMISSION_DENIED'
      expect(factsOf(await call('SetDPoP', { userId, required }, { token })).reason, userId).toBe(wanted)
    }
})

test('nor remove or replace the credentials of a more powerful machine', async () => {
  const { token } = await newMember('default', ['ORG_OWNER'])
  for (const [operation, id] of [
    ['RemovePersonalAccessToken', 'tokenId'],
    ['RemoveMachineKey', 'keyId'],
    ['RemoveMachineSecret', 'secretId'],
  ] as const)
    expect(factsOf(await call(operation, { userId: 'admin-machine', [id]: 'some' }, { token })).reason).toBe(
      'PERMISSION_DENIED',
    )
  for (const operation of ['RemoveMachineSecrets', 'GenerateMachineSecret'] as const)
    expect(factsOf(await call(operation, { userId: 'admin-machine' }, { token })).reason).toBe('PERMISSION_DENIED')
})
