import { beforeAll, describe, expect, test } from 'vitest'
import { hasMailbox, linkTo, mailCount, mailTo, noticeTo } from '../mailbox.ts'
import {
  type ExampleHuman,
  getUser,
  newHuman,
  newOrganization,
  ok,
  unique,
  uniqueEmail,
} from '../../examples/people.ts'
import { openBrowser, type Shown } from '../../examples/sign-in.ts'
import { factsOf } from '../clients/call.ts'
import { call, recordSecret } from '../clients/encodings.ts'

let home: string
beforeAll(async () => {
  home = await newOrganization()
})

type Browser = ReturnType<typeof openBrowser>

async function comeIn({ userName: login_name, password }: ExampleHuman, browser: Browser): Promise<Shown> {
  return browser.submit(await browser.visit('/ui/account'), { action: 'sign-in', login_name, password })
}

/** The page of a link, and what its form sends by a script. */
const partsOf = (link: string) => {
  const { pathname, search, hash } = new URL(link)
  return { link: pathname + search, secret: new URLSearchParams(hash.slice(1)).get('code')! }
}

describe.skipIf(!hasMailbox())('of a session that was stolen, and changes address and password,', () => {
  /** The thief has the cookie. Returns the link that the owner gets. */
  async function takeOver(person: ExampleHuman) {
    const owner = openBrowser()
    await comeIn(person, owner)
    const thief = openBrowser(undefined, owner.cookie())
    const email = uniqueEmail()
    const asking = await thief.submit(await thief.visit('/ui/account/email'), { email }, '/ui/account/email')
    const { code } = await mailTo(email)
    await thief.submit(asking, { code, action: 'check' }, '/ui/account/email/code')
    const password = unique('Thief')
    recordSecret(password)
    await thief.submit(await thief.visit('/ui/account/password'), { password }, '/ui/account/password')
    expect((await getUser(person.userId)).human.email).toMatchObject({ email, isVerified: true })
    const notice = await noticeTo(person.email)
    return { thief, email, password, notice, ...partsOf(linkTo(notice.text)) }
  }

  test('the owner is told at the former address, and takes all of it back by a button', async () => {
    const person = await newHuman(home, { password: unique('Password') })
    const { thief, email, password, notice, link, secret } = await takeOver(person)
    expect(notice.subject).toBe('The address of your account was changed')
    const before = (await getUser(person.userId)).details
    const owner = openBrowser()
    // As a scanner of mails does: nothing happens.
    for (const method of ['GET', 'HEAD']) await owner.visit(link, { method })
    // What proves it stays in the browser, and out of logs.
    expect(link).toBe(`/ui/take-back?organization_id=${person.organization}`)
    const page = await owner.visit(link)
    expect((await getUser(person.userId)).details).toEqual(before)
    const back = await owner.submit(page, { secret }, '/ui/take-back')
    expect(back.body).toContain('You have your account back')
    expect((await getUser(person.userId)).human.email).toMatchObject({ email: person.email, isVerified: true })
    // The thief has neither the session nor a password nor the address.
    expect((await thief.visit('/ui/account')).body).toContain('name="password"')
    for (const loginName of [person.userName, person.email, email])
      for (const tried of [password, person.password])
        expect(factsOf(await call('CreateSession', { loginName, password: tried })).reason).toBe('CREDENTIALS_INVALID')
    // At once the address recovers the account.
    ok(await call('RequestPasswordReset', { loginName: person.email }))
    const { code: verificationCode } = await mailTo(person.email)
    const newPassword = unique('Owner')
    recordSecret(newPassword)
    ok(await call('ResetPassword', { userId: person.userId, verificationCode, newPassword }))
    ok(await call('CreateSession', { loginName: person.email, password: newPassword }))
    // Once.
    expect((await owner.submit(page, { secret }, '/ui/take-back')).body).toContain('This link has expired')
    // The address that it replaced was verified, and is told. It gets no link.
    const told = async () => (await noticeTo(email)).subject
    await expect.poll(told).toBe('The address of your account was changed')
    expect((await noticeTo(email)).text).not.toContain('take-back')
  })

  test('the new address recovers nothing meanwhile, and gets no link', async () => {
    const person = await newHuman(home, { password: unique('Password') })
    const { thief, email, link, secret } = await takeOver(person)
    ok(await call('RequestPasswordReset', { loginName: person.userName }))
    // The thief goes on to a third address. The second one could not recover the account yet, so it is only told.
    const before = await mailCount(email)
    const further = uniqueEmail()
    await thief.submit(await thief.visit('/ui/account/email'), { email: further }, '/ui/account/email')
    await expect.poll(() => mailCount(email)).toBeGreaterThan(before)
    expect((await noticeTo(email)).text).not.toContain('take-back')
    const owner = openBrowser()
    expect((await owner.submit(await owner.visit(link), { secret }, '/ui/take-back')).body).toContain(
      'You have your account',
    )
    expect((await getUser(person.userId)).human.email.email).toBe(person.email)
  })

  test('the owner is told of a new password alone, with the way to another one', async () => {
    const person = await newHuman(home, { password: unique('Password') })
    const thief = openBrowser()
    await comeIn(person, thief)
    const password = unique('Thief')
    recordSecret(password)
    await thief.submit(await thief.visit('/ui/account/password'), { password }, '/ui/account/password')
    const notice = await noticeTo(person.email)
    expect(notice.subject).toBe('The password of your account was changed')
    expect(linkTo(notice.text)).toMatch(/\/ui\/forgot-password\?organization_id=[\w-]+$/)
  })
})

test('a link that nobody made takes nothing back', async () => {
  const browser = openBrowser()
  const page = await browser.visit('/ui/take-back')
  for (const secret of ['', 'x', 'A'.repeat(1000), 'https://example.com/ui/take-back#code=x'])
    expect((await browser.submit(page, { secret }, '/ui/take-back')).body).toContain('This link has expired')
})
