import type { JsonObject } from '@bufbuild/protobuf'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Operation } from '../../examples/contract.ts'
import {
  admin,
  newHuman,
  newMachine,
  newMember,
  newOrganization,
  ok,
  unique,
  uniqueEmail,
} from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { factsOf } from '../clients/call.ts'
import { call as json, over } from '../clients/encodings.ts'

// An owner has in its organization every permission that these roles give. They give them everywhere, the owner does not.
const roles = ['IAM_OWNER_VIEWER', 'IAM_ORG_MANAGER', 'IAM_USER_MANAGER']
let home: string
let owner: { userId: string; token: string }
let manager: { token: string }
const humans: string[] = []
const machines: string[] = []

beforeAll(async () => {
  home = await newOrganization()
  owner = await newMember(home, ['ORG_OWNER'])
  manager = await newMember(home, ['ORG_USER_MANAGER'])
  for (const role of roles) {
    humans.push((await newHuman(home)).userId)
    machines.push(await newMachine(home))
    for (const userId of [humans.at(-1)!, machines.at(-1)!])
      ok(await json('AddInstanceMember', { userId, roles: [role] }, admin()))
  }
})

const onAnybody: [Operation, () => JsonObject][] = [
  ['UpdateUserName', () => ({ userName: unique('taken') })],
  ['DeleteUserSessions', () => ({})],
  ['LockUser', () => ({})],
  ['UnlockUser', () => ({})],
  ['DeactivateUser', () => ({})],
  ['ReactivateUser', () => ({})],
  ['DeleteUser', () => ({})],
  ['DeleteUser', () => ({ forgetNow: true })],
  ['RestoreUser', () => ({})],
]
const onHumans: [Operation, () => JsonObject][] = [
  ['SetPassword', () => ({ newPassword: { password: unique('Password') } })],
  ['PasswordReset', () => ({ returnCode: {} })],
  ['SetEmail', () => ({ email: uniqueEmail(), isVerified: true })],
  ['ResendEmailCode', () => ({ returnCode: {} })],
  ['UpdateHumanProfile', () => ({ firstName: 'Other' })],
  ...onAnybody,
]
const onMachines: [Operation, () => JsonObject][] = [
  ['AddPersonalAccessToken', () => ({})],
  ['AddMachineSecret', () => ({})],
  ['SetDPoP', () => ({ required: true })],
  ['UpdateMachine', () => ({ name: 'Other' })],
  ...onAnybody,
]

describe.each(over('grpc-web'))('over $encoding, an organization’s owner', ({ call }) => {
  test.each(onHumans)('does no %s to a human with a role on the instance', async (operation, request) => {
    for (const userId of humans)
      expect(factsOf(await call(operation, { userId, ...request() }, owner)).reason).toBe('PERMISSION_DENIED')
  })
  test.each(onHumans)('suffers no %s from a manager of its users', async (operation, request) => {
    expect(factsOf(await call(operation, { userId: owner.userId, ...request() }, manager)).reason).toBe(
      'PERMISSION_DENIED',
    )
  })
  test.each(onMachines)('does no %s to a machine with a role on the instance', async (operation, request) => {
    for (const userId of machines)
      expect(factsOf(await call(operation, { userId, ...request() }, owner)).reason).toBe('PERMISSION_DENIED')
  })
  test.each(['DeactivateOrganization', 'RemoveMyOrganization'] as const)(
    'does no %s to an organization that has such users',
    async (operation) => {
      expect(factsOf(await call(operation, {}, owner)).reason).toBe('PERMISSION_DENIED')
    },
  )
})

describe('a manager of all users', () => {
  test('changes no one who has more permissions at home, and a role elsewhere shields no one from it', async () => {
    const [manager, abroad] = [await newMember(home, []), await newOrganization()]
    ok(await json('AddInstanceMember', { userId: manager.userId, roles: ['IAM_USER_MANAGER'] }, admin()))
    const [guest, lead, ownerAbroad] = [await newHuman(abroad), await newHuman(abroad), await newHuman(abroad)]
    const elsewhere = await newOrganization()
    const projects = [await newProject(abroad), await newProject(elsewhere)]
    ok(await json('AddOrganizationMember', { userId: guest.userId, roles: ['ORG_OWNER'] }, admin(elsewhere)))
    const member = (userId: string, projectId: string) => ({ userId, projectId, roles: ['PROJECT_OWNER'] })
    ok(await json('AddProjectMember', member(guest.userId, projects[1]!), admin(elsewhere)))
    ok(await json('AddProjectMember', member(lead.userId, projects[0]!), admin(abroad)))
    ok(await json('AddOrganizationMember', { userId: ownerAbroad.userId, roles: ['ORG_OWNER'] }, admin(abroad)))
    const lock = async ({ userId }: { userId: string }) => factsOf(await json('LockUser', { userId }, manager)).reason
    await expect.poll(() => lock(guest), { timeout: 5000 }).toBeUndefined()
    expect([await lock(lead), await lock(ownerAbroad)]).toEqual(['PERMISSION_DENIED', 'PERMISSION_DENIED'])
    // As an owner of that organization it has these roles too, and does not have to act there.
    ok(await json('AddOrganizationMember', { userId: manager.userId, roles: ['ORG_OWNER'] }, admin(abroad)))
    await expect.poll(() => lock(lead), { timeout: 5000 }).toBeUndefined()
    expect(await lock(ownerAbroad)).toBeUndefined()
  })
})
