import type { JsonObject } from '@bufbuild/protobuf'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Operation } from '../examples/contract.ts'
import { admin } from '../examples/people.ts'
import { buildWorld, type World } from '../examples/world.ts'
import { factsOf } from './clients/call.ts'
import { over } from './clients/encodings.ts'

/** For each operation two requests that would both fail on existence or state: an invalid one and a sound one. */
const cases: { operation: Operation; invalid: JsonObject; sound: (world: World) => JsonObject; finds: number }[] = [
  {
    operation: 'UpdateIDP',
    invalid: { idpId: 'unknown', name: '' },
    sound: () => ({ idpId: 'unknown', name: 'N' }),
    finds: 5,
  },
  {
    operation: 'AddMachineUser',
    invalid: { userName: '', name: '' },
    sound: ({ machine }) => ({ userName: machine, name: 'M' }),
    finds: 6,
  },
  {
    operation: 'SetEmail',
    invalid: { userId: 'unknown', email: 'none', returnCode: {} },
    sound: () => ({ userId: 'unknown', email: 'a@example.com', returnCode: {} }),
    finds: 5,
  },
  {
    operation: 'AddUserGrant',
    invalid: { userId: 'unknown', projectId: '' },
    sound: () => ({ userId: 'unknown', projectId: 'unknown' }),
    finds: 5,
  },
]

let world: World

beforeAll(async () => {
  world = await buildWorld()
})

describe.each(over('grpc'))('checks go in one order over $encoding', ({ call }) => {
  test.each(cases)('$operation: authentication, permission, validation, then existence and state', async (entry) => {
    const { operation, invalid, sound, finds } = entry
    const code = async (request: JsonObject, token: string | undefined) =>
      factsOf(await call(operation, request, { token, organization: token && world.home })).code
    expect(await code(invalid, undefined)).toBe(16)
    expect(await code(invalid, 'no-token')).toBe(16)
    expect(await code(invalid, world.nobody.token)).toBe(7)
    expect(await code(sound(world), world.nobody.token)).toBe(7)
    expect(await code(invalid, admin().token)).toBe(3)
    expect(await code(sound(world), admin().token)).toBe(finds)
  })

  test('UpdateMyProfile: a machine with an invalid profile gets the error of the profile first', async () => {
    expect(factsOf(await call('UpdateMyProfile', {})).code).toBe(16)
    expect(factsOf(await call('UpdateMyProfile', {}, admin())).code).toBe(3)
    const profile = { firstName: 'F', lastName: 'L', displayName: 'D' }
    expect(factsOf(await call('UpdateMyProfile', profile, admin())).code).toBe(9)
  })

  test('the own address: a request for the returned code is refused before the address is checked', async () => {
    const { userId, token } = world.nobody
    expect(factsOf(await call('SetEmail', { userId, email: 'none', returnCode: {} }, { token })).code).toBe(7)
    expect(factsOf(await call('SetEmail', { userId, email: 'none' }, { token })).code).toBe(3)
  })
})
