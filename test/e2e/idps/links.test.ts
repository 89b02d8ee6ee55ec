import { beforeAll, expect, test, vi } from 'vitest'
import {
  admin,
  type ExampleHuman,
  newHuman,
  newMember,
  newOrganization,
  ok,
  unique,
  uniqueEmail,
} from '../../examples/people.ts'
import { type CallOptions, factsOf } from '../clients/call.ts'
import { call } from '../clients/encodings.ts'
import { mailTo } from '../mailbox.ts'

let home: string
let owner: CallOptions
let ada: ExampleHuman
/** A provider of the organization, and one of the instance. */
let own: string
let shared: string

const issuer = 'https://login.example.com'
const settings = () => ({ name: unique('Links'), clientId: 'c', clientSecret: 's', issuer })

beforeAll(async () => {
  home = await newOrganization()
  owner = await newMember(home, ['ORG_OWNER'])
  ada = await newHuman(home)
  own = ok(await call('AddOrganizationOIDCIDP', settings(), owner)).idpId
  shared = ok(await call('AddOIDCIDP', settings(), admin())).idpId
})

const add = (userId: string, idpLink: { idpId: string; userId: string; issuer?: string }, who = owner) =>
  call('AddIDPLink', { userId, idpLink }, who)
const reasonOf = async (answer: ReturnType<typeof add>) => factsOf(await answer).reason

test('a link names the subject, and has the issuer that the record of the provider has now', async () => {
  const subject = unique('sub')
  ok(await add(ada.userId, { idpId: own, userId: subject }))
  ok(await add(ada.userId, { idpId: shared, userId: subject, issuer: `${issuer}/` }, admin(home)))
  const { links } = ok(await call('ListIDPLinks', { userId: ada.userId }, owner))
  expect(links).toMatchObject([
    { idpId: own, userId: subject, issuer },
    { idpId: shared, userId: subject, issuer: `${issuer}/` },
  ])
  const { linkedUsers, total } = ok(await call('SearchIDPLinks', { idpId: own, withTotal: true }, owner))
  expect(linkedUsers).toMatchObject([{ user: { userId: ada.userId }, link: { idpId: own, userId: subject } }])
  expect(total).toBe(1)
  const elsewhere = await newOrganization()
  const stranger = await newMember(elsewhere, ['ORG_OWNER'])
  expect(ok(await call('SearchIDPLinks', { idpId: own }, stranger)).linkedUsers ?? []).toEqual([])
  ok(await call('RemoveIDPLink', { userId: ada.userId, idpId: own, linkedUserId: subject }, owner))
  expect(ok(await call('SearchIDPLinks', { idpId: own }, owner)).linkedUsers ?? []).toEqual([])
})

test('who links is refused without telling whose a subject is', async () => {
  const [grace, subject] = [await newHuman(home), unique('sub')]
  ok(await add(grace.userId, { idpId: own, userId: subject }))
  const elsewhere = await newOrganization()
  const stranger = await newMember(elsewhere, ['ORG_OWNER'])
  const [there, taken] = [await newHuman(elsewhere), unique('sub')]
  ok(await add(there.userId, { idpId: shared, userId: taken }, admin(elsewhere)))
  const alike = await Promise.all([
    add(grace.userId, { idpId: own, userId: unique('sub') }),
    add(ada.userId, { idpId: own, userId: subject }),
  ])
  expect(alike.map((answer) => factsOf(answer).reason)).toEqual(['IDP_LINK_EXISTS', 'IDP_LINK_EXISTS'])
  // The subjects of the instance's providers are of the people of all organizations.
  for (const userId of [taken, unique('free')])
    expect(await reasonOf(add(ada.userId, { idpId: shared, userId }))).toBe('PERMISSION_DENIED')
  const human = {
    userName: unique('linked'),
    profile: { firstName: 'A', lastName: 'B' },
    email: { email: uniqueEmail() },
  }
  const idpLinks = { links: [{ idpId: shared, userId: unique('free') }] }
  expect(factsOf(await call('AddHumanUser', { ...human, idpLinks }, owner)).reason).toBe('PERMISSION_DENIED')
  const foreign = ok(await call('AddOrganizationOIDCIDP', settings(), stranger)).idpId as string
  for (const idpId of [foreign, unique('unknown')])
    expect(await reasonOf(add(grace.userId, { idpId, userId: 's' }))).toBe('IDP_NOT_FOUND')
  const fieldsOf = async (answer: ReturnType<typeof add>) => factsOf(await answer).fields
  const other = { idpId: own, userId: 's', issuer: 'https://other.example' }
  expect(await fieldsOf(add(ada.userId, other))).toEqual(['idpLink.issuer'])
  expect(await fieldsOf(add(grace.userId, { idpId: own, userId: 'ä' }))).toEqual(['idpLink.userId'])
  const common = {
    ...settings(),
    issuer: 'https://login.microsoftonline.com/common/v2.0',
    preset: 'IDP_PRESET_MICROSOFT',
  }
  const microsoft = ok(await call('AddOrganizationOIDCIDP', common, owner)).idpId as string
  expect(await fieldsOf(add(grace.userId, { idpId: microsoft, userId: 's' }))).toEqual(['idpLink.issuer'])
})

test('who has a role on the instance is linked by those alone who have as much', async () => {
  const powerful = await newHuman(home)
  ok(await call('AddInstanceMember', { userId: powerful.userId, roles: ['IAM_OWNER_VIEWER'] }, admin()))
  await vi.waitFor(
    async () =>
      expect(await reasonOf(add(powerful.userId, { idpId: shared, userId: unique('sub') }))).toBe('PERMISSION_DENIED'),
    { timeout: 10_000 },
  )
  ok(await add(powerful.userId, { idpId: shared, userId: unique('sub') }, admin(home)))
})

test('a new user comes with links, and without any where one cannot be made', async () => {
  const human = (more: object) => ({
    userName: unique('linked'),
    profile: { firstName: 'Ada', lastName: 'Lovelace' },
    email: { email: uniqueEmail(), isVerified: true },
    ...more,
  })
  const subject = unique('sub')
  const idpLinks = { links: [{ idpId: own, userId: subject, userName: 'ada@there' }] }
  const { userId } = ok(await call('AddHumanUser', human({ idpLinks }), owner))
  const { links } = ok(await call('ListIDPLinks', { userId }, owner))
  expect(links).toMatchObject([{ idpId: own, userId: subject, userName: 'ada@there', issuer }])
  const again = human({ idpLinks })
  expect(factsOf(await call('AddHumanUser', again, owner)).reason).toBe('IDP_LINK_EXISTS')
  const queries = [{ userNameQuery: { userName: again.userName } }]
  expect(ok(await call('SearchUsers', { queries }, owner)).users ?? []).toEqual([])
})

test('a link that came with an address that nobody had proved ends with a password by mail', async () => {
  const email = uniqueEmail()
  const { userId, emailCode } = ok(
    await call(
      'AddHumanUser',
      {
        userName: unique('linked'),
        profile: { firstName: 'Ada', lastName: 'Lovelace' },
        email: { email, returnCode: {} },
        idpLinks: { links: [{ idpId: own, userId: unique('sub') }] },
      },
      admin(home),
    ),
  )
  ok(await call('VerifyEmail', { userId, verificationCode: emailCode }))
  const linked = async () => (ok(await call('ListIDPLinks', { userId }, owner)).links ?? []).length
  expect(await linked()).toBe(1)
  ok(await call('PasswordReset', { userId, sendLink: {} }, admin(home)))
  const { code: verificationCode } = await mailTo(email)
  ok(await call('ResetPassword', { userId, verificationCode, newPassword: unique('Password') }))
  expect(await linked()).toBe(0)
})
