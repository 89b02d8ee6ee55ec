import { beforeAll, describe, expect, inject, test } from 'vitest'
import { offered } from '#lib/rpc/methods'
import { compatibleMethods } from '../../../compat/zitadel/translation/compatible-methods.ts'
import type { Operation, Stream } from '../../examples/contract.ts'
import { newLoginClient } from '../../examples/login-applications.ts'
import { newClient, basic, sendForm, tokenPath } from '../../examples/oauth.ts'
import { admin, type ExampleHuman, newOrganization, ok } from '../../examples/people.ts'
import { gateways, introspect, revoke, userinfo } from '../../examples/person-tokens.ts'
import { authorizePath, newWebApplication, openBrowser } from '../../examples/sign-in.ts'
import { readPage } from '../../examples/sign-in-kinds.ts'
import { newProject } from '../../examples/projects.ts'
import { factsOf } from '../clients/call.ts'
import { callGrpc } from '../clients/grpc.ts'
import { call, recordSecret } from '../clients/encodings.ts'
import { requestsOf } from '../clients/requests.ts'
import { streaming } from '../clients/streams.ts'
import { startOwnHouse } from '../own-house.ts'
import { isSecondTier } from '../../support/long.ts'
import { newPerson } from './stage.ts'

// A session whose password was checked, where a second factor is demanded. Until that is checked too, it opens nothing.

const { url } = inject('roster')

interface Session {
  sessionId: string
  sessionToken: string
}

let strict: string
let person: ExampleHuman
let client: { token: string }
let partial: Session
beforeAll(async () => {
  strict = await newOrganization()
  await demand(true, strict)
  person = await newPerson(strict)
  client = await newLoginClient(await newOrganization())
  partial = await signIn(person)
})

const demand = async (forceMfa: boolean, organization: string) =>
  ok(await call('UpdateLoginPolicy', { settings: { forceMfa } }, admin(organization)))

async function signIn({ userName: loginName, password }: ExampleHuman): Promise<Session> {
  return ok(await call('CreateSession', { loginName, password }))
}

/** Checks the code that a login application is given. */
async function complete({ sessionId, sessionToken }: Session): Promise<Session> {
  const asked = { sessionId, sessionToken, otpEmail: { returnCode: {} } }
  const otpEmailCode = ok(await call('SetSession', asked, client)).challenges.otpEmail
  const answer = ok(await call('SetSession', { sessionId, sessionToken, otpEmailCode }, client))
  expect(answer.missingFactors ?? []).toEqual([])
  return { sessionId, sessionToken: answer.sessionToken }
}

const reasonAt = async (url: string, token: string) =>
  factsOf(await call('GetMyUser', {}, { url, token })).reason ?? 'in'
/** What the gateways say of a token, where they all say the same. */
async function said(token: string, urls = gateways()): Promise<string> {
  return [...new Set(await Promise.all(urls.map((url) => reasonAt(url, token))))].join()
}

const nameOf = ({ desc }: (typeof offered)[number]) => desc.name as Operation

test('is the caller of no operation and no stream', async () => {
  const token = partial.sessionToken
  const closed = offered.filter(({ access, streams }) => access.rule !== 'public' && !streams)
  for (const method of closed)
    expect([nameOf(method), factsOf(await callGrpc(nameOf(method), {}, { token })).reason]).toEqual([
      nameOf(method),
      'TOKEN_INVALID',
    ])
  const streams = offered.filter(({ streams: isStream }) => isStream)
  expect([closed.length > 100, streams.length]).toEqual([true, 2])
  for (const { desc } of streams)
    for (const { open } of streaming) {
      const { ended, messages } = open(desc.name as Stream, {}, { token })
      expect([(await ended)?.code, messages]).toEqual([16, []])
    }
})

test('is the caller of no operation, whatever the request names, and of no method of ZITADEL’s', async () => {
  const { sessionId, sessionToken: token } = partial
  const { userId, userName: loginName, password } = person
  const names = { userId, sessionId, sessionToken: token, token, loginName, password, organizationId: strict }
  for (const method of offered) {
    if (method.access.rule === 'public' || method.streams) continue
    const whole = requestsOf(nameOf(method), names).at(-1)!
    expect([nameOf(method), factsOf(await callGrpc(nameOf(method), whole, { token })).reason]).toEqual([
      nameOf(method),
      'TOKEN_INVALID',
    ])
  }
  const closed = compatibleMethods.filter(({ access }) => access.rule !== 'public')
  expect(closed.length).toBeGreaterThan(30)
  for (const { path } of closed) {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const answer = await fetch(url + path, { method: 'POST', headers, body: '{}' })
    expect([path, answer.status]).toEqual([path, 401])
  }
})

test('changes nothing of what a public operation answers', async () => {
  const open = offered.filter(({ access }) => access.rule === 'public')
  expect(open.length).toBeGreaterThan(5)
  for (const method of open) {
    // Of nobody, so that no try counts.
    const [request] = requestsOf(nameOf(method), { loginName: 'nobody' })
    const [own, none] = [
      factsOf(await callGrpc(nameOf(method), request, { token: partial.sessionToken })),
      factsOf(await callGrpc(nameOf(method), request)),
    ]
    expect([nameOf(method), own]).toEqual([nameOf(method), none])
  }
  // Only a caller names a user by the id, or a lifetime.
  const { userId } = person
  expect(factsOf(await call('CreateSession', { userId }, { token: partial.sessionToken })).reason).toBe(
    factsOf(await call('CreateSession', { userId })).reason,
  )
})

test('opens no endpoint of OAuth 2.0, and is revoked by none', async () => {
  const { sessionToken: token } = partial
  const application = await newWebApplication(strict, await newProject(strict))
  const machine = await newClient({ organization: strict })
  const ofMachine = { clientId: machine.userId, clientSecret: machine.secret }
  expect(await userinfo(token)).toBe(401)
  for (const asking of [application, ofMachine]) {
    expect(await introspect(asking, token)).toEqual({ active: false })
    expect((await revoke(asking, token)).status).toBe(200)
  }
  const { clientId, clientSecret } = application
  const grants = [
    { grant_type: 'authorization_code', code: token },
    { grant_type: 'refresh_token', refresh_token: token },
    { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion: token },
    { grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange', subject_token: token },
  ]
  for (const form of grants) {
    const headers = { ...basic(clientId, clientSecret) }
    expect([form.grant_type, (await sendForm(tokenPath, form, { headers })).body.access_token]).toEqual([
      form.grant_type,
      undefined,
    ])
  }
  // It lives on, and its code makes it whole.
  const whole = (await complete(partial)).sessionToken
  expect(await userinfo(whole)).toBe(200)
  expect(await introspect(ofMachine, whole)).toMatchObject({ active: true, sub: person.userId })
  partial = await signIn(person)
})

test('in a browser opens neither an application nor the own account', async () => {
  const { userName: login_name, password } = person
  const application = await newWebApplication(strict, await newProject(strict))
  const browser = openBrowser()
  const asked = await browser.submit(await browser.visit('/ui/account'), { action: 'sign-in', login_name, password })
  recordSecret(browser.cookie().split('=')[1])
  expect(readPage(asked).kind).toBe('code')
  expect(readPage(await browser.visit('/ui/account')).kind).toBe('code')
  expect(readPage(await browser.visit(authorizePath(application))).kind).toBe('code')
  const silent = readPage(await browser.visit(authorizePath(application, { prompt: 'none' })))
  expect(silent.answer?.searchParams.get('error')).toBe('login_required')
})

describe('a whole session that every gateway knows', () => {
  const becomes = (token: string, what: string, urls?: string[]) =>
    expect.poll(() => said(token, urls), { timeout: 3000, interval: 50 }).toBe(what)

  test('is refused as soon as the organization demands a second factor, and counts again when it does no more', async () => {
    const home = await newOrganization()
    const { sessionToken } = await signIn(await newPerson(home))
    expect(await said(sessionToken)).toBe('in')
    await demand(true, home)
    await becomes(sessionToken, 'TOKEN_INVALID')
    await demand(false, home)
    await becomes(sessionToken, 'in')
  })

  test('is refused as soon as its user has a second factor, and counts again without it', async () => {
    const human = await newPerson(await newOrganization())
    const [{ userId }, { sessionToken }] = [human, await signIn(human)]
    expect(await said(sessionToken)).toBe('in')
    ok(await call('AddOTPEmail', { userId }, { token: sessionToken }))
    await becomes(sessionToken, 'TOKEN_INVALID')
    ok(await call('RemoveOTPEmail', { userId }, admin()))
    await becomes(sessionToken, 'in')
  })

  test('is refused as soon as its user gets a role, where administrators need a second factor, and counts again without it', async () => {
    const home = await newOrganization()
    const settings = { forceMfaOfAdministrators: true }
    ok(await call('UpdateLoginPolicy', { settings }, admin(home)))
    const [human, other] = [await newPerson(home), await signIn(await newPerson(home))]
    const [{ userId }, { sessionToken: person }] = [human, await signIn(human)]
    expect(await said(person)).toBe('in')
    ok(await call('AddOrganizationMember', { userId, roles: ['ORG_USER_MANAGER'] }, admin(home)))
    await becomes(person, 'TOKEN_INVALID')
    expect(await said(other.sessionToken)).toBe('in')
    ok(await call('RemoveOrganizationMember', { userId }, admin(home)))
    await becomes(person, 'in')
  })

  test('goes on where its second factor was checked', async () => {
    const { sessionToken } = await complete(await signIn(person))
    expect(await said(sessionToken)).toBe('in')
    await demand(false, strict)
    await demand(true, strict)
    expect(await said(sessionToken)).toBe('in')
  })

  test.skipIf(!isSecondTier || inject('roster').house === undefined)(
    'is refused as soon as the instance demands a second factor (second tier, and a Roster of its own)',
    async () => {
      const house = await startOwnHouse({ replicas: 2 })
      try {
        const { token } = await house.human()
        expect(await said(token, house.urls)).toBe('in')
        const settings = { forceMfa: true }
        ok(await call('UpdateInstanceLoginPolicy', { settings }, house.machine))
        await becomes(token, 'TOKEN_INVALID', house.urls)
        // Machines have no second factor.
        expect(await said(house.adminToken, house.urls)).toBe('in')
        ok(await call('ResetInstanceLoginPolicy', {}, house.machine))
        await becomes(token, 'in', house.urls)
      } finally {
        await house.stop()
      }
    },
    60_000,
  )
})
