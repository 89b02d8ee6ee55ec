import { beforeAll, describe, expect, test } from 'vitest'
import {
  admin,
  getUser,
  newHuman,
  newMachine,
  newMember,
  newOrganization,
  ok,
  profile,
  unique,
  uniqueEmail,
} from '../../examples/people.ts'
import { newClient, obtainToken } from '../../examples/oauth.ts'
import { type Answer, factsOf } from '../clients/call.ts'
import { call as json, over } from '../clients/encodings.ts'

let home: string
let manager: Awaited<ReturnType<typeof newMember>>

beforeAll(async () => {
  home = await newOrganization()
  manager = await newMember(home, ['ORG_USER_MANAGER'])
})

const reason = (answer: Answer) => factsOf(answer).reason

describe.each(over('grpc'))('over $encoding', ({ call }) => {
  test('UpdateUserName renames a user: the new name signs in, and the old one is free', async () => {
    const human = await newHuman(home, { password: unique('Password') })
    const [userName, other] = [unique('Renamed'), unique('other')]
    const { details } = ok(await call('UpdateUserName', { userId: human.userId, userName }, manager))
    expect(details).toMatchObject({ sequence: '2', resourceOwner: home })
    expect(await getUser(human.userId)).toMatchObject({ userName, details })
    ok(await call('CreateSession', { loginName: userName.toUpperCase(), password: human.password }))
    const old = { loginName: human.userName, password: human.password }
    expect(reason(await call('CreateSession', old))).toBe('CREDENTIALS_INVALID')
    const heir = await newMachine(home, human.userName)
    const taken = { userId: heir, userName: userName.toUpperCase() }
    expect(factsOf(await call('UpdateUserName', taken, manager))).toMatchObject({ code: 6, reason: 'USER_NAME_TAKEN' })
    // The own name in other letters is no other name.
    ok(await call('UpdateUserName', { userId: human.userId, userName: userName.toUpperCase() }, manager))
    const same = ok(await call('UpdateUserName', { userId: human.userId, userName: userName.toUpperCase() }, manager))
    expect(same.details.sequence).toBe('3')
    ok(await call('UpdateUserName', { userId: heir, userName: other }, manager))
  })

  test('UpdateHumanProfile changes what is sent, and nothing else', async () => {
    const { userId } = await newHuman(home, { profile: { nickName: 'Nick' } })
    const update = async (fields: object) =>
      ok(await call('UpdateHumanProfile', { userId, ...fields }, manager)).details
    const now = async () => (await getUser(userId)).human.profile
    await update({ lastName: 'King', preferredLanguage: '' })
    const { preferredLanguage: _, ...others } = profile
    expect(await now()).toEqual({ ...others, lastName: 'King', nickName: 'Nick' })
    expect((await update({ nickName: '', gender: 'GENDER_UNSPECIFIED' })).sequence).toBe('3')
    expect(await now()).not.toHaveProperty('nickName')
    expect((await update({ lastName: 'King' })).sequence).toBe('3')
    expect((await update({})).sequence).toBe('3')
  })

  test('UpdateMachine changes what is sent, and nothing else', async () => {
    const userId = await newMachine(home)
    const update = async (fields: object) => ok(await call('UpdateMachine', { userId, ...fields }, manager)).details
    expect((await update({ description: 'Works' })).sequence).toBe('2')
    expect((await update({ accessTokenType: 'ACCESS_TOKEN_TYPE_JWT' })).sequence).toBe('3')
    const { machine } = await getUser(userId)
    const whole = { name: 'A machine', description: 'Works', accessTokenType: 'ACCESS_TOKEN_TYPE_JWT' }
    expect(machine).toEqual(whole)
    expect((await update({ description: '' })).sequence).toBe('4')
    expect((await update({ description: '' })).sequence).toBe('4')
  })

  test('ListUserChanges gives the history of a user, the newest event first, page by page', async () => {
    const human = await newHuman(home, { password: unique('Password'), verification: {} })
    const { userId } = human
    const { sessionId } = ok(await call('CreateSession', { loginName: human.userName, password: human.password }))
    ok(await call('UpdateUserName', { userId, userName: unique('name') }, manager))
    ok(await call('DeleteSession', { sessionId }, admin()))
    ok(await call('SetEmail', { userId, email: uniqueEmail(), isVerified: true }, manager))
    const changes: any[] = []
    for (let cursor = ''; ;) {
      const page = ok(await call('ListUserChanges', { userId, limit: 2, cursor }, manager))
      changes.push(...page.changes)
      if (!page.nextCursor) break
      cursor = page.nextCursor
    }
    const types = changes.map(({ type }) => type.replace(/^roster\.|\.v1$/g, ''))
    expect(types.filter((type) => type !== 'user.email.code.sent')).toEqual([
      'user.email.changed',
      'session.ended',
      'user.username.changed',
      'session.created',
      'user.email.code.requested',
      'user.human.added',
    ])
    const renamed = changes.find(({ type }) => type.includes('username'))
    expect(renamed).toMatchObject({ actor: manager.userId, aggregateId: userId, organizationId: home, sequence: '3' })
    expect(renamed.data).toEqual({ userName: expect.stringMatching(/^name-/) })
    expect(changes.find(({ type }) => type.includes('session'))).toMatchObject({ aggregateId: sessionId })
    const whole = ok(await call('ListUserChanges', { userId }, manager))
    expect(whole.changes).toEqual(changes)
  })
})

test('a history has no more of sessions and credentials than the operations on them give', async () => {
  const editor = await newMember(home, ['ORG_USER_PERMISSION_EDITOR'])
  const machine = await newClient({ organization: home })
  await obtainToken(machine)
  ok(await json('SetDPoP', { userId: machine.userId, required: true }, admin()))
  ok(await json('UpdateMachine', { userId: machine.userId, description: 'Works' }, admin()))
  const kinds = async (userId: string, caller: { token: string }) => {
    const types: string[] = []
    for (let cursor = ''; ;) {
      const page = ok(await json('ListUserChanges', { userId, limit: 1, cursor }, caller))
      types.push(...page.changes.map(({ type }: { type: string }) => type.replace(/^roster\.|\.v1$/g, '')))
      // No page is empty for the sake of an event that is left out.
      expect(page.changes).toHaveLength(1)
      if (!page.nextCursor) return types
      cursor = page.nextCursor
    }
  }
  const rest = ['user.machine.changed', 'user.machine.added']
  expect(await kinds(machine.userId, editor)).toEqual(rest)
  expect(await kinds(machine.userId, manager)).toEqual(rest)
  const whole = await kinds(machine.userId, { token: admin().token })
  for (const type of [
    'user.key.added',
    'user.secret.added',
    'user.machine.dpop.changed',
    'authentication.token.issued',
  ])
    expect(whole).toContain(type)
  expect(await kinds(manager.userId, editor)).toEqual(['user.human.added'])
  for (const reader of [manager, { token: admin().token }])
    expect(await kinds(manager.userId, reader)).toEqual(['session.created', 'user.human.added'])
  expect(await kinds(editor.userId, editor)).toEqual(['session.created', 'user.human.added'])
})

test('a history is of one user alone, and its cursor fits no other', async () => {
  const [one, other] = [await newHuman(home), await newHuman(home)]
  ok(await json('UpdateUserName', { userId: one.userId, userName: unique('name') }, manager))
  const { changes, nextCursor } = ok(await json('ListUserChanges', { userId: one.userId, limit: 1 }, manager))
  expect(changes).toHaveLength(1)
  expect(ok(await json('ListUserChanges', { userId: other.userId }, manager)).changes).toHaveLength(1)
  const stolen = await json('ListUserChanges', { userId: other.userId, limit: 1, cursor: nextCursor }, manager)
  expect(reason(stolen)).toBe('CURSOR_INVALID')
})

test('two users who want one name at once: one gets it', async () => {
  const [one, other] = [await newHuman(home), await newHuman(home)]
  const userName = unique('wanted')
  const rename = ({ userId }: { userId: string }) => json('UpdateUserName', { userId, userName }, manager)
  const answers = await Promise.all([one, other].map(rename))
  const refused = answers.filter((answer) => answer.error)
  expect(refused.map(reason)).toEqual(['USER_NAME_TAKEN'])
})
