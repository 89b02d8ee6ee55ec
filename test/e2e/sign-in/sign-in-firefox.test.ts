import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { newApplication } from '../../examples/applications.ts'
import { type ExampleHuman, newHuman, newOrganization, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { type Firefox, hasFirefox, keys, openFirefox } from '../../support/browsers/firefox.ts'

const { url } = inject('roster')

let firefox: Firefox
let application: Server
let redirectUri: string
let clientId: string
let ada: ExampleHuman
/** How people came back, and with which parameters. */
let answers: Record<string, unknown>[] = []

beforeAll(async () => {
  if (!hasFirefox) return
  application = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url!, redirectUri)
    const posted = new URLSearchParams(await text(request))
    if (pathname === '/cb')
      answers.push({ method: request.method, ...Object.fromEntries([...searchParams, ...posted]) })
    response.setHeader('content-type', 'text/html').end(pathname === '/cb' ? 'arrived' : 'the application')
  }).listen(0, '127.0.0.1')
  await once(application, 'listening')
  redirectUri = `http://127.0.0.1:${(application.address() as AddressInfo).port}/cb`
  const home = await newOrganization()
  ada = await newHuman(home, { password: unique('Password') })
  const settings = { redirectUris: [redirectUri], devMode: true, authMethodType: 'OIDC_AUTH_METHOD_TYPE_NONE' }
  clientId = (await newApplication(home, await newProject(home), settings)).clientId
  firefox = await openFirefox()
}, 120_000)
afterAll(async () => {
  await firefox?.stop()
  application?.close()
})

function request(more: Record<string, string>): string {
  const challenge = createHash('sha256').update(randomBytes(32)).digest('base64url')
  const pkce = { code_challenge: challenge, code_challenge_method: 'S256' }
  const own = { client_id: clientId, redirect_uri: redirectUri, response_type: 'code', scope: 'openid email' }
  return `${url}/oauth/v2/authorize?${new URLSearchParams({ ...own, ...pkce, ui_locales: 'en', ...more }).toString()}`
}

const shows = (heading: string) => expect.poll(() => firefox.read().catch(String)).toBe(heading)

async function signIn(password: string) {
  await firefox.click('#login-name')
  await firefox.type(ada.userName + keys.tab + password + keys.enter)
}

describe.skipIf(!hasFirefox)(`in Firefox${hasFirefox ? '' : ' (skipped: there is no firefox-esr)'}`, () => {
  const answer = (more: object) => ({ code: expect.any(String), iss: url, ...more })

  test('a person signs in, consents once, and comes to the application; Back leads to where it began', async () => {
    await firefox.go(new URL('/', redirectUri).href)
    await firefox.go(request({ state: 's' }))
    await shows('Sign in')
    await signIn(ada.password)
    await shows('Allow access?')
    await firefox.click('button[value="allow"]')
    await shows('arrived')
    // The pages between have one address, so the browser keeps none of them.
    await firefox.back()
    await shows('the application')
    expect(answers.splice(0)).toEqual([answer({ method: 'GET', state: 's' })])
    expect(await firefox.cookies()).toMatchObject([{ name: 'roster-browser', httpOnly: true, sameSite: 'lax' }])
  })

  test('the next answer comes at once, by a form that the browser sends where the application wants that', async () => {
    await firefox.go(request({ state: 't' }))
    await shows('arrived')
    await firefox.go(request({ state: 'u', response_mode: 'form_post' }))
    await shows('arrived')
    await firefox.go(request({ state: 'v', response_mode: 'form_post', prompt: 'login' }))
    await shows("Confirm it's you")
    await firefox.click('#password')
    await firefox.type(ada.password + keys.enter)
    await shows('arrived')
    expect(answers.splice(0)).toEqual([
      answer({ method: 'GET', state: 't' }),
      answer({ method: 'POST', state: 'u' }),
      answer({ method: 'POST', state: 'v' }),
    ])
  })
})
