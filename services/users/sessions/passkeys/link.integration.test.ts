import { afterAll, beforeAll, expect, test } from 'vitest'
import { NoticeReason, type PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { MailKind } from '#gen/roster/users/v1/internal_service'
import { shiftClock } from '#test/support/shift-clock'
import { setEmail } from '../../directory/operations/user/set-email.ts'
import { addPasskeyByLink, openPasskeyLink, showPasskeyLink } from '../../pages/account/passkey-link.ts'
import { createPasskeyRegistrationLink } from '../operations/passkeys/create-passkey-registration-link.ts'
import { listPasskeys } from '../operations/passkeys/list-passkeys.ts'
import { registerPasskey } from '../operations/passkeys/register-passkey.ts'
import { verifyPasskeyRegistration } from '../operations/passkeys/verify-passkey-registration.ts'
import { Authenticator, type CreationOptions } from '../factors/passkey/testing/authenticator.ts'
import {
  allow,
  by,
  call,
  closeWorld,
  newPerson,
  openWorld,
  optionsOf,
  origin,
  type Person,
  reasonOf,
  roles,
  users,
} from '../factors/passkey/testing/world.ts'
import { passkeyLinkMail } from './link.ts'

beforeAll(() => openWorld(), 60_000)
afterAll(closeWorld)

type Code = { id: string; code: string }

async function returned({ userId }: Person): Promise<Code> {
  const medium = { $case: 'returnCode', value: {} } as const
  return (await createPasskeyRegistrationLink.handle(users, { userId, medium }, call())).code!
}

const begin = ({ userId }: Person, code: Code, from = call()) =>
  registerPasskey.handle(users, { userId, code, authenticator: 0, domain: '' }, from)

async function add(person: Person, begun: Awaited<ReturnType<typeof begin>>, from = call()) {
  const publicKeyCredential = new Authenticator(origin).create(optionsOf(begun))
  const made = { userId: person.userId, passkeyId: begun.passkeyId, publicKeyCredential, passkeyName: '' }
  return reasonOf(verifyPasskeyRegistration.handle(users, made, from))
}

test('a code adds one passkey without a sign-in, for a day, and a further one takes its place', async () => {
  const person = await newPerson()
  const former = await returned(person)
  const code = await returned(person)
  expect(await reasonOf(begin(person, former))).toBe('CODE_INVALID')
  const [one, other] = [await begin(person, code), await begin(person, code)]
  // Who did not begin it does not end it.
  expect(await add(person, one, by(await newPerson(), ''))).toBe('PASSKEY_CHALLENGE_OVER')
  expect(await add(person, one)).toBe('in')
  expect(await add(person, other)).toBe('PASSKEY_CHALLENGE_OVER')
  expect(await reasonOf(begin(person, code))).toBe('CODE_INVALID')
  const next = await returned(person)
  await shiftClock(users.sql, '86401 seconds')
  expect(await reasonOf(begin(person, next))).toBe('CODE_INVALID')
  await shiftClock(users.sql, '0 seconds')
  expect((await listPasskeys(users, person)).passkeys).toHaveLength(1)
  const events = await users.sql<{ type: string; creator: string }[]>`
    select type, creator from events
    where aggregate_id = ${person.userId} and type like 'passkey.%' order by events.sequence
  `
  expect(events.map(({ type }) => type)).toEqual([
    'passkey.link.created',
    'passkey.link.created',
    'passkey.added',
    'passkey.link.created',
  ])
  expect(events[0]!.creator).toBe('root')
})

test('a code is tried five times, means one user, and dies with the address', async () => {
  const [person, other] = [await newPerson(), await newPerson()]
  const code = await returned(person)
  expect(await reasonOf(begin(other, code))).toBe('CODE_INVALID')
  for (let tried = 0; tried < 5; tried++)
    expect(await reasonOf(begin(person, { ...code, code: 'ZZZZZZ' }))).toBe('CODE_INVALID')
  expect(await reasonOf(begin(person, code))).toBe('CODE_INVALID')
  const next = await returned(person)
  // Who does not know which link it is uses up no try.
  for (let tried = 0; tried < 5; tried++) await reasonOf(begin(person, { ...next, id: code.id, code: 'ZZZZZZ' }))
  const begun = await begin(person, next)
  const { userId } = person
  const email = `new-${person.userName}@example.com`
  await setEmail.handle(users, { userId, email, verification: { $case: 'isVerified', value: true } }, call())
  expect(await reasonOf(begin(person, next))).toBe('CODE_INVALID')
  expect(await add(person, begun)).toBe('PASSKEY_CHALLENGE_OVER')
})

test('a code is over once its user has a role beyond those of whoever made it', async () => {
  const person = await newPerson()
  const code = await returned(person)
  const begun = await begin(person, code)
  roles[person.userId] = ['IAM_OWNER']
  expect(await reasonOf(begin(person, code))).toBe('CODE_INVALID')
  expect(await add(person, begun)).toBe('PASSKEY_CHALLENGE_OVER')
})

test('nobody makes one for themselves, or where the policy allows no passkeys', async () => {
  const person = await newPerson()
  const { userId } = person
  const own = createPasskeyRegistrationLink.permit({ userId, medium: undefined }, by(person, ''), true, users)
  expect(await reasonOf(own)).toBe('PERMISSION_DENIED')
  const begun = await begin(person, await returned(person))
  await allow({ allowPasskeys: false })
  expect(await reasonOf(returned(person))).toBe('FACTOR_NOT_AVAILABLE')
  expect(await add(person, begun)).toBe('FACTOR_NOT_AVAILABLE')
  await allow({ allowPasskeys: true })
})

const answered = ({ answer }: PageAnswer) =>
  answer?.$case === 'notice'
    ? answer.value.reason
    : answer?.$case === 'passkeyLink' && answer.value.passkey
      ? 'makes one'
      : answer?.$case

test('the mailed link leads to a page that makes one, once', async () => {
  const person = await newPerson()
  const { userId } = person
  const { code } = await createPasskeyRegistrationLink.handle(users, { userId, medium: undefined }, call())
  expect(code).toBeUndefined()
  const [row] = await users.sql<{ codeId: string }[]>`
    select mail_id as "codeId" from unsent_mails where user_id = ${userId} and kind = 'passkey-link'
  `
  const mail = { userId, codeId: row!.codeId, organizationId: 'acme', kind: MailKind.MAIL_KIND_PASSKEY_LINK }
  const { url } = (await passkeyLinkMail.content(users, mail))!
  const { pathname, hash } = new URL(url)
  expect(pathname).toBe('/ui/passkey')
  const given = Object.fromEntries(new URLSearchParams(hash.slice(1)))
  const opened = (text = given['code']!) =>
    openPasskeyLink(
      users,
      { userId: given['userId']!, codeId: given['codeId']!, code: text, organizationId: '' },
      call(),
    )
  expect(answered(await showPasskeyLink(users, { organizationId: '' }))).toBe('passkeyLink')
  expect(answered(await opened('ZZZZZZ'))).toBe(NoticeReason.NOTICE_REASON_LINK_EXPIRED)
  const page = await opened()
  expect(answered(page)).toBe('makes one')
  const prompt = page.answer?.$case === 'passkeyLink' ? page.answer.value.passkey : undefined
  const options = JSON.parse(prompt!.options) as CreationOptions
  const sent = { userId, codeId: given['codeId']!, organizationId: '', name: 'Phone' }
  const put = async (credential: unknown) =>
    answered(await addPasskeyByLink(users, { ...sent, credential: JSON.stringify(credential) }, call()))
  expect(await put(new Authenticator(origin).create(options, { uv: false }))).toBe(
    NoticeReason.NOTICE_REASON_PASSKEY_NOT_ADDED,
  )
  const made = new Authenticator(origin).create(options)
  expect(await put(made)).toBe(NoticeReason.NOTICE_REASON_PASSKEY_ADDED)
  expect(await put(made)).toBe(NoticeReason.NOTICE_REASON_LINK_EXPIRED)
  expect((await listPasskeys(users, person)).passkeys).toMatchObject([{ name: 'Phone' }])
})
