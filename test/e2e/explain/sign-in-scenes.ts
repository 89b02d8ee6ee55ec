import type { ExampleApplication } from '../../examples/applications.ts'
import type { Operation } from '../../examples/contract.ts'
import { newAskingApplication } from '../../examples/person-tokens.ts'
import { admin, type ExampleHuman, newHuman, newOrganization, ok, unique } from '../../examples/people.ts'
import { newCode, openBrowser, redeem, type Shown } from '../../examples/sign-in.ts'
import { readPage } from '../../examples/sign-in-kinds.ts'
import { call } from '../clients/encodings.ts'

/** A person with a session and a consent at an application of another organization, and what the application has. */
export interface SignInScene {
  home: string
  owner: string
  projectId: string
  application: ExampleApplication
  person: ExampleHuman
  browser: ReturnType<typeof openBrowser>
  sessionId: string
  authorizationId: string
  refreshToken: string
}

/** Sets a scene. `more`: settings of the application. */
export async function setSignInScene(more: object = {}): Promise<SignInScene> {
  const [home, owner] = [await newOrganization(), await newOrganization()]
  const { id: projectId } = await act('AddProject', { name: unique('Project'), hasProjectCheck: false }, owner)
  const application = await newAskingApplication(owner, projectId, {
    rosterApi: false,
    grantTypes: ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE', 'OIDC_GRANT_TYPE_REFRESH_TOKEN'],
    ...more,
  })
  const person = await newHuman(home, { password: unique('Password') })
  const browser = openBrowser()
  const scene = { home, owner, projectId, application, person, browser }
  return { ...scene, ...(await signInOnce(scene)) }
}

/** Signs in with a refresh token. */
export async function signInOnce({ person, application, browser }: Omit<SignInScene, keyof Given>): Promise<Given> {
  const code = await newCode(person, application, { scope: 'openid profile offline_access' }, browser)
  const { body } = await redeem(application, code)
  const { events } = await act('ExplainSignIn', { userId: person.userId, clientId: application.clientId, limit: 1 })
  const granted = events.find(({ type }: Event) => type === 'roster.authorization.granted.v1')
  return {
    sessionId: granted.data.sessionId,
    authorizationId: granted.aggregateId,
    refreshToken: body.refresh_token,
  }
}

type Given = Pick<SignInScene, 'sessionId' | 'authorizationId' | 'refreshToken'>

export interface Event {
  type: string
  aggregateId: string
  data: Record<string, string>
}

/** Uses the refresh token: the status of the answer, and the next one. */
export async function refresh({ application, refreshToken }: SignInScene) {
  const more = { grant_type: 'refresh_token', refresh_token: refreshToken, redirect_uri: '', code_verifier: '' }
  const { status, body } = await redeem(application, '', more)
  return { status, refreshToken: body.refresh_token as string }
}

export async function act(operation: Operation, request: object, organization?: string): Promise<any> {
  return ok(await call(operation, request as never, admin(organization)))
}

/** What the pages show; where they ask for a password, also what they show after it. */
export async function doorOf({ browser, person }: SignInScene, path: string): Promise<string[]> {
  const shown = await browser.visit(path)
  if (kindOf(shown) !== 'sign in') return [kindOf(shown)]
  const { userName: login_name, password } = person
  return ['sign in', kindOf(await browser.submit(shown, { action: 'sign-in', login_name, password }))]
}

function kindOf(shown: Shown): string {
  const { kind, problem, answer } = readPage(shown)
  return problem ?? (answer ? (answer.searchParams.get('error') ?? 'code') : kind)
}
