import { describe, expect, test } from 'vitest'
import type { RosterError } from '#lib/errors'
import { isAlive } from './code.ts'
import { living } from './credentials.ts'
import { withinAnHour } from './human.ts'
import { evolveSession, type Session, type SessionEvent } from '../../sessions/events/session.ts'
import { credentialsOf, evolveUser, humanOf, type User, type UserEvent } from './user.ts'
import { existing, isActive } from '../states/user-state.ts'

const at = new Date('2026-11-20T12:00:00Z')
const later = (seconds: number) => new Date(at.getTime() + seconds * 1000)
const profile = { firstName: 'Arthur', lastName: 'P', displayName: 'A', preferredLanguage: '', gender: 0 as const }
const added: UserEvent = {
  type: 'human.added',
  payload: { userName: 'arthur', profile, email: 'a@example.com', isVerified: false },
}
const code = (codeId: string) => ({ codeId, keyId: 'k', expiresAt: later(3600).toISOString() })
const requested = (codeId: string, cause: 'creation' | 'change' | 'own-change' | 'resend' = 'change'): UserEvent => ({
  type: 'email.code.requested',
  payload: { ...code(codeId), cause },
})
const after = (...events: UserEvent[]) =>
  events.reduce<User | undefined>((user, event) => evolveUser(user, event, at), undefined)!
const human = (...events: UserEvent[]) => after(added, ...events).human!

describe('a user', () => {
  test('begins as a human or a machine', () => {
    expect(after(added)).toEqual({
      userName: 'arthur',
      human: { profile, email: 'a@example.com', isVerified: false, ownChanges: [], resends: [] },
    })
    const machine = { name: 'M', description: '', accessTokenType: 1 as const }
    expect(after({ type: 'machine.added', payload: { userName: 'robot', ...machine } })).toEqual({
      userName: 'robot',
      machine,
    })
  })

  test('begins with no other event', () => {
    expect(() => evolveUser(undefined, { type: 'email.verified', payload: {} }, at)).toThrow(
      'begins with email.verified',
    )
  })

  test('stays the same through events of humans, if it is a machine', () => {
    const machine = after({
      type: 'machine.added',
      payload: { userName: 'robot', name: 'M', description: '', accessTokenType: 0 },
    })
    expect(evolveUser(machine, requested('1'), at)).toEqual(machine)
  })

  test('is not changed by an unknown event', () => {
    const user = after(added)
    expect(evolveUser(user, { type: 'renamed', payload: {} } as never, at)).toEqual(user)
  })
})

describe('the credentials of a machine', () => {
  const machine: UserEvent = {
    type: 'machine.added',
    payload: { userName: 'robot', name: 'M', description: '', accessTokenType: 0 },
  }
  const robot = (...events: UserEvent[]) => credentialsOf(after(machine, ...events))
  const createdAt = at.toISOString()
  const token = (tokenId: string, expiresAt?: string): UserEvent => ({
    type: 'pat.added',
    payload: { tokenId, ...(expiresAt !== undefined && { expiresAt }) },
  })
  const publicKey = { kty: 'OKP', crv: 'Ed25519', x: 'x' }

  test('are none at first, and none for a human', () => {
    expect(robot()).toEqual({ pat: [], key: [], secret: [] })
    expect(credentialsOf(after(added, token('1')))).toEqual({ pat: [], key: [], secret: [] })
    expect(credentialsOf(undefined)).toEqual({ pat: [], key: [], secret: [] })
  })

  test('come and go by their ids, each kind by itself', () => {
    const expiresAt = later(60).toISOString()
    const all: UserEvent[] = [
      token('1', expiresAt),
      { type: 'key.added', payload: { keyId: '1', algorithm: 'EdDSA', publicKey } },
      { type: 'secret.added', payload: { secretId: '1' } },
    ]
    expect(robot(...all)).toEqual({
      pat: [{ id: '1', createdAt, expiresAt }],
      key: [{ id: '1', createdAt, algorithm: 'EdDSA', publicKey }],
      secret: [{ id: '1', createdAt }],
    })
    expect(robot(...all, { type: 'pat.removed', payload: { tokenId: '1' } }).pat).toEqual([])
    expect(robot(...all, { type: 'key.removed', payload: { keyId: '1' } }).key).toEqual([])
    expect(robot(...all, { type: 'secret.removed', payload: { secretId: '1' } }).secret).toEqual([])
    expect(robot(...all, { type: 'secret.removed', payload: { secretId: '2' } })).toEqual(robot(...all))
  })

  test('include the tokens that were stored before credentials were listed', () => {
    expect(robot({ type: 'token.added', payload: { tokenId: '1' } }).pat).toEqual([{ id: '1', createdAt }])
  })

  test('remember their warning', () => {
    const warned: UserEvent = {
      type: 'credential.expiring',
      payload: { kind: 'pat', credentialId: '1', expiresAt: later(60).toISOString() },
    }
    expect(robot(token('1'), token('2'), warned).pat.map((credential) => credential.warned)).toEqual([true, undefined])
  })

  test('are dropped, once expired, with the next one, so that a machine does not grow', () => {
    let user = after(machine)
    for (let hour = 0; hour < 100; hour++)
      user = evolveUser(user, token(`${hour}`, later(hour * 3600 + 5400).toISOString()), later(hour * 3600))
    expect(credentialsOf(user).pat.map(({ id }) => id)).toEqual(['98', '99'])
  })

  test('live until their end and not a moment longer', () => {
    const { pat } = robot(token('1'), token('2', later(60).toISOString()))
    expect(living(pat, later(59.999)).map(({ id }) => id)).toEqual(['1', '2'])
    expect(living(pat, later(60)).map(({ id }) => id)).toEqual(['1'])
  })

  test('are not touched by another event: the result is the very same user', () => {
    const user = after(machine, token('1'))
    expect(evolveUser(user, { type: 'not known', payload: {} } as never, at)).toBe(user)
  })
})

describe('the state of a user', () => {
  const states = (...types: ('deactivated' | 'reactivated' | 'locked' | 'unlocked' | 'removed')[]) =>
    after(added, ...types.map((type) => ({ type, payload: {} })))

  test('is active again once both a deactivation and a lock are taken back', () => {
    expect(isActive(states())).toBe(true)
    for (const ended of [states('deactivated'), states('locked'), states('deactivated', 'locked', 'unlocked')])
      expect(isActive(ended)).toBe(false)
    expect(states('locked', 'deactivated', 'reactivated', 'unlocked')).toEqual({ ...after(added), signOuts: 2 })
  })

  test('is nothing but removed after its removal, and no operation finds the user', () => {
    const user = states('removed')
    expect(user).toEqual({ userName: '', removed: true })
    expect(isActive(user)).toBe(false)
    expect(() => humanOf(user)).toThrow('no such user')
    expect(() => existing(user)).toThrow('no such user')
  })
})

describe('a profile', () => {
  test('is replaced whole: a field that the new one lacks is gone', () => {
    const named: UserEvent = { type: 'profile.changed', payload: { ...profile, nickName: 'Wart' } }
    expect(human(named).profile.nickName).toBe('Wart')
    expect(human(named, { type: 'profile.changed', payload: profile }).profile).not.toHaveProperty('nickName')
  })
})

describe('a code', () => {
  test('waits to be mailed, or is in the caller’s hands', () => {
    expect(human(requested('1')).code).toEqual({ ...code('1'), delivery: 'pending', wrongTries: 0 })
    const returned: UserEvent = { type: 'email.code.returned', payload: code('1') }
    expect(human(returned).code).toEqual({ ...code('1'), delivery: 'returned', wrongTries: 0 })
  })

  test('dies with the next one, with the change of the address and with its verification', () => {
    expect(human(requested('1'), requested('2')).code?.codeId).toBe('2')
    const changed: UserEvent = { type: 'email.changed', payload: { email: 'b@example.com', isVerified: false } }
    expect(human(requested('1'), changed)).toMatchObject({ email: 'b@example.com', code: undefined })
    expect(human(requested('1'), { type: 'email.verified', payload: { codeId: '1' } })).toMatchObject({
      isVerified: true,
      code: undefined,
    })
  })

  test.each(['sent', 'failed'] as const)('is not changed by an event that an earlier code was %s', (how) => {
    const news: UserEvent =
      how === 'sent'
        ? { type: 'email.code.sent', payload: { codeId: '1' } }
        : { type: 'email.code.failed', payload: { codeId: '1', failure: '550' } }
    expect(human(requested('1'), news).code?.delivery).toBe(how)
    expect(human(requested('1'), requested('2'), news).code?.delivery).toBe('pending')
  })

  test('lives for four wrong tries and dies of the fifth', () => {
    const wrong: UserEvent = { type: 'email.code.rejected', payload: { codeId: '1' } }
    const tries = (n: number) => human(requested('1'), ...Array.from({ length: n }, () => wrong)).code
    expect(isAlive(tries(4), at)).toBe(true)
    expect(isAlive(tries(5), at)).toBe(false)
    expect(human(requested('1'), wrong, requested('2'), wrong).code?.wrongTries).toBe(0)
  })

  test('lives until its expiry and not a moment longer', () => {
    const { code: living } = human(requested('1'))
    expect(isAlive(living, later(3599.999))).toBe(true)
    expect(isAlive(living, later(3600))).toBe(false)
    expect(isAlive(undefined, at)).toBe(false)
  })
})

describe('the counted mails', () => {
  test('are those that the user asked for, each kind by itself', () => {
    const { ownChanges, resends } = human(
      requested('1', 'creation'),
      requested('2', 'change'),
      requested('3', 'own-change'),
      requested('4', 'resend'),
      requested('5', 'resend'),
    )
    expect([ownChanges.length, resends.length]).toEqual([1, 2])
  })

  test('are dropped after an hour, so that a user does not grow', () => {
    let user = after(added)
    for (let minute = 0; minute < 300; minute++)
      user = evolveUser(user, requested(`${minute}`, 'resend'), later(minute * 60))
    expect(user.human!.resends).toHaveLength(60)
  })

  test('are less than an hour old', () => {
    expect(withinAnHour([later(-3600).toISOString(), later(-3599.999).toISOString()], at)).toHaveLength(1)
  })
})

test('a session ends once, and no session begins with its end', () => {
  const created = evolveSession(undefined, { type: 'created', payload: { userId: 'u', expiresAt: 'e' } }, at)
  expect(created).toEqual({ userId: 'u', expiresAt: 'e', ended: false })
  expect(evolveSession(created, { type: 'ended', payload: { userId: 'u' } }, at)).toEqual({ ...created, ended: true })
  expect(() => evolveSession(undefined, { type: 'ended', payload: { userId: 'u' } }, at)).toThrow('begins with ended')
})

test('a session knows the last check of a factor, and lives on from then', () => {
  const began: Session = { userId: 'u', expiresAt: 'e', ended: false, factors: [{ kind: 'password', at: 'before' }] }
  const checked: SessionEvent = { type: 'factor.checked', payload: { userId: 'u', kind: 'password', expiresAt: 'f' } }
  expect(evolveSession(began, checked, at)).toEqual({
    ...began,
    expiresAt: 'f',
    factors: [{ kind: 'password', at: at.toISOString() }],
  })
})

test('a new password names the session that goes on, from the number at which it first did so', () => {
  const kept = (...ids: (string | undefined)[]) => {
    const events = ids.map((id): UserEvent => ({
      type: 'password.changed',
      payload: id === undefined ? {} : { keptSessionId: id },
    }))
    return after(added, ...events).keptSession
  }
  expect(kept(undefined, 'a')).toEqual({ id: 'a', since: 1 })
  expect(kept(undefined, 'a', 'a')).toEqual({ id: 'a', since: 1 })
  expect(kept('a', 'b')).toEqual({ id: 'b', since: 1 })
  expect(kept('a', undefined, 'a')).toEqual({ id: 'a', since: 2 })
  expect(kept('a', undefined)).toBeUndefined()
})

test('what ends all sessions of a user is counted', () => {
  const counts = (events: UserEvent[]) =>
    events.reduce<User | undefined>((user, event) => evolveUser(user, event, at), after(added))?.signOuts
  expect(counts([])).toBeUndefined()
  expect(
    counts([
      { type: 'locked', payload: {} },
      { type: 'unlocked', payload: {} },
    ]),
  ).toBe(1)
  expect(
    counts([
      { type: 'deactivated', payload: {} },
      { type: 'reactivated', payload: {} },
    ]),
  ).toBe(1)
  expect(
    counts([
      { type: 'password.changed', payload: {} },
      { type: 'password.changed', payload: {} },
    ]),
  ).toBe(2)
  expect(
    counts([
      { type: 'removed', payload: { forgetAt: 'f' } },
      { type: 'restored', payload: {} },
    ]),
  ).toBe(1)
})

test('a machine is answered like a missing user where a human is needed', () => {
  const reasons = [
    undefined,
    { userName: 'm', machine: { name: '', description: '', accessTokenType: 0 as const } },
  ].map((user) => {
    try {
      return humanOf(user)
    } catch (error) {
      return (error as RosterError).reason
    }
  })
  expect(reasons).toEqual(['USER_NOT_FOUND', 'USER_NOT_FOUND'])
})
