import { beforeAll, describe, expect, test } from 'vitest'
import type { ExampleApplication } from '../../examples/applications.ts'
import { basic, sendForm, tokenPath } from '../../examples/oauth.ts'
import { admin, type ExampleHuman, newHuman, newOrganization, ok, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import {
  authorizePath,
  newCode,
  newWebApplication,
  openBrowser,
  redeem,
  redirectUri,
  refresh,
} from '../../examples/sign-in.ts'
import { factsOf } from '../clients/call.ts'
import { call } from '../clients/encodings.ts'

let home: string
let projectId: string
let person: ExampleHuman
const both = ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE', 'OIDC_GRANT_TYPE_REFRESH_TOKEN']
const leaving = 'https://app.example.com/bye'

beforeAll(async () => {
  home = await newOrganization()
  projectId = await newProject(home)
  person = await newHuman(home, { password: unique('Password') })
})

const add = (more = {}) =>
  newWebApplication(home, projectId, { grantTypes: both, postLogoutRedirectUris: [leaving], ...more })

async function arrivalsOf({ appId }: ExampleApplication, more = {}): Promise<any> {
  return ok(await call('SearchApplicationArrivals', { projectId, appId, ...more }, admin(home)))
}

const stepsOf = async (application: ExampleApplication): Promise<string[]> =>
  ((await arrivalsOf(application)).steps ?? []).map(({ kind }: { kind: string }) =>
    kind.replace('APPLICATION_STEP_KIND_', ''),
  )

/** The refusal of an application, once it is there. */
async function refusalOf(application: ExampleApplication) {
  const found = async () => (await arrivalsOf(application)).refusals ?? []
  await expect.poll(found, { timeout: 10_000 }).toHaveLength(1)
  const [refusal] = await found()
  expect(refusal).toMatchObject({ refusalId: expect.any(String), refusalDate: expect.any(String), count: 1 })
  return refusal
}

const at = (application: ExampleApplication, more: Record<string, string>) =>
  openBrowser().visit(authorizePath(application, more))
const signOut = (parameters: Record<string, string>) =>
  openBrowser().visit(`/oidc/v1/end_session?${String(new URLSearchParams(parameters))}`)

describe('of what came for an application', () => {
  test('each step of a sign-in arrives, in the order of a sign-in', async () => {
    const application = await add({ firstParty: false })
    expect(await stepsOf(application)).toEqual([])
    const browser = openBrowser()
    const code = await newCode(person, application, { scope: 'openid offline_access' }, browser)
    const first = ['REQUEST', 'SIGN_IN', 'CONSENT']
    await expect.poll(() => stepsOf(application), { timeout: 10_000 }).toEqual(first)
    const { body } = await redeem(application, code)
    await expect.poll(() => stepsOf(application), { timeout: 10_000 }).toEqual([...first, 'CODE_REDEEMED'])
    await refresh(application, body.refresh_token)
    await browser.visit('/oidc/v1/userinfo', { headers: { authorization: `Bearer ${body.access_token}` } })
    await browser.visit(
      `/oidc/v1/end_session?${String(new URLSearchParams({ id_token_hint: body.id_token, post_logout_redirect_uri: leaving }))}`,
    )
    await expect
      .poll(() => stepsOf(application), { timeout: 10_000 })
      .toEqual([...first, 'CODE_REDEEMED', 'USERINFO', 'REFRESH', 'SIGN_OUT'])
    expect((await arrivalsOf(application)).refusals ?? []).toEqual([])
  })

  test('a redirect URI that is not registered shows what came, and what is registered by now', async () => {
    const application = await add()
    await at(application, { redirect_uri: 'http://localhost:3001/callback' })
    expect(await refusalOf(application)).toMatchObject({
      cause: 'APPLICATION_REFUSAL_CAUSE_REDIRECT_URI',
      parameter: 'redirect_uri',
      sent: 'http://localhost:3001/callback',
      registered: [redirectUri],
    })
    const redirectUris = [redirectUri, 'https://app.example.com/other']
    const { appId } = application
    ok(await call('PatchApplication', { projectId, appId, oidcConfig: { redirectUris } }, admin(home)))
    expect((await refusalOf(application)).registered).toEqual(redirectUris)
  })

  test.each([
    ['response_type', { response_type: 'token' }, 'token', ['code']],
    ['code_challenge_method', { code_challenge_method: 'plain' }, 'plain', ['S256']],
    ['prompt', { prompt: 'none login' }, 'none login', ['none']],
    // It may be anything, such as a token.
    ['request', { request: 'a.secret.jwt' }, undefined, undefined],
  ])('a wrong %s is named', async (parameter, sent, came, may) => {
    const application = await add()
    await at(application, sent)
    const refusal = await refusalOf(application)
    expect(refusal).toMatchObject({ cause: 'APPLICATION_REFUSAL_CAUSE_PARAMETER', parameter })
    expect([refusal.sent, refusal.registered]).toEqual([came, may])
    expect(refusal.description).toMatch(new RegExp(`^${parameter} must `))
  })

  test('a foreign text is short and of characters that can be seen', async () => {
    const application = await add()
    await at(application, { redirect_uri: `https://x.example.com/<img src=x>\n\u202e${'y'.repeat(900)}` })
    const { sent } = await refusalOf(application)
    expect(sent).toMatch(/^https:\/\/x\.example\.com\/<img\\u\{20\}src=x>\\u\{a\}\\u\{202e\}y+…$/)
    expect(sent).toHaveLength(501)
  })

  test('a wrong secret, a code that gives nothing, and a wrong address after sign-out are named; no secret is', async () => {
    const byCause = [
      ['CLIENT', undefined, ({ clientId }: ExampleApplication) => sendForm(tokenPath, { grant_type: 'authorization_code', code: 'magic-code', redirect_uri: redirectUri }, { headers: basic(clientId, 'wrong-secret') })],
      ['GRANT', 'code', (application: ExampleApplication) => redeem(application, 'magic-code')],
      ['GRANT', 'code_verifier', async (application: ExampleApplication) => redeem(application, await newCode(person, application), { code_verifier: 'x'.repeat(50) })],
      ['GRANT', 'redirect_uri', async (application: ExampleApplication) => redeem(application, await newCode(person, application), { redirect_uri: 'https://other.example.com/' })],
      ['SIGN_OUT', 'post_logout_redirect_uri', ({ clientId }: ExampleApplication) => signOut({ client_id: clientId, post_logout_redirect_uri: 'https://other.example.com/bye' })],
    ] as const // prettier-ignore
    for (const [cause, parameter, ask] of byCause) {
      const application = await add()
      await ask(application)
      const refusal = await refusalOf(application)
      expect([refusal.cause, refusal.parameter]).toEqual([`APPLICATION_REFUSAL_CAUSE_${cause}`, parameter])
      expect(JSON.stringify(refusal)).not.toMatch(/magic-code|wrong-secret|xxxxx/)
      if (cause === 'SIGN_OUT')
        expect(refusal).toMatchObject({ sent: 'https://other.example.com/bye', registered: [leaving] })
    }
  })

  test('a person who may not come is counted without a name', async () => {
    const { id } = ok(await call('AddProject', { name: unique('Project'), hasProjectCheck: true }, admin(home)))
    const application = await newWebApplication(home, id)
    const stranger = await newHuman(await newOrganization(), { password: unique('Password') })
    const browser = openBrowser()
    const page = await browser.visit(authorizePath(application))
    const { userName: login_name, password } = stranger
    await browser.submit(page, { action: 'sign-in', login_name, password })
    const found = async () =>
      ok(
        await call(
          'SearchApplicationArrivals',
          { projectId: application.projectId, appId: application.appId },
          admin(home),
        ),
      )
    await expect
      .poll(async () => (await found()).refusals?.[0]?.cause, { timeout: 10_000 })
      .toBe('APPLICATION_REFUSAL_CAUSE_PERSON')
    expect(JSON.stringify(await found())).not.toContain(stranger.userId)
  })

  test('others see nothing: neither another organization nor another project', async () => {
    const application = await add()
    const { appId } = application
    const foreign = await newOrganization()
    const from = async (organization: string, projectId: string) =>
      call('SearchApplicationArrivals', { projectId, appId }, admin(organization))
    for (const answer of [await from(foreign, projectId), await from(home, await newProject(home))])
      expect(factsOf(answer).reason).toMatch(/^(APPLICATION|PROJECT)_NOT_FOUND$/)
  })
})
