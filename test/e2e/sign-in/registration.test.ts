import { beforeAll, expect, inject, test } from 'vitest'
import type { ExampleApplication } from '../../examples/applications.ts'
import { admin, newOrganization, ok, unique, uniqueEmail } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { authorizePath, newWebApplication, openBrowser, readText, redeem, type Shown } from '../../examples/sign-in.ts'
import { introspect } from '../../examples/person-tokens.ts'
import { call } from '../clients/encodings.ts'
import { hasMailbox, mailCount, mailTo, noticeTo } from '../mailbox.ts'

const { url } = inject('roster')
const mailbox = hasMailbox() ? '' : ' (skipped: ROSTER_E2E_MAILBOX_URL is not set)'

let home: string
let application: ExampleApplication

beforeAll(async () => {
  home = await newOrganization()
  application = await newWebApplication(home, await newProject(home))
  ok(await call('UpdateLoginPolicy', { settings: { allowRegister: true } }, admin(home)))
})

const names = { given_name: 'Grace', family_name: 'Hopper' }
const password = () => unique('Password')

/** A browser on the page that asks for the code of a registration. */
async function register(email: string) {
  const browser = openBrowser()
  const form = await browser.visit(authorizePath(application, { prompt: 'create' }))
  const asking = await browser.submit(form, { ...names, email, action: 'register' })
  return { ...browser, asking }
}

const withoutSecrets = ({ status, body }: Shown, email: string) => ({
  status,
  body: body.replaceAll(email, '').replaceAll(/(form_token" value|\/ui\/login)[=/]"?[\w-]+/g, ''),
})

test.skipIf(!hasMailbox())(
  `somebody registers, enters the mailed code, and comes to the application as a user of a proved address${mailbox}`,
  async () => {
    const email = uniqueEmail()
    const offered = await openBrowser().visit(authorizePath(application))
    expect(offered.body).toContain('value="register"')
    const { submit, visit, asking } = await register(email)
    const wrong = await submit(asking, { code: 'WRONG2', password: password(), action: 'finish' })
    expect(wrong).toMatchObject({ status: 200, body: expect.stringContaining('role="alert"') })
    const { code } = await mailTo(email)
    const leaving = await submit(wrong, { code, password: password(), action: 'finish' })
    const [, link] = /<a[^>]* href="([^"]+)"/.exec(leaving.body)!
    const answer = new URL(readText(link!)).searchParams
    const tokens = await redeem(application, answer.get('code')!)
    const describe = async (token: string): Promise<Record<string, unknown>> =>
      (await (await fetch(`${url}/oidc/v1/userinfo`, { headers: { authorization: `Bearer ${token}` } })).json()) as {}
    const claims = await describe(tokens.body.access_token as string)
    expect(claims).toMatchObject({ given_name: 'Grace', name: 'Grace Hopper', locale: 'en' })
    const { sub, ...told } = claims as { sub: string }
    const { user } = ok(await call('GetUser', { userId: sub }, admin(home)))
    expect(user).toMatchObject({ human: { email: { email, isVerified: true } } })
    // The name that was made is shown nowhere, and the address where `email` is allowed.
    expect(told).not.toHaveProperty('preferred_username')
    const account = await visit('/ui/account')
    expect(account.body).toContain(email)
    expect(account.body).not.toContain(user.userName)
    const { location } = await visit(authorizePath(application, { scope: 'openid profile email' }))
    const known = await redeem(application, new URL(location).searchParams.get('code')!)
    const [described, introspected] = await Promise.all([
      describe(known.body.access_token as string),
      introspect(application, known.body.access_token as string),
    ])
    expect([described['preferred_username'], introspected['username']]).toEqual([email, email])
    expect(await introspect(application, tokens.body.access_token as string)).not.toHaveProperty('username')
    const { changes } = ok(await call('ListUserChanges', { userId: sub }, admin(home)))
    const added = changes.find(({ type }: { type: string }) => type.includes('human.added'))
    expect(added).toMatchObject({ actor: sub })
  },
)

test.skipIf(!hasMailbox())(
  `an address that has an account gets the same page, and a mail that says so${mailbox}`,
  async () => {
    const email = uniqueEmail()
    const first = await register(email)
    const { code } = await mailTo(email)
    await first.submit(first.asking, { code, password: password(), action: 'finish' })
    const unknown = uniqueEmail()
    const [other, again] = [await register(unknown), await register(email)]
    expect(withoutSecrets(again.asking, email)).toEqual(withoutSecrets(other.asking, unknown))
    const notice = await noticeTo(email)
    expect(notice.subject).toMatch(/^You have an account at /)
    expect(notice.text).toContain('/ui/forgot-password')
    expect(await mailCount(email)).toBe(2)
  },
)
