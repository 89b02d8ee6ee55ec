import { beforeAll, describe, expect, inject, test } from 'vitest'
import type { ExampleApplication } from '../../examples/applications.ts'
import { admin, newHuman, newMember, newOrganization, ok, unique, uniqueEmail } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import {
  authorizePath,
  callbackOf,
  formOf,
  newWebApplication,
  openBrowser,
  redeem,
  redirectUri,
  type Shown,
} from '../../examples/sign-in.ts'
import { userGrants } from '../../examples/user-grants.ts'
import { factsOf } from '../clients/call.ts'
import { call, recordSecret } from '../clients/encodings.ts'
import { hasMailbox, mailTo } from '../mailbox.ts'

const { url } = inject('roster')
const mailbox = hasMailbox() ? '' : ' (skipped: ROSTER_E2E_MAILBOX_URL is not set)'

let home: string
let project: string
let application: ExampleApplication
const { rolesOf } = userGrants(() => home)

beforeAll(async () => {
  home = await newOrganization()
  project = await newProject(home, ['reader', 'writer'])
  application = await newWebApplication(home, project)
})

const names = { given_name: 'Grace', family_name: 'Hopper' }
const password = () => unique('Password')
const act = async (name: string, request: object, caller = admin(home)) =>
  ok(await call(name as never, request as never, caller))
const reasonOf = async (name: string, request: object, caller = admin(home)) =>
  factsOf(await call(name as never, request as never, caller)).reason
const stateOf = async (invitationId: string) =>
  (await act('GetInvitation', { invitationId })).invitation.state?.replace('INVITATION_STATE_', '')

const invited = () => ({
  email: uniqueEmail(),
  appId: application.appId,
  grants: [{ projectId: project, roleKeys: ['reader'] }],
  message: 'See you on Monday',
})

/** An invitation whose link was returned. */
async function invite(more: object = {}, caller = admin(home)) {
  const request = { ...invited(), returnLink: {}, ...more }
  const { invitationId, link } = await act('AddInvitation', request, caller)
  recordSecret(codeOf(link))
  return { invitationId: invitationId as string, email: request.email, code: codeOf(link), link: link as string }
}

const codeOf = (link: string) => new URLSearchParams(new URL(link).hash.slice(1)).get('code')!

/** Opens the link in a browser, and presses the button. */
async function open(invitationId: string, code: string, browser = openBrowser()) {
  const page = await browser.visit(`/ui/invitation/${invitationId}`)
  return { browser, page: await browser.submit(page, { code }) }
}

const accepted = (page: Shown) => /<a[^>]* href="([^"]+)"/.exec(page.body)?.[1] ?? page.body
const over = 'This link has expired'
const wrong = 'This invitation does not open'

test.skipIf(!hasMailbox())(
  `a new address is invited, and the person of the mail chooses a password and is in the application with the roles${mailbox}`,
  async () => {
    const request = invited()
    const { invitationId, link } = await act('AddInvitation', request)
    expect(link).toBeUndefined()
    const mail = await mailTo(request.email)
    expect(mail.subject).toMatch(/^Your invitation to /)
    expect(mail.text).toContain('See you on Monday')
    const target = new URL(mail.link)
    expect([target.pathname, codeOf(mail.link)]).toEqual([`/ui/invitation/${invitationId}`, mail.code])
    const { browser, page } = await open(invitationId, mail.code)
    expect(page.body).toContain(request.email)
    const done = await browser.submit(page, { ...names, password: password() })
    expect(accepted(done)).toBe(new URL(redirectUri).origin)
    const answer = await browser.visit(authorizePath(application))
    expect(answer.location).toContain('code=')
    const { body } = await redeem(application, new URL(answer.location).searchParams.get('code')!)
    const headers = { authorization: `Bearer ${body.access_token}` }
    const claims = (await (await fetch(`${url}/oidc/v1/userinfo`, { headers })).json()) as { sub: string }
    expect(claims).toMatchObject({ given_name: 'Grace', name: 'Grace Hopper' })
    const { user } = await act('GetUser', { userId: claims.sub })
    expect(user.human.email).toEqual({ email: request.email, isVerified: true })
    expect(await rolesOf(project, claims.sub)).toEqual(['reader'])
    expect((await act('GetInvitation', { invitationId })).invitation).toMatchObject({
      state: 'INVITATION_STATE_ACCEPTED',
      userId: claims.sub,
      isMailed: true,
    })
  },
)

test('a link that was copied proves no address', async () => {
  const { invitationId, code, email } = await invite()
  const { browser, page } = await open(invitationId, code)
  await browser.submit(page, { ...names, password: password() })
  const { invitation } = await act('GetInvitation', { invitationId })
  const { user } = await act('GetUser', { userId: invitation.userId })
  expect(user.human.email).toEqual({ email })
})

describe('a GET changes nothing:', () => {
  test('a mail scanner that opens the link, with GET and HEAD and any code, leaves it as it was', async () => {
    const { invitationId, code } = await invite()
    const before = (await act('GetInvitation', { invitationId })).invitation
    for (const query of ['', `?code=${code}`, '?code=AAAAAA&problem=code']) {
      const [get, head] = await Promise.all(
        ['GET', 'HEAD'].map((method) =>
          fetch(`${url}/ui/invitation/${invitationId}${query}`, { method, redirect: 'manual' }),
        ),
      )
      expect([get!.status, head!.status, await head!.text()]).toEqual([200, 200, ''])
      expect(head!.headers.get('content-type')).toBe(get!.headers.get('content-type'))
    }
    expect((await act('GetInvitation', { invitationId })).invitation).toEqual(before)
    const { page } = await open(invitationId, code)
    expect(formOf(page.body)?.fields).toHaveProperty('password')
    expect(await stateOf(invitationId)).toBe('PENDING')
  })

  test('the page of a link says the same of an unknown invitation', async () => {
    const { invitationId } = await invite()
    const [known, unknown] = await Promise.all([
      openBrowser().visit(`/ui/invitation/${invitationId}`),
      openBrowser().visit('/ui/invitation/unknown'),
    ])
    expect(unknown.body).toBe(known.body.replaceAll(invitationId, 'unknown'))
  })
})

describe('an invitation is for one use:', () => {
  test('whoever uses the link a second time, or at the same time, gets nothing', async () => {
    const { invitationId, code } = await invite()
    const [first, second] = await Promise.all([open(invitationId, code), open(invitationId, code)])
    const [one, other] = [password(), password()]
    await Promise.all([
      first.browser.submit(first.page, { ...names, password: one }),
      second.browser.submit(second.page, { ...names, password: other }),
    ])
    const { invitation } = await act('GetInvitation', { invitationId })
    expect(invitation.userId).toBe(invitationId)
    const { user } = await act('GetUser', { userId: invitationId })
    const works = await Promise.all(
      [one, other].map(async (text) => (await call('CreateSession', { loginName: user.userName, password: text })).ok),
    )
    expect(works.filter(Boolean)).toHaveLength(1)
    expect((await open(invitationId, code)).page.body).toContain(wrong)
  })

  test('an intercepted link is dead once it was sent again, was revoked, or five codes were wrong', async () => {
    const { invitationId, code } = await invite()
    const thief = await open(invitationId, code)
    const { link } = await act('ResendInvitation', { invitationId, returnLink: {} })
    expect((await thief.browser.submit(thief.page, { ...names, password: password() })).body).toContain(over)
    expect((await open(invitationId, code)).page.body).toContain(wrong)
    const again = await open(invitationId, codeOf(link))
    expect(formOf(again.page.body)?.fields).toHaveProperty('password')
    await act('RevokeInvitation', { invitationId })
    expect(await stateOf(invitationId)).toBe('REVOKED')
    expect((await again.browser.submit(again.page, { ...names, password: password() })).body).toContain(over)
    expect(await reasonOf('GetUser', { userId: invitationId })).toBe('USER_NOT_FOUND')
    const other = await invite()
    for (let n = 0; n < 5; n++) await open(other.invitationId, 'AAAAAA')
    expect((await open(other.invitationId, other.code)).page.body).toContain(wrong)
    expect(await stateOf(other.invitationId)).toBe('EXPIRED')
    const foundBy = async (state: string) => {
      const email = { text: other.email, method: 'TEXT_QUERY_METHOD_EQUALS' }
      return (await act('SearchInvitations', { state: `INVITATION_STATE_${state}`, email })).invitations?.length ?? 0
    }
    expect([await foundBy('EXPIRED'), await foundBy('PENDING')]).toEqual([1, 0])
  })
})

/** A person whom the address means by now. */
async function newKnown(organization: string) {
  const person = await newHuman(organization, { password: password() })
  const credentials = { loginName: person.email, password: person.password }
  await expect.poll(async () => (await call('CreateSession', credentials)).ok).toBeDefined()
  return person
}

describe('a known person', () => {
  test.skipIf(!hasMailbox())(
    'of another organization signs in first, and gets a grant and no second account',
    async () => {
      const person = await newKnown(await newOrganization())
      // Only a mail tells of accounts elsewhere, so this is one.
      const { invitationId } = await act('AddInvitation', { ...invited(), email: person.email })
      const { code } = await mailTo(person.email)
      const { browser, page } = await open(invitationId, code)
      expect(page.body).not.toContain('family_name')
      const joining = await browser.submit(page, {
        action: 'sign-in',
        login_name: person.email,
        password: person.password,
      })
      expect(await rolesOf(project, person.userId)).toEqual([])
      expect(accepted(await browser.submit(joining, {}))).toBe(new URL(redirectUri).origin)
      expect(await rolesOf(project, person.userId)).toEqual(['reader'])
      expect(await reasonOf('GetUser', { userId: invitationId })).toBe('USER_NOT_FOUND')
      expect((await act('GetInvitation', { invitationId })).invitation).toMatchObject({ userId: person.userId })
    },
  )

  test('is not another one who is signed in: that person gets no roles', async () => {
    const [person, other] = [await newKnown(home), await newKnown(home)]
    const browser = openBrowser()
    await callbackOf(other, authorizePath(application), browser)
    const { invitationId, code } = await invite({ email: person.email })
    const { page } = await open(invitationId, code, browser)
    expect(page.body).toContain('for another account')
    const still = await browser.submit(page, {
      action: 'sign-in',
      login_name: other.userName,
      password: other.password,
    })
    expect(still.body).toContain('for another account')
    const { fields } = formOf(still.body)!
    const path = `${formOf(still.body)!.action}/invitation`
    const body = new URLSearchParams({ ...fields, ...names, password: password() })
    await browser.visit(path, { method: 'POST', body })
    expect([await rolesOf(project, other.userId), await rolesOf(project, person.userId)]).toEqual([[], []])
    expect(await stateOf(invitationId)).toBe('PENDING')
  })

  test('keeps the roles of before', async () => {
    const person = await newKnown(home)
    await act('AddUserGrant', { userId: person.userId, projectId: project, roleKeys: ['writer'] })
    const { invitationId, code } = await invite({ email: person.email })
    const { browser, page } = await open(invitationId, code)
    const credentials = { action: 'sign-in', login_name: person.userName, password: person.password }
    await browser.submit(await browser.submit(page, credentials), {})
    expect((await rolesOf(project, person.userId)).toSorted()).toEqual(['reader', 'writer'])
  })
})

describe('nobody gives more than they hold:', () => {
  test('who may not give a role invites nobody with it, and one who lost the right since then gives nothing', async () => {
    const inviter = await newHuman(home, { password: password() })
    const { userId } = inviter
    await act('AddOrganizationMember', { userId, roles: ['ORG_USER_MANAGER'] })
    const { sessionToken: token } = ok(
      await call('CreateSession', { loginName: inviter.userName, password: inviter.password }),
    )
    const caller = { token, organization: home }
    const bossy = { ...invited(), organizationRoles: ['ORG_OWNER'] }
    expect(await reasonOf('AddInvitation', bossy, caller)).toBe('PERMISSION_DENIED')
    const { invitationId, code } = await invite({}, caller)
    await act('UpdateOrganizationMember', { userId, roles: ['ORG_OWNER_VIEWER'] })
    const { browser, page } = await open(invitationId, code)
    const refused = await browser.submit(page, { ...names, password: password() })
    expect(refused.body).toContain('cannot be accepted now')
    expect(await reasonOf('GetUser', { userId: invitationId })).toBe('USER_NOT_FOUND')
    expect(await stateOf(invitationId)).toBe('PENDING')
    // The right comes back, and so does the invitation.
    await act('UpdateOrganizationMember', { userId, roles: ['ORG_USER_MANAGER'] })
    await browser.submit((await open(invitationId, code, browser)).page, { ...names, password: password() })
    expect(await stateOf(invitationId)).toBe('ACCEPTED')
  })
})

test('nobody invites a person of the organization who has more roles, alone, in bulk, or again', async () => {
  const member = await newMember(home, ['ORG_USER_MANAGER'])
  const caller = { token: member.token, organization: home }
  const owner = await newKnown(home)
  const { invitationId } = await act('AddInvitation', { email: owner.email, returnLink: {} }, caller)
  await act('AddOrganizationMember', { userId: owner.userId, roles: ['ORG_OWNER'] })
  const request = { email: owner.email.toUpperCase(), returnLink: {} }
  await expect.poll(() => reasonOf('AddInvitation', request, caller)).toBe('PERMISSION_DENIED')
  expect(await reasonOf('ResendInvitation', { invitationId, returnLink: {} }, caller)).toBe('PERMISSION_DENIED')
  const invitations = [request, { email: uniqueEmail(), returnLink: {} }]
  const { results } = await act('BulkAddInvitations', { invitations }, caller)
  expect(results.map(({ error }: any) => error?.details[0].reason)).toEqual(['PERMISSION_DENIED', undefined])
  expect(await reasonOf('AddInvitation', request)).toBeUndefined()
})

test('invitations are found by state, address and inviter, page by page, in their organization alone', async () => {
  const place = await newOrganization()
  const made = []
  for (let n = 0; n < 3; n++) made.push(await invite({ grants: [], appId: '' }, admin(place)))
  const find = async (more: object, organization = place) =>
    (await act('SearchInvitations', more, admin(organization))).invitations?.map((one: any) => one.invitationId) ?? []
  await act('RevokeInvitation', { invitationId: made[0]!.invitationId }, admin(place))
  const ids = made.map(({ invitationId }) => invitationId).toReversed()
  expect(await find({})).toEqual(ids)
  expect(await find({ state: 'INVITATION_STATE_REVOKED' })).toEqual([ids[2]])
  expect(await find({ state: 'INVITATION_STATE_PENDING' })).toEqual(ids.slice(0, 2))
  const part = made[1]!.email.slice(3, 15).toUpperCase()
  expect(await find({ email: { text: part, method: 'TEXT_QUERY_METHOD_CONTAINS_IGNORE_CASE' } })).toEqual([ids[1]])
  const { invitations, nextCursor, total } = await act('SearchInvitations', { limit: 2, withTotal: true }, admin(place))
  expect([invitations.length, total]).toEqual([2, 3])
  expect(await find({ limit: 2, withTotal: true, cursor: nextCursor })).toEqual([ids[2]])
  expect(await find({})).toHaveLength(3)
  expect(await find({}, await newOrganization())).toEqual([])
  expect(await reasonOf('GetInvitation', { invitationId: ids[0] })).toBe('INVITATION_NOT_FOUND')
})

test('invitations in bulk have a result each, and a refused one hinders no other', async () => {
  const good = { email: uniqueEmail(), returnLink: {} }
  const bad = { ...good, grants: [{ projectId: project, roleKeys: ['none such'] }] }
  const { results } = await act('BulkAddInvitations', { invitations: [good, bad, { email: uniqueEmail() }] })
  expect(results.map(({ done, error }: any) => done?.link?.split('#')[0] ?? error?.details[0].reason ?? '')).toEqual([
    expect.stringContaining(`/ui/invitation/${results[0].done.id}`),
    'ROLE_NOT_FOUND',
    '',
  ])
})

test('nobody else gets the id of an invitation, which is that of its person', async () => {
  const { invitationId, code } = await invite()
  const machine = { userId: invitationId, userName: unique('squatter'), name: 'Squatter' }
  const human = { ...machine, profile: { firstName: 'S', lastName: 'Q' }, email: { email: uniqueEmail() } }
  expect(await reasonOf('AddMachineUser', machine)).toBe('USER_ID_TAKEN')
  expect(await reasonOf('AddHumanUser', { ...human, name: undefined })).toBe('USER_ID_TAKEN')
  const { browser, page } = await open(invitationId, code)
  await browser.submit(page, { ...names, password: password() })
  expect(await stateOf(invitationId)).toBe('ACCEPTED')
})

test('an invitation is sent again three times an hour', async () => {
  const { invitationId } = await invite()
  for (let n = 0; n < 3; n++) await act('ResendInvitation', { invitationId, returnLink: {} })
  expect(await reasonOf('ResendInvitation', { invitationId, returnLink: {} })).toBe('CODE_THROTTLED')
})
