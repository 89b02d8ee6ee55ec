import { beforeAll, expect, inject, test } from 'vitest'
import type { ExampleApplication } from '../../examples/applications.ts'
import { basic, sendForm, tokenPath } from '../../examples/oauth.ts'
import { type ExampleHuman, newHuman, newOrganization, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { formOf, newCode, newWebApplication, openBrowser, redeem } from '../../examples/sign-in.ts'

const { url } = inject('roster')
const returnUri = 'https://app.example.com/bye'
const grants = ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE', 'OIDC_GRANT_TYPE_REFRESH_TOKEN']

let person: ExampleHuman
let application: ExampleApplication
/** Its page in the browser ends with its session, whatever it was given. */
let inBrowser: ExampleApplication
beforeAll(async () => {
  const home = await newOrganization()
  const projectId = await newProject(home)
  const settings = { postLogoutRedirectUris: [returnUri], grantTypes: grants }
  const page = { appType: 'OIDC_APP_TYPE_USER_AGENT', authMethodType: 'OIDC_AUTH_METHOD_TYPE_NONE' }
  ;[application, inBrowser, person] = await Promise.all([
    newWebApplication(home, projectId, settings),
    newWebApplication(home, projectId, { ...settings, ...page }),
    newHuman(home, { password: unique('Password') }),
  ])
})

type Browser = ReturnType<typeof openBrowser>
interface Tokens {
  access_token: string
  id_token: string
  refresh_token: string
}

async function tokensOf(browser: Browser, of = application, scope = 'openid'): Promise<Tokens> {
  const { status, body } = await redeem(of, await newCode(person, of, { scope }, browser))
  expect({ status, body }).toMatchObject({ status: 200 })
  return body as never
}

function endSession(browser: Browser, parameters: Record<string, string>, init?: RequestInit) {
  return browser.visit(`/oidc/v1/end_session?${String(new URLSearchParams(parameters))}`, init)
}

async function statusOf({ access_token }: Tokens) {
  return (await fetch(`${url}/oidc/v1/userinfo`, { headers: { authorization: `Bearer ${access_token}` } })).status
}

async function refresh({ refresh_token }: Tokens, { clientId, clientSecret }: ExampleApplication) {
  const form = { grant_type: 'refresh_token', refresh_token, ...(clientSecret === '' && { client_id: clientId }) }
  const headers = clientSecret === '' ? {} : basic(clientId, clientSecret)
  return (await sendForm(tokenPath, form, { headers, url })).status
}

test('a sign-out ends the session with its tokens and codes, and what a page in the browser has; offline access goes on', async () => {
  const browser = openBrowser()
  const online = await tokensOf(browser)
  const offline = await tokensOf(browser, application, 'openid offline_access')
  const ofPage = await tokensOf(browser, inBrowser, 'openid offline_access')
  const code = await newCode(person, application, {}, browser)
  for (const each of [online, offline, ofPage]) expect(await statusOf(each)).toBe(200)
  const { status, location } = await endSession(browser, {
    id_token_hint: online.id_token,
    post_logout_redirect_uri: returnUri,
    state: 's',
  })
  expect([status, location]).toEqual([302, `${returnUri}?state=s`])
  await expect.poll(() => statusOf(online), { timeout: 5000 }).toBe(401)
  await expect.poll(() => statusOf(ofPage), { timeout: 5000 }).toBe(401)
  expect(await refresh(ofPage, inBrowser)).toBe(400)
  expect((await redeem(application, code)).status).toBe(400)
  expect(await statusOf(offline)).toBe(200)
  expect(await refresh(offline, application)).toBe(200)
})

test('a POST from another site, which comes without a cookie, signs out as well', async () => {
  const browser = openBrowser()
  const { id_token } = await tokensOf(browser)
  const body = String(new URLSearchParams({ id_token_hint: id_token, post_logout_redirect_uri: returnUri }))
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    cookie: '',
    origin: 'https://app.example.com',
    'sec-fetch-site': 'cross-site',
  }
  const { status, location } = await browser.visit('/oidc/v1/end_session', { method: 'POST', body, headers })
  expect([status, location]).toEqual([302, returnUri])
  expect((await endSession(browser, {})).body).not.toContain('value="stay"')
})

test('a question is answered by its own page alone', async () => {
  const browser = openBrowser()
  const tokens = await tokensOf(browser)
  const asked = await endSession(browser, { client_id: application.clientId, post_logout_redirect_uri: returnUri })
  const { action, fields, button } = formOf(asked.body)!
  const choice = { [button['name']!]: button['value']! }
  const body = new URLSearchParams({ ...fields, ...choice })
  const foreign = [
    { origin: 'https://evil.example' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ]
  for (const headers of foreign)
    expect((await browser.visit(action, { method: 'POST', body, headers })).status).toBe(403)
  const forged = await browser.submit(asked, { ...choice, form_token: 'another' })
  expect(forged.status).toBe(400)
  expect((await openBrowser().submit(asked, choice)).status).toBe(400)
  expect(await statusOf(tokens)).toBe(200)
  const leaving = await browser.submit(asked, choice)
  expect(leaving.body).toContain(`content="0; url=${returnUri}"`)
  await expect.poll(() => statusOf(tokens), { timeout: 5000 }).toBe(401)
})

test('a parameter that comes twice does not count', async () => {
  const browser = openBrowser()
  const { id_token } = await tokensOf(browser)
  const twice = `post_logout_redirect_uri=${returnUri}`
  const asked = await browser.visit(`/oidc/v1/end_session?id_token_hint=${id_token}&id_token_hint=${id_token}`)
  expect(asked.body).toContain('value="stay"')
  const gone = await browser.visit(`/oidc/v1/end_session?id_token_hint=${id_token}&${twice}&${twice}`)
  expect([gone.status, gone.location]).toEqual([200, ''])
})
