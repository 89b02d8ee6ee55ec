import type { LoginPolicySettings } from '#gen/roster/users/v1/login_policy_service'
import { type PageAnswer, SignInError } from '#gen/roster/users/v1/sign_in_service'
import { OIDCAuthMethodType } from '#gen/roster/grants/v1/application_service'
import { instance } from '#lib/instance'
import { anonymous } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { hashToken } from '../../../../directory/tokens/token.ts'
import { authenticate } from '../../../../internal/authenticate.ts'
import {
  addPerson,
  noteApplication,
  nothingNewer,
  Visitor as Anyone,
} from '../../../../openid/authorization/testing/visitors.ts'
import { addMyPasskey, changeMyPasskey } from '../../../../pages/account/my-passkeys.ts'
import { checkCode } from '../../../../pages/operations/sign-in/check-code.ts'
import { checkPasskey, renewPasskeyChallenge } from '../../../../pages/operations/sign-in/check-passkey.ts'
import { callIn, openUsers, serveDomains, signInBy, type TestUsers } from '../../../../testing/test-users.ts'
import { registerPasskey } from '../../../operations/passkeys/register-passkey.ts'
import { verifyPasskeyRegistration } from '../../../operations/passkeys/verify-passkey-registration.ts'
import { updateLoginPolicy } from '../../../operations/settings/update-login-policy.ts'
import { Authenticator, type CreationOptions, type Lies, type RequestOptions } from './authenticator.ts'

export const origin = 'http://localhost:8080'
export let database: TestDatabase
export let users: TestUsers
let grants: { stop(): Promise<void> }
let people = 0
/** Roles on the instance, by user. */
export const roles: Record<string, string[]> = {}

/** A replica of users on a database of its own, whose people may have passkeys. */
export async function openWorld(settings: Record<string, string> = {}): Promise<void> {
  database = await createDatabase()
  grants = await serveDomains({}, roles, { copied: nothingNewer(['client']) })
  // A mail tells of each change.
  const often = { MAILS_PER_ADDRESS_IN_TEN_MINUTES: '100', MAILS_PER_ADDRESS_A_DAY: '100' }
  users = await openUsers(database.urls.users, { ...often, ...settings })
  const authMethodType = OIDCAuthMethodType.OIDC_AUTH_METHOD_TYPE_NONE
  await noteApplication(users, 'client', { firstParty: true, authMethodType }, { organizationId: 'acme' })
  await allow({ allowPasskeys: true })
}

export async function closeWorld(): Promise<void> {
  await Promise.all([users?.stop(), grants?.stop()])
  await database?.drop()
}

export const call = (): Call => ({ ...callIn('acme'), clientAddress: `2001:db8:${(people++).toString(16)}::` })
export const allow = (settings: LoginPolicySettings, organizationId: string = instance.id) =>
  updateLoginPolicy.handle(users, { settings }, { ...call(), organizationId })

export async function newPerson() {
  const userName = `person-${people++}`
  return { userName, userId: await addPerson(users, userName) }
}
export type Person = Awaited<ReturnType<typeof newPerson>>

export const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'in',
    (error: { reason: string }) => error.reason,
  )
export const holder = ({ sessionToken }: { sessionToken: string }) =>
  reasonOf(authenticate(users, { tokenHash: hashToken(sessionToken) }, call()))

/** The person calls with the token of a session. */
export const by = ({ userId }: Person, sessionId: string): Call => ({
  ...call(),
  caller: { ...anonymous, userId, human: true, organizationId: 'acme', sessionId },
})

export async function signedIn(person: Person): Promise<Call> {
  const { sessionId } = await signInBy(
    users,
    { loginName: person.userName, password: `${person.userName}-password` },
    call(),
  )
  return by(person, sessionId)
}

export const optionsOf = ({
  publicKeyCredentialCreationOptions: options,
}: {
  publicKeyCredentialCreationOptions?: unknown
}) =>
  (options as { publicKey: CreationOptions & { authenticatorSelection: object; excludeCredentials: object[] } })
    .publicKey

export async function register(
  person: Person,
  authenticator: Authenticator,
  lies: Lies = {},
  own?: Call,
  code?: { id: string; code: string },
) {
  const caller = own ?? (await signedIn(person))
  const { userId } = person
  const begun = await registerPasskey.handle(users, { userId, code, authenticator: 0, domain: '' }, caller)
  const publicKeyCredential = authenticator.create(optionsOf(begun), lies)
  const { passkeyId } = begun
  await verifyPasskeyRegistration.handle(users, { userId, passkeyId, publicKeyCredential, passkeyName: 'key' }, caller)
  return { passkeyId, caller, begun, publicKeyCredential }
}

export async function withPasskey() {
  const person = await newPerson()
  const authenticator = new Authenticator(origin)
  const { passkeyId } = await register(person, authenticator)
  return { person, authenticator, passkeyId }
}

export class Visitor extends Anyone {
  async pass(page: PageAnswer, credential: unknown, action = 'sign-in', cookie = this.cookie): Promise<PageAnswer> {
    const { requestId, formToken } = page
    const request = { browser: cookie, requestId, formToken, credential: JSON.stringify(credential), action, keep: '' }
    return this.follow(this.keep(await checkPasskey(this.users, request, this.call())))
  }

  async mail({ requestId, formToken }: PageAnswer) {
    const request = {
      browser: this.cookie,
      requestId,
      formToken,
      code: '',
      action: 'by-mail',
      factor: '',
      trust: '',
      trusts: '',
    }
    return this.follow(this.keep(await checkCode(this.users, request, this.call())))
  }

  async add(page: PageAnswer, credential: unknown, name = '') {
    const request = { ...this.form(page), credential: JSON.stringify(credential), name }
    return this.follow(this.keep(await addMyPasskey(this.users, request, this.call())))
  }

  async change(page: PageAnswer, passkeyId: string, action: string, name = '') {
    const request = { ...this.form(page), passkeyId, name, action }
    return this.follow(this.keep(await changeMyPasskey(this.users, request, this.call())))
  }

  async renew({ requestId }: PageAnswer): Promise<RequestOptions | null> {
    const { answer } = await renewPasskeyChallenge(this.users, { browser: this.cookie, requestId }, this.call())
    if (answer?.$case !== 'download') throw new Error(String(answer?.$case))
    return JSON.parse(Buffer.from(answer.value.content).toString()) as RequestOptions | null
  }

  private form({ answer, formToken, uiLocales }: PageAnswer) {
    const userId = answer?.$case === 'account' ? answer.value.userId : ''
    return { browser: this.cookie, userId, formToken, uiLocales }
  }
}

/** What a page asks the browser for. */
export function asked({
  answer,
}: PageAnswer): RequestOptions & { allowCredentials: { id: string }[]; userVerification: string } {
  const prompt = answer?.$case === 'signIn' || answer?.$case === 'passkey' ? answer.value.passkey : undefined
  if (!prompt) throw new Error(`nothing is asked for: ${answer?.$case}`)
  return JSON.parse(prompt.options) as ReturnType<typeof asked>
}

/** What a page says went wrong. */
export const errorOf = ({ answer }: PageAnswer) =>
  answer?.$case === 'signIn' || answer?.$case === 'passkey'
    ? Object.keys(SignInError).find((name) => SignInError[name as keyof typeof SignInError] === answer.value.error)
    : `no error, but ${answer?.$case}`
