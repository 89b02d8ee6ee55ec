import { createHash } from 'node:crypto'
import { OIDCAppType, OIDCAuthMethodType, OIDCGrantType } from '#gen/roster/grants/v1/application_service'
import type { Copied } from '#gen/roster/grants/v1/internal_service'
import { ShowAccountRequest as asksForAccount, type ShowAccountRequest } from '#gen/roster/users/v1/account_service'
import type { AuthorizeRequest, PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { AuthorizeRequest as codec } from '#gen/roster/users/v1/sign_in_service'
import { readCode, type SealedGrant } from '../sealed-code.ts'
import type { OidcCopy } from '../../applications/application-copy.ts'
import { endMySession } from '../../../pages/account/end-my-session.ts'
import { leaveAccount } from '../../../pages/account/leave-account.ts'
import { showAccount } from '../../../pages/account/show-account.ts'
import { withdrawMyConsent } from '../../../pages/account/withdraw-my-consent.ts'
import { authorize } from '../../../pages/operations/sign-in/authorize.ts'
import { chooseAccount } from '../../../pages/operations/sign-in/choose-account.ts'
import { decide } from '../../../pages/operations/sign-in/decide.ts'
import { showSignIn } from '../../../pages/operations/sign-in/show-sign-in.ts'
import { signIn } from '../../../pages/operations/sign-in/sign-in.ts'
import { addHumanUser } from '../../../directory/operations/user/add-human-user.ts'
import { callIn, type TestUsers } from '../../../testing/test-users.ts'

export const redirectUri = 'https://app.example.com/callback'
export const challenge = createHash('sha256').update('verifier').digest('base64url')

/** What an application asks for, unless a test says otherwise. */
export const usual: Partial<AuthorizeRequest> = {
  clientId: 'client',
  redirectUri,
  responseType: 'code',
  scope: 'openid profile',
  state: 'the state',
  codeChallenge: challenge,
  codeChallengeMethod: 'S256',
}

export const oidc: OidcCopy = {
  redirectUris: [redirectUri],
  grantTypes: [OIDCGrantType.OIDC_GRANT_TYPE_AUTHORIZATION_CODE, OIDCGrantType.OIDC_GRANT_TYPE_REFRESH_TOKEN],
  appType: OIDCAppType.OIDC_APP_TYPE_WEB,
  authMethodType: OIDCAuthMethodType.OIDC_AUTH_METHOD_TYPE_BASIC,
  postLogoutRedirectUris: [],
  devMode: false,
  accessTokenType: 0,
  accessTokenRoleAssertion: false,
  idTokenRoleAssertion: false,
  idTokenUserinfoAssertion: false,
  clockSkew: 0,
  additionalOrigins: [],
  skipNativeAppSuccessPage: false,
  backChannelLogoutUri: '',
  allowMissingPkce: false,
  firstParty: false,
  rosterApi: false,
  idTokenAlgorithm: 0,
  accessTokenLifetime: 0,
}

/** Notes an application and its project, as grants has them. */
export async function noteApplication(
  { sql }: TestUsers,
  clientId: string,
  settings: Partial<OidcCopy> = {},
  project: { organizationId?: string; hasProjectCheck?: boolean } = {},
): Promise<void> {
  const { organizationId = 'owner', hasProjectCheck = false } = project
  const id = `project-of-${clientId}`
  const checks = { roleCheck: false, hasProjectCheck, roleAssertion: false }
  const state = { projectId: id, name: `App ${clientId}`, clientId, oidc: { ...oidc, ...settings } }
  for (const [type, key, value] of [
    ['project', id, { name: 'P', checks }],
    ['application', `app-${clientId}`, state],
  ] as const)
    await sql`
      insert into copies (type, id, organization_id, client_id, sequence, state)
      values (${type}, ${key}, ${organizationId}, ${type === 'application' ? clientId : null}, 1,
        ${sql.json(value)})
      on conflict (type, id) do update set state = excluded.state
    `
}

/** What grants answers about the application that `noteApplication` noted: nothing newer. */
export function nothingNewer(clientIds: string[]) {
  return (clientId: string): Copied[] =>
    clientIds.includes(clientId)
      ? [
          {
            type: 'application',
            id: `app-${clientId}`,
            organizationId: 'owner',
            sequence: 0,
            state: Buffer.from('{}'),
            closedSequence: 0,
            secretHash: Buffer.alloc(0),
            secrets: [],
          },
        ]
      : []
}

/** A person with a password, `<name>-password`. */
export async function addPerson(users: TestUsers, userName: string, organizationId = 'acme'): Promise<string> {
  const { userId } = await addHumanUser.handle(
    users,
    {
      userId: undefined,
      userName,
      password: `${userName}-password`,
      profile: { firstName: 'F', lastName: 'L', displayName: `The ${userName}`, preferredLanguage: '', gender: 0 },
      email: { email: `${userName}@example.com`, verification: { $case: 'isVerified', value: true } },
    } as never,
    callIn(organizationId),
  )
  return userId
}

let address = 0

/** Somebody at a browser, which keeps its cookie and follows redirects to pages of Roster's own. */
export class Visitor {
  cookie = ''
  /** The cookie of a trusted browser. */
  trust = ''
  readonly users: TestUsers
  readonly address = `2001:db8:${(address++).toString(16)}::`

  constructor(users: TestUsers, cookie = '') {
    this.users = users
    this.cookie = cookie
  }

  protected call() {
    return { ...callIn(''), caller: { ...callIn('').caller, userId: '' }, clientAddress: this.address }
  }

  protected keep(answer: PageAnswer): PageAnswer {
    if (answer.newBrowser !== '') this.cookie = answer.newBrowser
    if (answer.newTrust) this.trust = answer.newTrust
    return answer
  }

  async authorize(parameters: Partial<AuthorizeRequest> = {}): Promise<PageAnswer> {
    const request = { ...codec.decode(new Uint8Array()), ...usual, ...parameters, browser: this.cookie }
    return this.keep(await authorize(this.users, request, this.call()))
  }

  /** Asks without a page. Who has the former value of the cookie is sent to ask once more. */
  async silently(before?: () => void): Promise<PageAnswer> {
    const answer = await this.authorize({ prompt: 'none' })
    const [, postedRequest] =
      /posted_request=(.+)$/.exec(answer.answer?.$case === 'redirect' ? answer.answer.value.location : '') ?? []
    before?.()
    return postedRequest === undefined ? answer : this.authorize({ postedRequest })
  }

  /** Begins a request, and returns its page. */
  async begin(parameters: Partial<AuthorizeRequest> = {}): Promise<PageAnswer> {
    return this.show(requestOf(await this.authorize(parameters)))
  }

  async show(requestId: string): Promise<PageAnswer> {
    return this.keep(await showSignIn(this.users, { browser: this.cookie, requestId }, this.call()))
  }

  /** Sends name and password, and returns the page after them. */
  async signIn(page: PageAnswer, loginName: string, password = `${loginName}-password`): Promise<PageAnswer> {
    return this.follow(await this.post(page, { loginName, password }))
  }

  async post(
    { requestId, formToken }: Pick<PageAnswer, 'requestId' | 'formToken'>,
    { loginName = '', password = '', keep = '', action = 'sign-in', browser = this.cookie, newPasskey = '', code = '' },
  ): Promise<PageAnswer> {
    return this.keep(
      await signIn(
        this.users,
        { browser, requestId, formToken, loginName, password, keep, action, code, trust: this.trust, newPasskey },
        this.call(),
      ),
    )
  }

  async choose({ requestId, formToken }: PageAnswer, sessionId: string): Promise<PageAnswer> {
    const request = { browser: this.cookie, requestId, formToken, sessionId }
    return this.follow(this.keep(await chooseAccount(this.users, request, this.call())))
  }

  async decide({ requestId, formToken }: PageAnswer, action: string): Promise<PageAnswer> {
    return this.follow(await decide(this.users, { browser: this.cookie, requestId, formToken, action }, this.call()))
  }

  /** The page of the own account, or the one that comes before it. */
  async account(asked: Partial<ShowAccountRequest> = {}): Promise<PageAnswer> {
    const request = { ...asksForAccount.decode(new Uint8Array()), ...asked, browser: this.cookie }
    return this.follow(this.keep(await showAccount(this.users, request, this.call())))
  }

  /** Signs out on the page of an account, and returns the page after that. */
  async leave(page: PageAnswer, action: string): Promise<PageAnswer> {
    const request = { ...this.accountForm(page), action }
    return this.follow(this.keep(await leaveAccount(this.users, request, this.call())))
  }

  async endSession(page: PageAnswer, sessionId: string): Promise<PageAnswer> {
    const request = { ...this.accountForm(page), sessionId }
    return this.follow(this.keep(await endMySession(this.users, request, this.call())))
  }

  async takeBack(page: PageAnswer, applicationId: string): Promise<PageAnswer> {
    return this.follow(await withdrawMyConsent(this.users, { ...this.accountForm(page), applicationId }, this.call()))
  }

  private accountForm({ answer, formToken, uiLocales }: PageAnswer) {
    const userId = answer?.$case === 'account' ? answer.value.userId : ''
    return { browser: this.cookie, userId, formToken, uiLocales }
  }

  async follow(answer: PageAnswer): Promise<PageAnswer> {
    if (answer.answer?.$case !== 'redirect') return answer
    const { pathname, searchParams } = new URL(answer.answer.value.location, 'http://roster')
    const [, section] = /^\/ui\/account\/?(.*)$/.exec(pathname) ?? []
    const [uiLocales = '', outcome = ''] = ['ui_locales', 'outcome'].map((name) => searchParams.get(name) ?? '')
    if (section !== undefined) return this.account({ section, uiLocales, outcome })
    const page = await this.show(requestOf(answer))
    return leadsTo(page, '/ui/account') ? this.follow(page) : page
  }
}

function leadsTo({ answer }: PageAnswer, path: string): boolean {
  return answer?.$case === 'redirect' && answer.value.location.startsWith(path)
}

/** The request that a redirect leads to. */
export function requestOf({ answer }: PageAnswer): string {
  const [, id] = /^\/ui\/login\/([\w-]+)$/.exec(answer?.$case === 'redirect' ? answer.value.location : '') ?? []
  if (id === undefined) throw new Error(`this is no way to a page: ${JSON.stringify(answer)}`)
  return id
}

/** What an application is told, by whichever way. */
export function told({ answer }: PageAnswer): Record<string, string> {
  if (answer?.$case === 'formPost') return answer.value.parameters
  if (answer?.$case !== 'redirect' && answer?.$case !== 'leaving')
    throw new Error(`no answer: ${JSON.stringify(answer)}`)
  const { searchParams, hash } = new URL(answer.value.location)
  return Object.fromEntries([...searchParams, ...new URLSearchParams(hash.slice(1))])
}

/** Which page it is, and what it says. */
export function said({ answer }: PageAnswer): string {
  if (answer?.$case === 'signIn') return `sign-in ${answer.value.error}${answer.value.nameIsFixed ? ' fixed' : ''}`
  if (answer?.$case === 'registration') return `registration ${answer.value.error}`
  if (answer?.$case === 'registrationCode') return `code ${answer.value.error}`
  if (answer?.$case === 'notice') return `notice ${answer.value.reason}`
  if (answer?.$case === 'consent') return `consent ${answer.value.clickOnly ? 'click' : answer.value.scopes.join(' ')}`
  return answer?.$case ?? ''
}

/** What a code carries that was given at once. */
export function sealedIn({ keys }: Pick<TestUsers, 'keys'>, code: string): SealedGrant {
  return readCode(keys, code)!.sealed!
}

/** A nonce that is too long for a code that carries it, so that the authorization is stored with the code. */
export const longNonce = 'n'.repeat(1024)
