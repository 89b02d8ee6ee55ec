import { setTimeout as sleep } from 'node:timers/promises'
import postgres, { type Sql } from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ExampleApplication } from '../examples/applications.ts'
import { authorizePath, openBrowser, redirectUri, verifier } from '../examples/sign-in.ts'
import { shiftClock } from '../support/shift-clock.ts'
import { act } from './act.ts'
import { begin } from './inflict.ts'
import { type Running, startRunning } from './running.ts'

// Before a release: ROSTER_REFRESH_USES=10000 npm run test:all -- --project faults test/faults/refresh-tabs.test.ts
const uses = Number(process.env['ROSTER_REFRESH_USES'] ?? 150)
const tabs = 5
/** Uses between two kills. */
const apart = Math.max(100, uses / 20)
// A family may be used sixty times in half a minute.
const [ofFamily, mostFamilies] = [30, 40]

let running: Running
let sql: Sql
let application: ExampleApplication
const person = { userName: 'ada', password: 'a password of ada' }

beforeAll(async () => {
  running = await startRunning({ CALLS_PER_ADDRESS: '0' })
  sql = postgres(running.servers.databaseUrl, { max: 1, onnotice: () => {} })
  const { organizationId } = await act(running, 'AddOrganization', { name: 'Acme' })
  const there = { organization: organizationId }
  const { id: projectId } = await act(running, 'AddProject', { name: 'P' }, there)
  const profile = { firstName: 'Ada', lastName: 'L' }
  const email = { email: 'ada@example.com', isVerified: true }
  await act(running, 'AddHumanUser', { ...person, profile, email }, there)
  const settings = {
    projectId,
    name: 'Tabs',
    redirectUris: [redirectUri],
    authMethodType: 'OIDC_AUTH_METHOD_TYPE_NONE',
    grantTypes: ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE', 'OIDC_GRANT_TYPE_REFRESH_TOKEN'],
    firstParty: true,
  }
  const { appId, clientId } = await act(running, 'AddOIDCApplication', settings, there)
  application = { projectId, appId, clientId, clientSecret: '' }
}, 120_000)
afterAll(async () => {
  await sql?.end()
  await running?.stop()
})

/** Signs in once, and comes to the application so many times. */
async function signIn(times: number): Promise<Tokens[]> {
  // Pages are at PUBLIC_URL alone.
  const browser = openBrowser(`http://localhost:${new URL(running.url).port}`)
  const path = authorizePath(application, { scope: 'openid offline_access' })
  const { userName: login_name, password } = person
  await browser.submit(await browser.visit(path), { action: 'sign-in', login_name, password })
  const all: Tokens[] = []
  while (all.length < times) {
    const { location } = await browser.visit(path)
    const code = new URL(location).searchParams.get('code')!
    const redeeming = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier }
    const { status, tokens } = await ask(redeeming)
    expect([status, tokens.error_description]).toEqual([200, undefined])
    all.push(tokens)
  }
  return all
}

interface Tokens {
  access_token: string
  refresh_token: string
  error?: string
  error_description?: string
}

async function ask(parameters: Record<string, string>): Promise<{ status: number; tokens: Tokens }> {
  const body = new URLSearchParams({ client_id: application.clientId, ...parameters })
  const answer = await fetch(`${running.url}/oauth/v2/token`, {
    method: 'POST',
    body,
    signal: AbortSignal.timeout(10_000),
  })
  return { status: answer.status, tokens: (await answer.json()) as Tokens }
}

const refresh = (refresh_token: string) => ask({ grant_type: 'refresh_token', refresh_token })

/** As a client does that was told to come later, or got no answer at all. The answer that ends it. */
async function insist(refreshToken: string): Promise<{ status: number; tokens: Tokens }> {
  for (;;) {
    const answer = await refresh(refreshToken).catch(() => undefined)
    if (answer && answer.status !== 429 && answer.status < 500) return answer
    await sleep(20 + Math.random() * 200)
  }
}

test(
  `of ${uses} refresh tokens, each raced by five tabs, none signs anybody out, while services are killed`,
  { timeout: uses * 200 + 180_000 },
  async () => {
    const wrong: unknown[] = []
    let done = 0
    let kills: Promise<unknown> = Promise.resolve()
    async function race(refreshToken: string): Promise<string> {
      if (done++ % apart === apart / 2) kills = kills.then(kill)
      const answers = await Promise.all(Array.from({ length: tabs }, () => insist(refreshToken)))
      const [successor, ...others] = new Set(answers.map(({ tokens }) => tokens.refresh_token))
      if (others.length > 0 || answers.some(({ status }) => status !== 200)) wrong.push(answers)
      return successor!
    }
    let killed = 0
    async function kill() {
      const victim = killed++ % 2 === 0 ? 'users' : 'gateway'
      await (
        await begin(running, { kind: 'kill', victim, forMs: 0 })
      )()
    }
    const signedIn = await signIn(Math.min(mostFamilies, Math.ceil(uses / ofFamily)))
    await Promise.all(
      signedIn.map(async ({ refresh_token: first }) => {
        for (let token = first; done < uses && wrong.length === 0;) token = await race(token)
      }),
    )
    await kills
    console.log(`${done} refresh tokens, each raced by ${tabs} tabs, ${killed} kills: ${wrong.length} wrong`)
    expect(wrong).toEqual([])
  },
)

test('a stolen token that comes after its successor was used ends it for thief and owner', async () => {
  const [stolen] = await signIn(1)
  const { tokens: second } = await insist(stolen!.refresh_token)
  const { tokens: third } = await insist(second.refresh_token)
  await shiftClock(sql, '31 seconds', 'roster_users')
  const { status, tokens } = await insist(stolen!.refresh_token)
  expect([status, tokens.error]).toEqual([400, 'invalid_grant'])
  expect(tokens.error_description).toContain('used before')
  expect((await insist(third.refresh_token)).tokens.error).toBe('invalid_grant')
})
