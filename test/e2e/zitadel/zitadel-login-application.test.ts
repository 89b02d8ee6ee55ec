import type { JsonObject } from '@bufbuild/protobuf'
import { createServerTransport } from '@zitadel/client/node'
import {
  createOIDCServiceClient,
  createOrganizationServiceClient,
  createSessionServiceClient,
  createSettingsServiceClient,
  createUserServiceClient,
  makeReqCtx,
} from '@zitadel/client/v2'
import { decodeJwt } from 'jose'
import { Secret, TOTP } from 'otpauth'
import { beforeAll, expect, inject, test } from 'vitest'
import {
  Authenticator,
  type CreationOptions,
} from '../../../services/users/sessions/factors/passkey/testing/authenticator.ts'
import type { ExampleApplication } from '../../examples/applications.ts'
import { beginAtLogin, newLoginClient, onLoginPages } from '../../examples/login-applications.ts'
import { admin, type ExampleHuman, newHuman, newOrganization, ok, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { newWebApplication, redeem } from '../../examples/sign-in.ts'
import { call, recordSecret } from '../clients/encodings.ts'
import { hasMailbox, mailTo } from '../mailbox.ts'
import { allowedLinkHost } from '../running.ts'

// The calls of ZITADEL's login application (apps/login of its repository), in its order, by its client.

let person: ExampleHuman
let other: ExampleHuman
/** With a second factor. */
let careful: ExampleHuman
let own: ExampleHuman
let application: ExampleApplication
let login: ReturnType<typeof openLogin>

beforeAll(async () => {
  const home = await newOrganization()
  application = await newWebApplication(home, await newProject(home), onLoginPages)
  person = await newHuman(home, { password: unique('Password') })
  other = await newHuman(home, { password: unique('Password') })
  careful = await newHuman(home, { password: unique('Password') })
  own = await newHuman(home, { password: unique('Password') })
  login = openLogin((await newLoginClient(home)).token)
})

const domain = 'localhost'

interface KeptSession {
  id: string
  token: string
}

function openLogin(token: string) {
  const transport = createServerTransport(token, { baseUrl: inject('roster').url })
  const settings = createSettingsServiceClient(transport)
  const sessions = createSessionServiceClient(transport)
  const users = createUserServiceClient(transport)
  const oidc = createOIDCServiceClient(transport)
  const organizations = createOrganizationServiceClient(transport)
  const day = { seconds: 86_400n, nanos: 0 }

  const findByLoginName = async (loginName: string) => {
    const byName = { query: { case: 'loginNameQuery' as const, value: { loginName } } }
    return users.listUsers({ queries: [byName] })
  }

  return {
    /** What every page reads before it shows anything. */
    async openPage() {
      const translation = settings.getHostedLoginTranslation({ level: { case: 'instance', value: true }, locale: 'en' })
      // The application goes on without it.
      await expect(translation).rejects.toThrow('no equal')
      expect((await settings.getGeneralSettings({})).supportedLanguages).toContain('en')
      expect((await settings.getSecuritySettings({})).settings).toBeDefined()
      const queries = [{ query: { case: 'defaultQuery' as const, value: {} } }]
      const [first] = (await organizations.listOrganizations({ queries })).result
      for (const organization of [undefined, first!.id]) {
        const ctx = makeReqCtx(organization)
        expect((await settings.getBrandingSettings({ ctx })).settings).toBeDefined()
        expect((await settings.getLegalAndSupportSettings({ ctx })).settings).toBeDefined()
        expect((await settings.getLoginSettings({ ctx })).settings).toBeDefined()
        expect((await settings.getActiveIdentityProviders({ ctx })).identityProviders).toBeDefined()
      }
    },

    getAuthRequest: async (authRequestId: string) => (await oidc.getAuthRequest({ authRequestId })).authRequest!,

    /** The sessions that the browser's cookie names. */
    async listKept(kept: KeptSession[]) {
      const queries = [{ query: { case: 'idsQuery' as const, value: { ids: kept.map(({ id }) => id) } } }]
      return (await sessions.listSessions({ queries })).sessions
    },

    /** The page for the name. Undefined: nobody has it, and the page for the password comes in any case. */
    async sendLoginName(loginName: string): Promise<KeptSession | undefined> {
      const { settings: policy } = await settings.getLoginSettings({ ctx: makeReqCtx(undefined) })
      let { result } = await findByLoginName(loginName)
      if (result.length === 0 && policy!.disableLoginWithPhone) {
        const byAddress = { query: { case: 'emailQuery' as const, value: { emailAddress: loginName } } }
        result = (await users.listUsers({ queries: [byAddress] })).result
      }
      if (result.length === 0) {
        expect(policy!.ignoreUnknownUsernames).toBe(true)
        return undefined
      }
      const checks = { user: { search: { case: 'userId' as const, value: result[0]!.userId } } }
      const { sessionId: id, sessionToken } = await sessions.createSession({ checks, lifetime: day, userAgent: {} })
      recordSecret(sessionToken)
      const { session } = await sessions.getSession({ sessionId: id, sessionToken })
      const { id: userId } = session!.factors!.user!
      expect((await users.listAuthenticationMethodTypes({ userId })).authMethodTypes).toContain(1)
      return { id, token: sessionToken }
    },

    /** The page for the password. */
    async sendPassword({ id: sessionId, token: sessionToken }: KeptSession, password: string) {
      const { session: before } = await sessions.getSession({ sessionId, sessionToken })
      const ctx = makeReqCtx(before!.factors!.user!.organizationId)
      const lifetime = (await settings.getLoginSettings({ ctx })).settings!.passwordCheckLifetime!
      const set = { sessionId, sessionToken, checks: { password: { password } }, metadata: {}, lifetime }
      const { sessionToken: token } = await sessions.setSession(set)
      recordSecret(token)
      const { session } = await sessions.getSession({ sessionId, sessionToken: token })
      const { id: userId } = session!.factors!.user!
      expect((await users.getUserByID({ userId })).user!.type.case).toBe('human')
      expect((await settings.getPasswordExpirySettings({ ctx })).settings!.maxAgeDays).toBe(0n)
      const { authMethodTypes } = await users.listAuthenticationMethodTypes({ userId })
      return { id: sessionId, token, factors: authMethodTypes.filter((type) => type !== 1) }
    },

    /** The page for a mailed code, which mails one when it opens. */
    async openCodePage({ id: sessionId, token: sessionToken }: KeptSession): Promise<void> {
      const { session } = await sessions.getSession({ sessionId, sessionToken })
      const { password, otpEmail } = session!.factors!
      expect([password?.verifiedAt !== undefined, otpEmail]).toEqual([true, undefined])
      const page = `https://${allowedLinkHost}/ui/v2/login/otp/email`
      const urlTemplate = `${page}?code={{.Code}}&userId={{.UserID}}&sessionId={{.SessionID}}`
      const deliveryType = { case: 'sendCode' as const, value: { urlTemplate } }
      const answer = await sessions.setSession({
        sessionId,
        sessionToken,
        checks: {},
        metadata: {},
        challenges: { otpEmail: { deliveryType } },
        lifetime: day,
      })
      expect([answer.sessionToken, answer.challenges?.otpEmail]).toEqual([sessionToken, undefined])
    },

    /** That page, or the link of the mail. */
    async sendCode({ id: sessionId, token: sessionToken }: KeptSession, code: string): Promise<KeptSession> {
      const checked = { sessionId, sessionToken, checks: { otpEmail: { code } }, metadata: {}, lifetime: day }
      const { sessionToken: token } = await sessions.setSession(checked)
      recordSecret(token)
      const { session } = await sessions.getSession({ sessionId, sessionToken: token })
      expect(session!.factors!.otpEmail!.verifiedAt).toBeDefined()
      return { id: sessionId, token }
    },

    /** The pages that set up an authenticator app: with a person whom the session names, and no token of it. */
    async setUpApp({ id: sessionId, token: sessionToken }: KeptSession): Promise<TOTP> {
      const { session } = await sessions.getSession({ sessionId, sessionToken })
      const { id: userId } = session!.factors!.user!
      const { secret } = await users.registerTOTP({ userId })
      recordSecret(secret)
      const app = new TOTP({ secret: Secret.fromBase32(secret) })
      await users.verifyTOTPRegistration({ userId, code: app.generate() })
      return app
    },

    /** The page for the code of an authenticator app. */
    async sendAppCode({ id: sessionId, token: sessionToken }: KeptSession, code: string): Promise<KeptSession> {
      const checked = { sessionId, sessionToken, checks: { totp: { code } }, metadata: {}, lifetime: day }
      const { sessionToken: token } = await sessions.setSession(checked)
      recordSecret(token)
      const { session } = await sessions.getSession({ sessionId, sessionToken: token })
      expect(session!.factors!.totp!.verifiedAt).toBeDefined()
      return { id: sessionId, token }
    },

    /** The page that adds a passkey: by the code of a link that is for this alone. */
    async addPasskey({ id: sessionId, token: sessionToken }: KeptSession, device: Authenticator) {
      const { session } = await sessions.getSession({ sessionId, sessionToken })
      const { id: userId } = session!.factors!.user!
      const medium = { case: 'returnCode' as const, value: {} }
      const { code } = await users.createPasskeyRegistrationLink({ userId, medium })
      recordSecret(code!.code)
      const begun = await users.registerPasskey({ userId, code: code!, domain })
      const { publicKey } = begun.publicKeyCredentialCreationOptions as unknown as { publicKey: CreationOptions }
      const publicKeyCredential = device.create(publicKey) as JsonObject
      const { passkeyId } = begun
      await users.verifyPasskeyRegistration({ userId, passkeyId, publicKeyCredential, passkeyName: 'Linux, Firefox' })
    },

    /** The page that adds a security key. */
    async addKey({ id: sessionId, token: sessionToken }: KeptSession, device: Authenticator) {
      const { session } = await sessions.getSession({ sessionId, sessionToken })
      const { id: userId } = session!.factors!.user!
      const { u2fId, publicKeyCredentialCreationOptions: options } = await users.registerU2F({ userId, domain })
      const { publicKey } = options as unknown as { publicKey: CreationOptions }
      const publicKeyCredential = device.create(publicKey, { uv: false }) as JsonObject
      await users.verifyU2FRegistration({ userId, u2fId, publicKeyCredential, tokenName: 'Linux, Firefox' })
    },

    /** The page for a passkey or a security key. */
    async touch({ id: sessionId, token: sessionToken }: KeptSession, device: Authenticator, uv: boolean) {
      const userVerificationRequirement = uv ? 1 : 3
      const challenges = { webAuthN: { domain, userVerificationRequirement } }
      const asked = await sessions.setSession({ sessionId, sessionToken, challenges, lifetime: day })
      const options = asked.challenges!.webAuthN!.publicKeyCredentialRequestOptions
      const { publicKey } = options as unknown as { publicKey: { challenge: string } }
      const checks = { webAuthN: { credentialAssertionData: device.get(publicKey, { uv }) as JsonObject } }
      const checked = await sessions.setSession({ sessionId, sessionToken, checks, lifetime: day })
      recordSecret(checked.sessionToken)
      return { id: sessionId, token: checked.sessionToken }
    },

    /** What the application of the request gets. */
    async finish(authRequestId: string, { id, token }: KeptSession, of = application) {
      const session = { sessionId: id, sessionToken: token }
      const callbackKind = { case: 'session' as const, value: session }
      const { callbackUrl } = await oidc.createCallback({ authRequestId, callbackKind })
      const { body } = await redeem(of, new URL(callbackUrl).searchParams.get('code')!)
      return decodeJwt(body.id_token as string)
    },

    searchUnknown: findByLoginName,
  }
}

async function signIn({ userName, password }: ExampleHuman): Promise<KeptSession> {
  return login.sendPassword((await login.sendLoginName(userName))!, password)
}

/** An organization with a login policy, with an application and a login application of its own. */
async function newPlace(settings: JsonObject) {
  const organization = await newOrganization()
  ok(await call('UpdateLoginPolicy', { settings }, admin(organization)))
  return {
    organization,
    person: await newHuman(organization, { password: unique('Password') }),
    web: await newWebApplication(organization, await newProject(organization), onLoginPages),
    there: openLogin((await newLoginClient(organization)).token),
  }
}

test('a person signs in with a password', async () => {
  const id = await beginAtLogin(application, { login_hint: person.userName })
  const { loginHint } = await login.getAuthRequest(id)
  await login.openPage()
  const named = (await login.sendLoginName(loginHint!))!
  await login.openPage()
  await expect(login.sendPassword(named, 'another password')).rejects.toThrow(/wrong/)
  const kept = await login.sendPassword(named, person.password)
  const [session] = await login.listKept([kept])
  expect(session!.factors).toMatchObject({ user: { id: person.userId }, password: { verifiedAt: {} } })
  expect(await login.finish(id, kept)).toMatchObject({ sub: person.userId, sid: kept.id })
})

test.skipIf(!hasMailbox())('and with the code of a mail, whose link leads to its page', async () => {
  ok(await call('AddOTPEmail', { userId: careful.userId }, admin()))
  const id = await beginAtLogin(application)
  const begun = await login.sendPassword((await login.sendLoginName(careful.userName))!, careful.password)
  expect(begun.factors).toEqual([7])
  await expect(login.finish(id, begun)).rejects.toThrow('second factor')
  await login.openCodePage(begun)
  const { code, link } = await mailTo(careful.email)
  expect(link).toBe(
    `https://${allowedLinkHost}/ui/v2/login/otp/email?code=${code}&userId=${careful.userId}&sessionId=${begun.id}`,
  )
  await expect(login.sendCode(begun, 'ZZZZZZ')).rejects.toThrow(/wrong/)
  const kept = await login.sendCode(begun, code)
  expect(await login.finish(id, kept)).toMatchObject({ sub: careful.userId, sid: kept.id, amr: ['pwd', 'otp', 'mfa'] })
})

test('and with the code of an authenticator app', async () => {
  const { secret } = ok(await call('RegisterTOTP', { userId: own.userId }, admin()))
  const app = new TOTP({ secret: Secret.fromBase32(secret) })
  ok(await call('VerifyTOTPRegistration', { userId: own.userId, code: app.generate() }, admin()))
  const id = await beginAtLogin(application)
  const begun = await login.sendPassword((await login.sendLoginName(own.userName))!, own.password)
  expect(begun.factors).toEqual([4])
  await expect(login.finish(id, begun)).rejects.toThrow('second factor')
  await expect(login.sendAppCode(begun, 'x')).rejects.toThrow(/wrong/)
  const kept = await login.sendAppCode(begun, app.generate({ timestamp: Date.now() + 30_000 }))
  expect(await login.finish(id, kept)).toMatchObject({ sub: own.userId, amr: ['pwd', 'otp', 'mfa'] })
})

test('who must have a second factor and has none sets up an authenticator app there, in the same sign-in', async () => {
  const types = ['SECOND_FACTOR_TYPE_OTP']
  const { person: newcomer, web, there } = await newPlace({ forceMfa: true, secondFactors: { types } })
  const id = await beginAtLogin(web)
  const named = (await there.sendLoginName(newcomer.userName))!
  // Who has not proved the password yet sets nothing up.
  await expect(there.setUpApp(named)).rejects.toThrow('no session of the user')
  const begun = await there.sendPassword(named, newcomer.password)
  await expect(there.finish(id, begun, web)).rejects.toThrow('second factor')
  const app = await there.setUpApp(begun)
  await expect(there.setUpApp(begun)).rejects.toThrow('no session of the user')
  const kept = await there.sendAppCode(begun, app.generate({ timestamp: Date.now() + 30_000 }))
  expect(await there.finish(id, kept, web)).toMatchObject({ sub: newcomer.userId, amr: ['pwd', 'otp', 'mfa'] })
})

test('a person adds a passkey there, and signs in with it alone', async () => {
  const { organization, person: newcomer, web, there } = await newPlace({ allowPasskeys: true })
  const device = new Authenticator(inject('roster').url)
  const named = (await there.sendLoginName(newcomer.userName))!
  // Who has not proved the password yet adds nothing.
  await expect(there.addPasskey(named, device)).rejects.toThrow('no session of the user')
  await expect(there.addKey(named, device)).rejects.toThrow('no session of the user')
  const begun = await there.sendPassword(named, newcomer.password)
  const elsewhere = openLogin((await newLoginClient(organization)).token)
  await expect(elsewhere.addPasskey(begun, device)).rejects.toThrow('no session of the user')
  await there.addPasskey(begun, device)
  const id = await beginAtLogin(web)
  const kept = await there.touch((await there.sendLoginName(newcomer.userName))!, device, true)
  expect(await there.finish(id, kept, web)).toMatchObject({ sub: newcomer.userId, amr: ['pop', 'user', 'mfa'] })
})

test('who must have a second factor and has none sets up a security key there, in the same sign-in', async () => {
  const { person: newcomer, web, there } = await newPlace({ allowPasskeys: true, forceMfa: true })
  const device = new Authenticator(inject('roster').url)
  const id = await beginAtLogin(web)
  const begun = await there.sendPassword((await there.sendLoginName(newcomer.userName))!, newcomer.password)
  await there.addKey(begun, device)
  await expect(there.addKey(begun, new Authenticator(inject('roster').url))).rejects.toThrow('no session of the user')
  await expect(there.finish(id, begun, web)).rejects.toThrow('second factor')
  const kept = await there.touch(begun, device, false)
  expect(await there.finish(id, kept, web)).toMatchObject({ sub: newcomer.userId, amr: ['pwd', 'pop', 'user', 'mfa'] })
})

test('so does who names an address', async () => {
  const id = await beginAtLogin(application)
  const kept = await login.sendPassword((await login.sendLoginName(person.email))!, person.password)
  expect((await login.finish(id, kept)).sub).toBe(person.userId)
})

test('whoever has an unknown name comes to the page for the password, and no further', async () => {
  await login.getAuthRequest(await beginAtLogin(application))
  const name = unique('nobody')
  expect(await login.sendLoginName(name)).toBeUndefined()
  expect((await login.searchUnknown(name)).details!.totalResult).toBe(0n)
})

test('a person chooses among the accounts of the browser', async () => {
  const kept = [await signIn(person), await signIn(other)]
  const half = (await login.sendLoginName(person.userName))!
  const id = await beginAtLogin(application, { prompt: 'select_account' })
  expect((await login.getAuthRequest(id)).prompt).toEqual([4])
  const shown = await login.listKept([...kept, half, { id: 'of before', token: '' }])
  expect(shown.map(({ factors }) => [factors!.user!.loginName, factors!.password !== undefined])).toEqual([
    [person.userName, true],
    [other.userName, true],
    [person.userName, false],
  ])
  expect((await login.finish(id, kept[1]!)).sub).toBe(other.userId)
})
