import { afterAll, beforeAll, expect, test } from 'vitest'
import { AddInvitationRequest, InvitationState } from '#gen/roster/users/v1/invitation_service'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { shiftClock } from '#test/support/shift-clock'
import { deleteUser } from '../../directory/operations/user/delete-user.ts'
import type { User } from '../../directory/events/user.ts'
import { addPerson } from '../../openid/authorization/testing/visitors.ts'
import { callIn, openUsers, serveDomains, type TestUsers } from '../../testing/test-users.ts'
import { createInviteCode } from '../../directory/operations/user/create-invite-code.ts'
import { openByInviteCode } from './invited-user.ts'
import { addInvitation } from './add-invitation.ts'
import { addInvited } from './add-invited.ts'
import { finishDue } from './finish-invitation.ts'
import { getInvitation } from './get-invitation.ts'
import { deleteInvitations, findInvitation } from './invitation-rows.ts'
import { openByCode } from './open-by-code.ts'

let database: TestDatabase
let users: TestUsers
let domains: { stop(): Promise<void> }
let inviterId: string

const day = 86_400

beforeAll(async () => {
  database = await createDatabase()
  users = await openUsers(database.urls.users)
  domains = await serveDomains({})
  inviterId = await addPerson(users, 'inviter')
}, 60_000)
afterAll(async () => {
  await Promise.all([users?.stop(), domains?.stop()])
  await database?.drop()
})

const call = () => ({ ...callIn('acme'), caller: { ...callIn('acme').caller, userId: inviterId } })
let names = 0

async function invite() {
  const email = `invited-${names++}@example.com`
  const request = {
    ...AddInvitationRequest.decode(new Uint8Array()),
    email,
    delivery: { $case: 'returnLink', value: {} },
  }
  const { invitationId: id, link } = await addInvitation.handle(users, request as AddInvitationRequest, call())
  return { id, email, code: link!.split('#code=')[1]! }
}

const opens = async ({ id, code }: { id: string; code: string }) =>
  (await openByCode(users, { id, typed: code }, call())) !== undefined
const shown = async (id: string) => (await getInvitation(users, { invitationId: id }, call())).invitation!
const rowsOf = (id: string) => users.sql`select from invitations where invitation_id = ${id}`

/** Adds the person of an invitation, and no more. */
async function makePerson(id: string): Promise<void> {
  const person = { givenName: 'Grace', familyName: 'Hopper', language: 'en', hash: 'a hash', guards: [] }
  await addInvited(users, (await findInvitation(users, id))!, person, call())
}

async function later(seconds: number, act: () => Promise<void>): Promise<void> {
  try {
    await shiftClock(users.sql, `${seconds} seconds`)
    await act()
  } finally {
    await shiftClock(users.sql, '0 seconds')
  }
}

test('a link is dead after seven days, and the invitation says that it has expired', async () => {
  const invited = await invite()
  await later(7 * day - 60, async () => expect(await opens(invited)).toBe(true))
  await later(7 * day + 60, async () => {
    expect(await opens(invited)).toBe(false)
    expect((await shown(invited.id)).state).toBe(InvitationState.INVITATION_STATE_EXPIRED)
  })
})

test('the code of an invited user is dead after seven days', async () => {
  const id = await addPerson(users, 'invited user')
  await users.sql`delete from passwords where user_id = ${id}`
  const request = { userId: id, verification: { $case: 'returnCode' as const, value: {} } }
  const typed = (await createInviteCode.handle(users, request, call())).inviteCode!
  const opensUser = async () => (await openByInviteCode(users, { id, typed }, call())) !== undefined
  await later(7 * day - 60, async () => expect(await opensUser()).toBe(true))
  await later(7 * day + 60, async () => expect(await opensUser()).toBe(false))
})

test('what was cut off after a person was made is finished, and nobody is made twice', async () => {
  const { id } = await invite()
  await makePerson(id)
  expect((await shown(id)).state).toBe(InvitationState.INVITATION_STATE_PENDING)
  await expect(makePerson(id)).rejects.toMatchObject({ reason: 'USER_ID_TAKEN' })
  await Promise.all([finishDue(users, 0), finishDue(users, 0)])
  expect(await shown(id)).toMatchObject({ state: InvitationState.INVITATION_STATE_ACCEPTED, userId: id })
  const user = await users.store.load<User>('user', id)
  expect(user!.state.human).toMatchObject({ isVerified: false, profile: { firstName: 'Grace' } })
})

test('no event and no state has the address, and no column has the message in plain', async () => {
  const { id, email } = await invite()
  await makePerson(id)
  const [row] = await users.sql`
    select (select json_agg(e)::text from events e where aggregate_type = 'invitation' and aggregate_id = ${id}) as events,
      (select state::text from aggregates where type = 'invitation' and id = ${id}) as state
  `
  expect(JSON.stringify(row)).not.toContain(email)
})

test('the row of an accepted invitation goes with its person, and any other 90 days after its end', async () => {
  const [accepted, open] = [await invite(), await invite()]
  await makePerson(accepted.id)
  await finishDue(users, 0)
  await deleteUser(users, { userId: accepted.id, forgetNow: true }, callIn('acme'))
  expect(await rowsOf(accepted.id)).toHaveLength(0)
  await expect(shown(accepted.id)).rejects.toMatchObject({ reason: 'INVITATION_NOT_FOUND' })
  await later(96 * day, async () => {
    await deleteInvitations(users.sql)
    expect(await rowsOf(open.id)).toHaveLength(1)
  })
  await later(98 * day, async () => {
    await deleteInvitations(users.sql)
    expect(await rowsOf(open.id)).toHaveLength(0)
  })
})
