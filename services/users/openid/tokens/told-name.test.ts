import { expect, test } from 'vitest'
import { evolveUser, knownName, type UserEvent } from '../../directory/events/user.ts'
import { toldName, wantedBy } from './claims.ts'

const email = 'ada@example.com'
const registered = {
  type: 'human.added',
  payload: { userName: 'ada.lovelace-k7m2qx', profile: {}, email, isVerified: true, codeId: 'code' },
} as UserEvent
const after = (...events: UserEvent[]) =>
  events.reduce(
    (user: ReturnType<typeof evolveUser> | undefined, event) => evolveUser(user, event, new Date()),
    undefined,
  )!
const told = (user: ReturnType<typeof after>, ...scopes: string[]) => toldName(user, wantedBy(scopes))

test('a person who registered is known by the address, told with `email`, and never by the name that was made', () => {
  const user = after(registered)
  expect(knownName(user)).toBe(email)
  expect([told(user, 'profile'), told(user, 'profile', 'email'), told(user, 'email')]).toEqual([
    undefined,
    email,
    undefined,
  ])
})

test('a name that was chosen afterwards is told', () => {
  const user = after(registered, { type: 'username.changed', payload: { userName: 'ada' } })
  expect([knownName(user), told(user, 'profile')]).toEqual(['ada', 'ada'])
})
