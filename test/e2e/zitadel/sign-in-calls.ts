import { Secret, TOTP, URI } from 'otpauth'
import { expect } from 'vitest'
import { beginAtLogin, loginPages, onLoginPages } from '../../examples/login-applications.ts'
import { addition, examples } from '../../examples/idps.ts'
import { admin as asAdmin, newHuman, ok, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { newWebApplication, redeem } from '../../examples/sign-in.ts'
import { call as ask, recordSecret } from '../clients/encodings.ts'
import { listProviders } from '../idps/provider-stage.ts'
import { type Call, call, step, type World } from './step.ts'

const signedIn = ({ ids }: World) => ({ userId: ids['signedIn'] })

const settings = (method: string, expected: object, ofInstance = false) =>
  call('settings', method, async ({ admin, kind, organization }) => {
    const owner = ofInstance
      ? kind.oneof('resourceOwner', 'instance', true)
      : kind.oneof('resourceOwner', 'orgId', organization)
    const ctx = ['getGeneralSettings', 'getSecuritySettings'].includes(method) ? {} : { ctx: owner }
    expect(await admin.settings![method]!(ctx)).toMatchObject(expected)
  })

/** What ZITADEL's login application calls to sign a person in: in the order in which it does. */
export const signInCalls: Call[] = [
  settings('getGeneralSettings', { defaultLanguage: 'en', supportedLanguages: ['en', 'de'] }),
  settings('getSecuritySettings', { settings: { embeddedIframe: { enabled: false }, enableImpersonation: false } }),
  settings('getBrandingSettings', { settings: { themeMode: 1 } }, true),
  settings('getLegalAndSupportSettings', { settings: { tosLink: '', privacyPolicyLink: '' } }),
  settings(
    'getLoginSettings',
    { settings: { allowUsernamePassword: true, passkeysType: 0, forceMfa: false, secondFactors: [1, 3, 5] } },
    true,
  ),
  call('settings', 'getActiveIdentityProviders', async ({ admin, kind, organization }) => {
    const name = unique('idp')
    const { idpId: id } = ok(await ask('AddOrganizationOIDCIDP', addition(examples.oidc, name), asAdmin(organization)))
    await listProviders(organization, [id])
    const ctx = kind.oneof('resourceOwner', 'orgId', organization)
    const found = await admin.settings!['getActiveIdentityProviders']!({ ctx, linkingAllowed: true })
    const options = { isLinkingAllowed: true, isCreationAllowed: false, isAutoCreation: false, isAutoUpdate: false }
    expect(found).toMatchObject({ details: { totalResult: 1n }, identityProviders: [{ id, name, type: 5, options }] })
    ok(await ask('ResetLoginPolicy', {}, asAdmin(organization)))
  }),
  settings('getDomainSettings', { settings: { loginNameIncludesDomain: false } }),
  settings('getLockoutSettings', { settings: { maxPasswordAttempts: 0n } }),
  settings('getPasswordComplexitySettings', { settings: { minLength: 8n, requiresSymbol: false } }),
  settings('getPasswordExpirySettings', { settings: { maxAgeDays: 0n } }),
  call('session', 'setSession', async ({ admin, organization, kind, ids }) => {
    const { userId, userName, password } = await newHuman(organization, { password: unique('Password') })
    const checks = { user: kind.oneof('search', 'loginName', userName) }
    const { sessionId, sessionToken } = await admin.session['createSession']!({ checks, userAgent: {} })
    const further = { sessionId, sessionToken, checks: { password: { password } }, metadata: {} }
    const checked = await admin.session['setSession']!(further)
    expect(checked.sessionToken).not.toBe(sessionToken)
    recordSecret(checked.sessionToken)
    const otpEmail = kind.oneof('deliveryType', 'returnCode', {})
    const asked = { sessionId, sessionToken: checked.sessionToken, challenges: { otpEmail } }
    const { challenges, sessionToken: same } = await admin.session['setSession']!(asked)
    expect([challenges.otpEmail, same]).toEqual([expect.stringMatching(/^[2-9A-HJ-NP-Z]{6}$/), checked.sessionToken])
    recordSecret(challenges.otpEmail)
    const proof = { sessionId, sessionToken: same, checks: { otpEmail: { code: challenges.otpEmail } } }
    const answer = await admin.session['setSession']!(proof)
    recordSecret(answer.sessionToken)
    Object.assign(ids, { signedIn: userId, wholeSession: sessionId, sessionToken: answer.sessionToken })
    const unbuilt = { sessionId, sessionToken: answer.sessionToken, checks: { otpSms: { code: '123456' } } }
    await expect(admin.session['setSession']!(unbuilt)).rejects.toThrow(/checks\.otp_?sms|not valid|no equal/i)
  }),
  call('session', 'getSession', async ({ admin, ids }) => {
    const { session } = await admin.session['getSession']!({ sessionId: ids['wholeSession'] })
    expect(session).toMatchObject({ id: ids['wholeSession'], factors: { user: { id: ids['signedIn'] } } })
    for (const factor of ['password', 'otpEmail']) expect(session.factors[factor].verifiedAt).toBeDefined()
  }),
  step('user', 'addOTPEmail', signedIn),
  step('user', 'listAuthenticationMethodTypes', signedIn, ({ authMethodTypes }) =>
    expect(authMethodTypes).toEqual([1, 7]),
  ),
  step('user', 'removeOTPEmail', signedIn),
  step('user', 'registerTOTP', signedIn, ({ uri, secret }, { ids }) => {
    recordSecret(secret)
    expect(URI.parse(uri)).toMatchObject({ secret: { base32: secret } })
    ids['totp'] = secret
  }),
  step('user', 'verifyTOTPRegistration', (world) => ({
    ...signedIn(world),
    code: new TOTP({ secret: Secret.fromBase32(world.ids['totp'] ?? 'AAAA') }).generate(),
  })),
  step('user', 'removeTOTP', signedIn),
  call('session', 'listSessions', async ({ admin, kind, ids }) => {
    const queries = [{ ...kind.oneof('query', 'idsQuery', { ids: [ids['wholeSession'], 'unknown'] }) }]
    const { sessions, details } = await admin.session['listSessions']!({ queries })
    expect(sessions.map(({ id, factors }: any) => [id, factors.user.id])).toEqual([
      [ids['wholeSession'], ids['signedIn']],
    ])
    expect(details.totalResult).toBe(1n)
  }),
  call('oidc', 'getAuthRequest', async ({ admin, organization, ids }) => {
    const project = await newProject(organization)
    const application = await newWebApplication(organization, project, onLoginPages)
    const { app } = await admin.management['getAppByID']!({ projectId: project, appId: application.appId })
    expect(app.config.value.loginVersion.version).toMatchObject({ case: 'loginV2', value: { baseUri: loginPages } })
    const authRequestId = await beginAtLogin(application, { nonce: 'n', prompt: 'select_account' })
    const { authRequest } = await admin.oidc!['getAuthRequest']!({ authRequestId })
    expect(authRequest).toMatchObject({ id: authRequestId, clientId: application.clientId, prompt: [4] })
    Object.assign(ids, { ...application, authRequestId })
  }),
  call('oidc', 'createCallback', async ({ admin, kind, ids }) => {
    const { wholeSession: sessionId, sessionToken, authRequestId } = ids
    const answer = kind.oneof('callbackKind', 'session', { sessionId, sessionToken })
    const { callbackUrl } = await admin.oidc!['createCallback']!({ authRequestId, ...answer })
    const code = new URL(callbackUrl).searchParams.get('code')!
    const { projectId, appId, clientId, clientSecret } = ids
    const application = { projectId: projectId!, appId: appId!, clientId: clientId!, clientSecret: clientSecret! }
    const { status, body } = await redeem(application, code)
    expect({ status, body }).toMatchObject({ status: 200, body: { id_token: expect.any(String) } })
  }),
]
