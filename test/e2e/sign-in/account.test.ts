import { beforeAll, expect, inject, test } from 'vitest'
import { type ExampleHuman, newHuman, newOrganization, ok, signIn, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { gateways, newAskingApplication, newPersonToken, userinfo } from '../../examples/person-tokens.ts'
import { authorizePath, newCode, openBrowser, type Shown } from '../../examples/sign-in.ts'
import { factsOf } from '../clients/call.ts'
import { call } from '../clients/encodings.ts'

const { url } = inject('roster')

let home: string
beforeAll(async () => {
  home = await newOrganization()
})

const newPerson = () => newHuman(home, { password: unique('Password') })

/** Comes to the own account in a browser where nobody is signed in. */
async function comeIn(person: ExampleHuman, browser: ReturnType<typeof openBrowser>): Promise<Shown> {
  const { userName: login_name, password } = person
  return browser.submit(await browser.visit('/ui/account'), { action: 'sign-in', login_name, password })
}

/** One that keeps its access, and asks for consent. */
const newApplication = async () =>
  newAskingApplication(home, await newProject(home), {
    grantTypes: ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE', 'OIDC_GRANT_TYPE_REFRESH_TOKEN'],
  })

const valuesOf = (page: Shown, name: string) =>
  [...page.body.matchAll(new RegExp(`name="${name}" value="([^"]+)"`, 'g'))].map(([, value]) => value!)

test('a sign-in without an application ends at the own account', async () => {
  const person = await newPerson()
  const browser = openBrowser()
  const asked = await browser.visit('/ui/account')
  expect(asked).toMatchObject({
    status: 200,
    body: expect.stringContaining(`Continue to your account at <bdi>${new URL(url).host}`),
  })
  const page = await comeIn(person, browser)
  expect(page).toMatchObject({ status: 200, body: expect.stringContaining('<h1>Your account</h1>') })
  expect(page.body).toContain(person.userName)
  expect((await browser.visit('/ui/account/activity')).body).toContain('This browser')
  expect((await browser.visit('/ui/account/apps')).body).toContain('Connected apps (0)')
  const german = await browser.visit('/ui/account?ui_locales=de')
  expect(german.body).toContain('<h1>Ihr Konto</h1>')
  expect((await browser.submit(german, { action: 'here' }, '/ui/account/sign-out')).body).toContain('lang="de"')
})

test('a session that is ended there opens nothing a second later', async () => {
  const person = await newPerson()
  const token = await signIn(person)
  const browser = openBrowser()
  await comeIn(person, browser)
  const page = await browser.visit('/ui/account/activity')
  ok(await call('GetMyUser', {}, { token }))
  const [session_id, ...others] = valuesOf(page, 'session_id')
  // There is no button to end that of this browser beside the one to sign out.
  expect(others).toEqual([])
  const after = await browser.submit(page, { session_id: session_id! }, '/ui/account/session')
  expect(valuesOf(after, 'session_id')).toEqual([])
  for (const gateway of gateways())
    await expect
      .poll(async () => factsOf(await call('GetMyUser', {}, { token, url: gateway })).reason, { timeout: 5000 })
      .toBe('TOKEN_INVALID')
})

test('an application that asks for no scope has nothing before the person let it in, and stands in the list', async () => {
  const person = await newPerson()
  const application = await newApplication()
  const browser = openBrowser()
  const path = authorizePath(application, { scope: '' })
  const { userName: login_name, password } = person
  const asking = await browser.submit(await browser.visit(path), { action: 'sign-in', login_name, password })
  expect(asking).toMatchObject({ location: '' })
  expect(asking.body).toContain('know who you are')
  expect(valuesOf(await browser.visit('/ui/account/apps'), 'application_id')).toEqual([])
  expect(await newCode(person, application, { scope: '' }, browser)).toBeTruthy()
  const page = await browser.visit('/ui/account/apps')
  expect(page.body).toContain('know who you are')
  const [application_id] = valuesOf(page, 'application_id')
  expect(application_id).toBe(application.appId)
  await browser.submit(page, { application_id: application_id! }, '/ui/account/consent')
  const { location } = await browser.visit(authorizePath(application, { scope: '', prompt: 'none' }))
  expect(new URL(location).searchParams.get('error')).toBe('consent_required')
})

test('what an application has is over once it is taken back', async () => {
  const person = await newPerson()
  const application = await newApplication()
  const browser = openBrowser()
  const token = await newPersonToken(person, application, 'openid email offline_access', browser)
  expect(await userinfo(token)).toBe(200)
  const page = await browser.visit('/ui/account/apps')
  for (const text of ['may:', 'know who you are', 'see your email address', 'keep this access'])
    expect(page.body).toContain(text)
  const [application_id] = valuesOf(page, 'application_id')
  const after = await browser.submit(page, { application_id: application_id! }, '/ui/account/consent')
  expect(valuesOf(after, 'application_id')).toEqual([])
  for (const gateway of gateways()) await expect.poll(() => userinfo(token, gateway), { timeout: 5000 }).toBe(401)
})

test('who signs out everywhere is signed in nowhere, and no application acts on', async () => {
  const person = await newPerson()
  const application = await newApplication()
  const [browser, elsewhere] = [openBrowser(), openBrowser()]
  const token = await newPersonToken(person, application, 'openid offline_access', browser)
  await comeIn(person, elsewhere)
  const page = await browser.visit('/ui/account')
  const after = await browser.submit(page, { action: 'everywhere' }, '/ui/account/sign-out')
  expect(after.body).toContain('name="password"')
  expect((await elsewhere.visit('/ui/account')).body).toContain('name="password"')
  for (const gateway of gateways()) await expect.poll(() => userinfo(token, gateway), { timeout: 5000 }).toBe(401)
})

test('a form that another browser or another site sends does nothing', async () => {
  const [person, other] = await Promise.all([newPerson(), newPerson()])
  const [browser, foreign] = [openBrowser(), openBrowser()]
  const page = await comeIn(person, browser)
  await comeIn(other, foreign)
  const refused = await foreign.submit(page, { action: 'everywhere' }, '/ui/account/sign-out')
  expect([refused.status, refused.body]).toEqual([400, expect.stringContaining('This form is no longer valid')])
  const crossSite = await browser.visit('/ui/account/sign-out', {
    method: 'POST',
    body: new URLSearchParams({ action: 'everywhere' }),
    headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
  })
  expect(crossSite.status).toBe(403)
  for (const each of [browser, foreign])
    expect((await each.visit('/ui/account/activity')).body).toContain('This browser')
})
