import { beforeAll, expect, test } from 'vitest'
import type { ExampleApplication } from '../../examples/applications.ts'
import { admin, type ExampleHuman, newHuman, newOrganization, ok, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { authorizePath, callbackOf, newWebApplication, openBrowser, redeem } from '../../examples/sign-in.ts'
import { factsOf } from '../clients/call.ts'
import { call } from '../clients/encodings.ts'

const [callback, bye] = ['https://*.preview.example.com/callback', 'https://*.preview.example.com/bye']
const at = (pattern: string, label: string) => pattern.replace('*', label)

let home: string
let person: ExampleHuman
let application: ExampleApplication
beforeAll(async () => {
  home = await newOrganization()
  const settings = { devMode: true, redirectUris: [callback], postLogoutRedirectUris: [bye] }
  ;[application, person] = await Promise.all([
    newWebApplication(home, await newProject(home), settings),
    newHuman(home, { password: unique('Password') }),
  ])
})

test('a person signs in to a preview, which alone gets the tokens, and signs out there', async () => {
  const browser = openBrowser()
  const redirect_uri = at(callback, 'pr-7')
  const path = authorizePath(application, { redirect_uri, scope: 'openid' })
  const page = await browser.visit(path)
  // What a page says of an application is of the host that was asked for.
  expect(page.body).not.toContain('*.preview')
  const code = async () => {
    const came = await callbackOf(person, path, browser)
    expect(came.origin + came.pathname).toBe(redirect_uri)
    return came.searchParams.get('code')!
  }
  for (const other of [callback, at(callback, 'pr-8'), at(callback, 'pr-7').toUpperCase()])
    expect((await redeem(application, await code(), { redirect_uri: other })).body.error).toBe('invalid_grant')
  const { body } = await redeem(application, await code(), { redirect_uri })
  const end = (uri: string) => {
    const parameters = { id_token_hint: String(body.id_token), post_logout_redirect_uri: uri }
    return browser.visit(`/oidc/v1/end_session?${String(new URLSearchParams(parameters))}`)
  }
  expect(await end('https://evil.example/.preview.example.com/bye')).toMatchObject({ status: 200, location: '' })
  expect(await end(at(bye, 'pr-7'))).toMatchObject({ status: 302, location: at(bye, 'pr-7') })
})

test.each([
  callback,
  'https://preview.example.com/callback',
  'https://a.b.preview.example.com/callback',
  'https://PR-7.preview.example.com/callback',
  'https://xn--pr.preview.example.com/callback',
  'https://evil.example/.preview.example.com/callback',
  'https://evil.example#.preview.example.com/callback',
  'https://evil.example\\.preview.example.com/callback',
  'https://user@pr-7.preview.example.com/callback',
  'https://a%2Eb.preview.example.com/callback',
  'https://pr-7.preview.example.com/callback/',
  'http://pr-7.preview.example.com/callback',
])('no browser is sent to %s', async (redirect_uri) => {
  const { status, location, body } = await openBrowser().visit(
    authorizePath(application, { redirect_uri, prompt: 'none' }),
  )
  expect({ status, location }).toEqual({ status: 400, location: '' })
  expect(body).not.toContain('href="https://')
})

test('without dev_mode none is registered: the change that takes it is refused while one is there', async () => {
  const { projectId, appId } = application
  const patch = (oidcConfig: object, updateMask: string) =>
    call('PatchApplication', { projectId, appId, oidcConfig: oidcConfig as never, updateMask }, admin(home))
  const refused = await patch({}, 'oidcConfig.devMode')
  expect(factsOf(refused).fields).toEqual(['oidcConfig.redirectUris[0]', 'oidcConfig.postLogoutRedirectUris[0]'])
  ok(await patch({}, 'oidcConfig.devMode,oidcConfig.redirectUris,oidcConfig.postLogoutRedirectUris'))
})
