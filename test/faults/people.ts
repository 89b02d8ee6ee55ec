import { setTimeout as sleep } from 'node:timers/promises'
import { authorizePath, redirectUri, verifier } from '../examples/sign-in.ts'
import { openBrowserAt } from '../support/browsers/browser.ts'
import { act } from './act.ts'
import type { Called } from './running.ts'

/** An application of one page, and a person who may sign in to it. */
export interface SignIns {
  ask(parameters: Record<string, string>): Promise<Answered>
  /** Refreshes as a client does that was told to come later, or got no answer at all. The answer that ends it. */
  refresh(refreshToken: string): Promise<Answered>
  /** Signs in once, and gets so many refresh tokens. */
  signIn(times: number): Promise<SignedIn>
  /**
   * Comes to the application with what the browser has, without a question (`prompt=none`). A code whose answer did not
   * come is lost, and the next one is asked for. Throws where the person would have to sign in.
   */
  come(browser: Browser, scope: string): Promise<Tokens>
  /** Whether an access token opens userinfo. Asks until it is told. */
  opens(accessToken: string): Promise<boolean>
}

type Browser = ReturnType<typeof openBrowserAt>

/** A person's browser, and the tokens that the application has of it. */
export interface SignedIn {
  browser: Browser
  tokens: Tokens[]
}

export interface Tokens {
  access_token: string
  refresh_token: string
  error?: string
  error_description?: string
}
export interface Answered {
  status: number
  tokens: Tokens
}

const person = { userName: 'ada', password: 'a password of ada' }
// Longer than every deadline and pause.
const patience = () => AbortSignal.timeout(10_000)
const comesLater = (status: number) => status === 429 || status >= 500
const pause = () => sleep(20 + Math.random() * 200)

export async function settlePerson(running: Called): Promise<SignIns> {
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
  const application = { projectId, appId, clientId, clientSecret: '' }

  async function ask(parameters: Record<string, string>): Promise<Answered> {
    const body = new URLSearchParams({ client_id: clientId, ...parameters })
    const answer = await fetch(`${running.url}/oauth/v2/token`, { method: 'POST', body, signal: patience() })
    return { status: answer.status, tokens: (await answer.json()) as Tokens }
  }

  return {
    ask,
    async refresh(refresh_token) {
      for (;;) {
        const answer = await ask({ grant_type: 'refresh_token', refresh_token }).catch(() => undefined)
        if (answer && !comesLater(answer.status)) return answer
        await pause()
      }
    },
    async signIn(times) {
      // Pages are at PUBLIC_URL alone.
      const browser = openBrowserAt(`http://localhost:${new URL(running.url).port}`)
      const { userName: login_name, password } = person
      const page = await browser.visit(authorizePath(application))
      await browser.submit(page, { action: 'sign-in', login_name, password })
      const tokens: Tokens[] = []
      while (tokens.length < times) tokens.push(await come(browser, 'openid offline_access'))
      return { browser, tokens }
    },
    come,
    async opens(accessToken) {
      for (;;) {
        const headers = { authorization: `Bearer ${accessToken}` }
        const { status } = await fetch(`${running.url}/oidc/v1/userinfo`, { headers, signal: patience() }).catch(
          () => ({ status: 503 }),
        )
        if (!comesLater(status)) return status === 200
        await pause()
      }
    },
  }

  async function come(browser: Browser, scope: string): Promise<Tokens> {
    for (;;) {
      const path = authorizePath(application, { scope, prompt: 'none' })
      const { location } = await browser.visit(path, { signal: patience() }).catch(() => ({ location: '' }))
      const { code, error } = Object.fromEntries(location ? new URL(location).searchParams : [])
      if (error && error !== 'temporarily_unavailable') throw new Error(`prompt=none: ${location}`)
      const redeeming = { grant_type: 'authorization_code', redirect_uri: redirectUri, code_verifier: verifier }
      const answer = code && (await ask({ ...redeeming, code }).catch(() => undefined))
      if (answer && answer.status === 200) return answer.tokens
      if (answer && !comesLater(answer.status)) throw new Error(`code: ${JSON.stringify(answer)}`)
      await pause()
    }
  }
}

/** Uses of a sign-in, and what ended it. */
export interface Uses {
  refreshes: number
  /** How often the person came again without a question. */
  silent: number
  wrong: string[]
}

/** Until stopped, uses each refresh token and the access token that it gave, and comes to the application again. */
export function startUses(signIns: SignIns, { browser, tokens }: SignedIn): { stop(): Promise<Uses> } {
  const uses: Uses = { refreshes: 0, silent: 0, wrong: [] }
  const stopped = new AbortController()
  async function use(index: number) {
    const { status, tokens: next } = await signIns.refresh(tokens[index]!.refresh_token)
    if (status !== 200) throw new Error(`refresh: ${status} ${next.error_description}`)
    tokens[index] = next
    uses.refreshes++
    if (!(await signIns.opens(next.access_token))) throw new Error('userinfo refuses a fresh access token')
    await signIns.come(browser, 'openid')
    uses.silent++
    // A refresh token family may be used sixty times in half a minute.
    await sleep(600)
  }
  const loops = tokens.map(async (_, index) => {
    while (!stopped.signal.aborted && uses.wrong.length === 0)
      await use(index).catch(({ message }) => uses.wrong.push(message))
  })
  return {
    async stop() {
      stopped.abort()
      await Promise.all(loops)
      return uses
    },
  }
}
