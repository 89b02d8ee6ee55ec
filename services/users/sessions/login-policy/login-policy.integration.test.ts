import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { OIDCAppType, OIDCAuthMethodType } from '#gen/roster/grants/v1/application_service'
import type { LoginPolicySettings } from '#gen/roster/users/v1/login_policy_service'
import { IssueTokenRequest as codec } from '#gen/roster/users/v1/oauth_service'
import { instance } from '#lib/instance'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { shiftClock } from '#test/support/shift-clock'
import { addPerson, noteApplication, nothingNewer, redirectUri } from '../../openid/authorization/testing/visitors.ts'
import { requestOf, said, told, Visitor } from '../../openid/authorization/testing/visitors.ts'
import { updateLoginPolicy } from '../operations/settings/update-login-policy.ts'
import { issueToken } from '../../openid/operations/issue-token.ts'
import { passwordReset } from '../../pages/recovery/password-reset.ts'
import { mailCode } from '../../pages/recovery/request-password-reset.ts'
import { createSession } from '../operations/session/create-session.ts'
import { callIn, openUsers, serveDomains, type TestUsers } from '../../testing/test-users.ts'

let database: TestDatabase
let users: TestUsers
let grants: { stop(): Promise<void> }

beforeAll(async () => {
  database = await createDatabase()
  users = await openUsers(database.urls.users)
  grants = await serveDomains({}, {}, { copied: nothingNewer(['client', 'native']) })
  await noteApplication(users, 'client', { authMethodType: none })
  await noteApplication(users, 'native', {
    authMethodType: none,
    appType: OIDCAppType.OIDC_APP_TYPE_NATIVE,
    redirectUris: ['com.example.app:/back'],
  })
}, 60_000)
afterEach(() => shiftClock(users.sql, '0'))
afterAll(async () => {
  await Promise.all([users?.stop(), grants?.stop()])
  await database?.drop()
})

const none = OIDCAuthMethodType.OIDC_AUTH_METHOD_TYPE_NONE
let number = 0

const seconds = (seconds: number) => ({ seconds, nanos: 0 })

const set = (organizationId: string, settings: LoginPolicySettings) =>
  updateLoginPolicy.handle(users, { settings }, callIn(organizationId))

const stranger = () => ({
  ...callIn(''),
  caller: { ...callIn('').caller, userId: '' },
  clientAddress: `2001:db8:${number}::`,
})

/** Somebody of an organization of their own, with one application that they have consented to. */
async function newPerson() {
  const [name, organization] = [`person${++number}`, `org${number}`]
  const userId = await addPerson(users, name, organization)
  const browser = new Visitor(users)
  const page = await browser.signIn(await browser.begin({ scope }), name)
  await browser.decide(page, 'allow')
  const redeem = async (more: object) => {
    const request = { ...codec.decode(new Uint8Array()), clientId: 'client', redirectUri, ...more }
    return issueToken.handle(users, request, stranger())
  }
  return {
    name,
    userId,
    organization,
    browser,
    page: async () => said(await browser.begin({ scope })),
    silent: async () => told(await browser.authorize({ scope, prompt: 'none' })),
    redeem: (code: string) => redeem({ grantType: 'authorization_code', codeVerifier: 'verifier', code }),
    refresh: (refreshToken: string) => redeem({ grantType: 'refresh_token', refreshToken }),
    mails: async () => {
      await mailCode(users, name, { ...stranger(), deadline: Date.now() + 30_000 })
      return (await users.sql`select from unsent_mails where user_id = ${userId}`).length
    },
  }
}
const scope = 'openid offline_access'
const noLogos = { logo: Buffer.alloc(0), darkLogo: Buffer.alloc(0), icon: Buffer.alloc(0) }

describe('a password counts as long as the policy says', () => {
  test('on pages and without them; what was granted goes on', async () => {
    const { name, organization, browser, page, silent, redeem, refresh } = await newPerson()
    await shiftClock(users.sql, '70 seconds')
    const { code } = await silent()
    await set(organization, { passwordCheckLifetime: seconds(60) })
    expect(await silent()).toMatchObject({ error: 'login_required' })
    expect(await page()).toBe('sign-in 0 fixed')
    const { refreshToken } = await redeem(code!)
    expect((await refresh(refreshToken!)).accessToken).toBeDefined()
    // Checked again, it counts for the same time.
    expect(told(await browser.signIn(await browser.begin({ scope }), name))['code']).toBeDefined()
    expect((await silent())['code']).toBeDefined()
    await shiftClock(users.sql, '131 seconds')
    expect(await silent()).toMatchObject({ error: 'login_required' })
  })

  test('and no session of the API lives longer', async () => {
    const { name, organization } = await newPerson()
    const login = { loginName: name, userId: '', password: `${name}-password`, lifetime: undefined }
    const left = async () => {
      const { expirationDate, details } = await createSession.handle(users, login, stranger())
      return expirationDate!.getTime() - details!.changeDate!.getTime()
    }
    expect(await left()).toBe(users.config.SESSION_LIFETIME * 1000)
    await set(organization, { passwordCheckLifetime: seconds(60) })
    expect(await left()).toBe(60_000)
  })

  test('of the organization and the instance, the shorter time, and at most as long as a session lives', async () => {
    const { organization, silent } = await newPerson()
    await shiftClock(users.sql, '70 seconds')
    try {
      await set(instance.id, { passwordCheckLifetime: seconds(60) })
      expect(await silent()).toMatchObject({ error: 'login_required' })
      await set(organization, { passwordCheckLifetime: seconds(3600) })
      expect(await silent()).toMatchObject({ error: 'login_required' })
      await set(instance.id, {})
      expect((await silent())['code']).toBeDefined()
    } finally {
      await set(instance.id, {})
    }
  })
})

test('whose organization hides it gets no code for a forgotten password, unless a manager asks for one', async () => {
  const [there, elsewhere] = [await newPerson(), await newPerson()]
  await set(there.organization, { hidePasswordReset: true })
  expect([await there.mails(), await elsewhere.mails()]).toEqual([0, 1])
  const hides = async (organization: string) => {
    const { answer } = await new Visitor(users).begin({ scope: `openid urn:zitadel:iam:org:id:${organization}` })
    return answer?.$case === 'signIn' && answer.value.hidesPasswordReset
  }
  expect([await hides(there.organization), await hides(elsewhere.organization)]).toEqual([true, false])
  const asked = { userId: there.userId, notification: undefined, medium: { $case: 'returnCode', value: {} } }
  const { verificationCode } = await passwordReset.handle(users, asked as never, callIn(there.organization))
  expect(verificationCode).toBeDefined()
})

test('pages look as the organization wants that the request names, else that of the project, else the instance; the own account as its own', async () => {
  const { organization, browser: signedIn } = await newPerson()
  const browser = new Visitor(users)
  const looks = async () => {
    const pages = [
      await browser.show('unknown'),
      await browser.authorize({ clientId: 'unknown', scope: named }),
      await browser.begin({}),
      await browser.begin({ scope: named }),
      await browser.begin({ clientId: 'fixed' }),
      await browser.account(),
    ]
    return pages.map(({ brand }) => brand?.lightTheme?.primaryColor)
  }
  const named = `openid urn:zitadel:iam:org:id:${organization}`
  const brand = (primaryColor: string, more = {}) => ({
    brand: { lightTheme: { primaryColor }, ...noLogos, ...more },
  })
  await noteApplication(users, 'fixed', { organizationId: organization })
  expect(await looks()).toEqual(Array(6).fill(undefined))
  try {
    await set(instance.id, brand('#111111', { cornerRadius: 3 }))
    expect(await looks()).toEqual(Array(6).fill('#111111'))
    await set('owner', brand('#222222'))
    await set(organization, brand('#333333'))
    expect(await looks()).toEqual(['#111111', '#111111', '#222222', '#333333', '#333333', '#111111'])
    const accountLooks = async () => (await signedIn.account()).brand?.lightTheme?.primaryColor
    expect(await accountLooks()).toBe('#333333')
    // A brand counts as a whole.
    expect((await browser.begin({})).brand).toEqual({
      lightTheme: { primaryColor: '#222222', onPrimaryColor: '#ffffff', backgroundColor: undefined },
      darkTheme: { primaryColor: undefined, onPrimaryColor: undefined, backgroundColor: undefined },
      cornerRadius: undefined,
      logoHash: undefined,
      darkLogoHash: undefined,
      iconHash: undefined,
      tosLink: '',
      privacyPolicyLink: '',
      helpLink: '',
    })
  } finally {
    await Promise.all([instance.id, 'owner'].map((id) => set(id, {})))
  }
})

test('a page that knows no better way leads to the address of the policy', async () => {
  const browser = new Visitor(users)
  const wayFrom = async (requestId: string) => {
    const { answer } = await browser.show(requestId)
    return answer?.$case === 'notice' ? answer.value.applicationOrigin : answer?.$case
  }
  const cancelled = async (parameters: object) => {
    const page = await browser.begin(parameters)
    return requestOf(await browser.post(page, { action: 'cancel' }))
  }
  const native = await cancelled({ clientId: 'native', redirectUri: 'com.example.app:/back' })
  const web = await cancelled({})
  const ways = async () => [await wayFrom('unknown'), await wayFrom(native), await wayFrom(web)]
  expect(await ways()).toEqual(['', '', 'https://app.example.com'])
  try {
    await set(instance.id, { defaultRedirectUri: 'https://home.example.com/start' })
    await set('owner', { defaultRedirectUri: 'https://owner.example.com/' })
    expect(await ways()).toEqual([
      'https://home.example.com/start',
      'https://owner.example.com/',
      'https://app.example.com',
    ])
  } finally {
    await Promise.all([instance.id, 'owner'].map((id) => set(id, {})))
  }
})

test.each<[LoginPolicySettings, string | undefined]>([
  [{ defaultRedirectUri: '', passwordCheckLifetime: seconds(60) }, undefined],
  [{ defaultRedirectUri: 'https://a.example.com:8443/b?c=%20d' }, undefined],
  ...[
    'http://a.example.com',
    'https://a.example.com/#b',
    'https://u@a.example.com',
    'https://a/\\b',
    'javascript:1',
  ].flatMap((link): [LoginPolicySettings, string][] =>
    ['defaultRedirectUri', 'tosLink', 'privacyPolicyLink', 'helpLink'].map((name) => [
      { [name]: link },
      `settings.${name}`,
    ]),
  ),
  ...[seconds(59), seconds(43_201), { seconds: 60, nanos: 1 }, seconds(-1)].map(
    (passwordCheckLifetime): [LoginPolicySettings, string] => [
      { passwordCheckLifetime },
      'settings.passwordCheckLifetime',
    ],
  ),
])('a policy with %j is refused for %s', (settings, field) => {
  expect(updateLoginPolicy.check(users, { settings }, callIn('org'))[0]?.field).toBe(field)
})
