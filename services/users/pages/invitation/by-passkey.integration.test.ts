import { afterAll, beforeAll, expect, test } from 'vitest'
import { AddInvitationRequest, InvitationState } from '#gen/roster/users/v1/invitation_service'
import { InvitationError, type PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { shiftClock } from '#test/support/shift-clock'
import type { User } from '../../directory/events/user.ts'
import { createInviteCode } from '../../directory/operations/user/create-invite-code.ts'
import { findLoginUser } from '../../directory/login-names/meaning.ts'
import { addPerson } from '../../openid/authorization/testing/visitors.ts'
import { Authenticator, type CreationOptions } from '../../sessions/factors/passkey/testing/authenticator.ts'
import {
  allow,
  asked,
  call,
  closeWorld,
  newPerson,
  openWorld,
  origin,
  reasonOf,
  register,
  users,
  Visitor,
} from '../../sessions/factors/passkey/testing/world.ts'
import { createPasskeyRegistrationLink } from '../../sessions/operations/passkeys/create-passkey-registration-link.ts'
import { acceptInvitation } from '../operations/invitation/accept-invitation.ts'
import { openInvitation } from '../operations/invitation/open-invitation.ts'
import { addInvitation } from './add-invitation.ts'
import { getInvitation } from './get-invitation.ts'

let inviter: Awaited<ReturnType<typeof newPerson>>
beforeAll(async () => {
  await openWorld()
  inviter = await newPerson()
}, 60_000)
afterAll(closeWorld)

const byInviter = () => ({ ...call(), caller: { ...call().caller, userId: inviter.userId } })
let names = 0

interface Link {
  id: string
  code: string
  email: string
}

async function invite(): Promise<Link> {
  const email = `invited-${names++}@example.com`
  const request = {
    ...AddInvitationRequest.decode(new Uint8Array()),
    email,
    delivery: { $case: 'returnLink', value: {} },
  }
  const { invitationId: id, link } = await addInvitation.handle(users, request as AddInvitationRequest, byInviter())
  return { id, email, code: link!.split('#code=')[1]! }
}

/** A user without a password. */
async function inviteUser(): Promise<Link & { userName: string }> {
  const userName = `invited-user-${names++}`
  const id = await addPerson(users, userName)
  await users.sql`delete from passwords where user_id = ${id}`
  const request = { userId: id, verification: { $case: 'returnCode' as const, value: {} } }
  const code = (await createInviteCode.handle(users, request, byInviter())).inviteCode!
  return { id, email: `${userName}@example.com`, code, userName }
}

class Guest extends Visitor {
  async open({ id: invitationId, code }: Link): Promise<PageAnswer> {
    const request = { browser: this.cookie, invitationId, code, organizationId: '' }
    return this.follow(this.keep(await openInvitation(users, request, this.call())))
  }

  async accept({ requestId, formToken }: PageAnswer, given: Partial<Parameters<typeof acceptInvitation>[1]>) {
    const names = { givenName: 'Grace', familyName: 'Hopper', language: 'en', password: '', keep: '', credential: '' }
    const request = { ...names, ...given, browser: this.cookie, requestId, formToken }
    return this.follow(this.keep(await acceptInvitation(users, request, this.call())))
  }
}

const guest = () => new Guest(users)
const promptOf = ({ answer }: PageAnswer) => (answer?.$case === 'invitation' ? answer.value.passkey : undefined)
const optionsOf = (page: PageAnswer) => JSON.parse(promptOf(page)!.options) as CreationOptions & { user: object }
const make = (authenticator: Authenticator, page: PageAnswer, lies = {}) =>
  JSON.stringify(authenticator.create(optionsOf(page), lies))
const errorOf = ({ answer }: PageAnswer) =>
  answer?.$case === 'invitation'
    ? Object.entries(InvitationError).find(([, value]) => value === answer.value.error)![0]
    : answer?.$case

async function signsIn(authenticator: Authenticator): Promise<string | undefined> {
  const visitor = guest()
  const page = await visitor.begin()
  return (await visitor.pass(page, authenticator.get(asked(page)))).answer?.$case
}

test('a new person takes part by a passkey, is signed in, and has no password', async () => {
  const [link, visitor, authenticator] = [await invite(), guest(), new Authenticator(origin)]
  const page = await visitor.open(link)
  expect(optionsOf(page).user).toMatchObject({ name: link.email })
  const entered = await visitor.accept(page, { credential: make(authenticator, page) })
  expect(entered.answer).toMatchObject({ $case: 'account', value: { account: { displayName: 'Grace Hopper' } } })
  expect(await signsIn(authenticator)).toBe('leaving')
  const { invitation } = await getInvitation(users, { invitationId: link.id }, byInviter())
  expect(invitation).toMatchObject({ state: InvitationState.INVITATION_STATE_ACCEPTED, userId: link.id })
  expect(await users.sql`select from passwords where user_id = ${link.id}`).toHaveLength(0)
  // The same passkey makes nobody else.
  const [other, stranger] = [await invite(), guest()]
  const second = await stranger.open(other)
  const again = await stranger.accept(second, { credential: make(authenticator, second) })
  expect(errorOf(again)).toBe('INVITATION_ERROR_PASSKEY_INVALID')
})

test('where everybody needs a second factor, the passkey is enough', async () => {
  await allow({ allowPasskeys: true, forceMfa: true })
  const [link, visitor] = [await invite(), guest()]
  const page = await visitor.open(link)
  const entered = await visitor.accept(page, { credential: make(new Authenticator(origin), page) })
  expect(entered.answer?.$case).toBe('account')
  await allow({ allowPasskeys: true })
})

test('a user who is invited takes part by a passkey, and the invitation is used up', async () => {
  const [link, visitor, authenticator] = [await inviteUser(), guest(), new Authenticator(origin)]
  const [page, late] = [await visitor.open(link), guest()]
  const second = await late.open(link)
  expect(optionsOf(page).user).toMatchObject({ name: link.userName, displayName: `The ${link.userName}` })
  expect((await visitor.accept(page, { credential: make(authenticator, page) })).answer?.$case).toBe('account')
  expect(await signsIn(authenticator)).toBe('leaving')
  // Neither another passkey nor a password comes by the same link.
  await late.accept(second, { credential: make(new Authenticator(origin), second) })
  await late.accept(second, { password: 'a password of somebody' })
  const { answer } = await openInvitation(
    users,
    { browser: '', invitationId: link.id, code: link.code, organizationId: '' },
    call(),
  )
  expect(answer).toMatchObject({ value: { location: expect.stringContaining('problem=code') } })
  const user = await users.store.load<User>('user', link.id)
  expect(user!.state.human).toMatchObject({ passkeys: [{ credentialId: authenticator.id }] })
  expect((await findLoginUser(users, link.userName, call()))!.hash).toBeNull()
})

test('an invitation is over for who has a passkey by then: the mailbox alone adds none', async () => {
  const [link, visitor] = [await inviteUser(), guest()]
  const page = await visitor.open(link)
  const medium = { $case: 'returnCode', value: {} } as const
  const { code } = await createPasskeyRegistrationLink.handle(users, { userId: link.id, medium }, call())
  const own = new Authenticator(origin)
  await register({ userId: link.id, userName: link.userName }, own, {}, call(), code)
  await visitor.accept(page, { credential: make(new Authenticator(origin), page) })
  await visitor.accept(page, { password: 'a password of somebody' })
  const user = await users.store.load<User>('user', link.id)
  expect(user!.state.human!.passkeys).toMatchObject([{ credentialId: own.id }])
  expect((await findLoginUser(users, link.userName, call()))!.hash).toBeNull()
  const request = { userId: link.id, verification: { $case: 'returnCode' as const, value: {} } }
  expect(await reasonOf(createInviteCode.handle(users, request, byInviter()))).toBe('PASSWORD_SET')
})

test('what the device made is refused in a sentence where it could not serve, and a password remains', async () => {
  const [link, visitor] = [await invite(), guest()]
  let page = await visitor.open(link)
  const accept = async (credential: string, given = {}) => {
    page = await visitor.accept(page, { credential, ...given })
    return errorOf(page)
  }
  const made = (lies = {}) => make(new Authenticator(origin), page, lies)
  expect(await accept(made({ uv: false }))).toBe('INVITATION_ERROR_PASSKEY_UNVERIFIED')
  expect(await accept(made({ origin: 'https://evil.example.com' }))).toBe('INVITATION_ERROR_PASSKEY_INVALID')
  expect(await accept(made({ credProps: { rk: false } }))).toBe('INVITATION_ERROR_PASSKEY_INVALID')
  expect(await accept('no credential')).toBe('INVITATION_ERROR_PASSKEY_INVALID')
  expect(await accept(made(), { givenName: '' })).toBe('INVITATION_ERROR_GIVEN_NAME_INVALID')
  const old = made()
  await shiftClock(users.sql, '301 seconds')
  expect(await accept(old)).toBe('INVITATION_ERROR_PASSKEY_LATE')
  const renewed = (await visitor.renew(page)) as unknown as CreationOptions
  expect(renewed.user.id).toBeDefined()
  expect(await users.sql`select from aggregates where type = 'user' and id = ${link.id}`).toHaveLength(0)
  expect(await accept('', { password: 'a password of somebody' })).toBe('account')
  await shiftClock(users.sql, '0 seconds')
})

test('a challenge makes a passkey for its invitation alone, in its browser', async () => {
  const [one, other, visitor, stranger] = [await invite(), await invite(), guest(), guest()]
  const [page, foreign] = [await visitor.open(one), await stranger.open(other)]
  const elsewhere = await stranger.accept(foreign, { credential: make(new Authenticator(origin), page) })
  expect(errorOf(elsewhere)).toBe('INVITATION_ERROR_PASSKEY_LATE')
  const same = await visitor.open(one)
  const moved = await visitor.accept(same, { credential: make(new Authenticator(origin), page) })
  expect(errorOf(moved)).toBe('INVITATION_ERROR_PASSKEY_LATE')
})

test('no passkey is offered or taken where the policy of the organization allows none', async () => {
  const [link, visitor] = [await invite(), guest()]
  const page = await visitor.open(link)
  await allow({ allowPasskeys: false }, 'acme')
  const refused = await visitor.accept(page, { credential: make(new Authenticator(origin), page) })
  expect(errorOf(refused)).toBe('INVITATION_ERROR_PASSKEY_NOT_ALLOWED')
  expect(promptOf(refused)).toBeUndefined()
  expect(await visitor.renew(page)).not.toHaveProperty('user')
  await allow({ allowPasskeys: true }, 'acme')
})
