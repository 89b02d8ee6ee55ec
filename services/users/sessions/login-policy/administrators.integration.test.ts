import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { OIDCAuthMethodType } from '#gen/roster/grants/v1/application_service'
import { IssueTokenRequest as tokenCodec } from '#gen/roster/users/v1/oauth_service'
import { TokenReason } from '#gen/roster/users/v1/session_service'
import { AuthenticationMethodType as Method } from '#gen/roster/users/v1/user_service'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { hashToken } from '../../directory/tokens/token.ts'
import { authenticate } from '../../internal/authenticate.ts'
import { said, told, Visitor } from '../../openid/authorization/testing/visitors.ts'
import { addPerson, noteApplication, nothingNewer, redirectUri } from '../../openid/authorization/testing/visitors.ts'
import { issueToken } from '../../openid/operations/issue-token.ts'
import { explainToken } from '../../pages/explain/explain-token.ts'
import { openUsers, serveDomains, type TestUsers } from '../../testing/test-users.ts'
import { addApp, by, call, newPerson, reasonOf, set, setPolicy, signIn } from '../factors/testing/second-factors.ts'
import { createSession } from '../operations/session/create-session.ts'
import { listAuthenticationMethodTypes } from '../operations/factors/list-authentication-method-types.ts'
import { requireFreshFactor } from '../passkeys/fresh.ts'

let database: TestDatabase
let users: TestUsers
let grants: { stop(): Promise<void> }
/** Who has a role, as the stand-in of grants says. */
const roles: Record<string, string[]> = {}

const serveGrants = () => serveDomains({}, roles, { copied: nothingNewer(['client']) })

beforeAll(async () => {
  database = await createDatabase()
  users = await openUsers(database.urls.users)
  grants = await serveGrants()
  await noteApplication(users, 'client', { authMethodType: OIDCAuthMethodType.OIDC_AUTH_METHOD_TYPE_NONE })
}, 60_000)
beforeEach(() => Promise.all([setPolicy(users, {}), setPolicy(users, {}, 'acme')]))
afterAll(async () => {
  await Promise.all([users?.stop(), grants?.stop()])
  await database?.drop()
})

const demanding = { forceMfaOfAdministrators: true }
const { AUTHENTICATION_METHOD_TYPE_TOTP: byApp, AUTHENTICATION_METHOD_TYPE_OTP_EMAIL: byMail } = Method
const holder = ({ sessionToken }: { sessionToken: string }) =>
  reasonOf(authenticate(users, { tokenHash: hashToken(sessionToken) }, call()))
const redeem = (more: object) =>
  issueToken.handle(
    users,
    { ...tokenCodec.decode(new Uint8Array()), clientId: 'client', redirectUri, ...more },
    { ...call(), caller: { ...call().caller, userId: '' } },
  )
const scope = 'openid offline_access'

/** Somebody at a browser, whose application has a refresh token. */
async function newUser() {
  const own = await newPerson(users)
  const browser = new Visitor(users)
  const page = await browser.signIn(await browser.begin({ scope }), own.userName)
  const { code } = told(await browser.decide(page, 'allow'))
  const { refreshToken } = await redeem({ grantType: 'authorization_code', codeVerifier: 'verifier', code })
  return {
    ...own,
    browser,
    refresh: () => reasonOf(redeem({ grantType: 'refresh_token', refreshToken })),
    page: async () => {
      const { answer } = await browser.authorize({ scope })
      const isPage = answer?.$case === 'redirect' && answer.value.location.startsWith('/ui/')
      return isPage ? said(await browser.follow({ answer } as never)) : 'application'
    },
    silent: async () => told(await browser.authorize({ scope, prompt: 'none' })),
  }
}

test('where the policy demands it of administrators, who gets a role needs a second factor from the next use on, and nobody else', async () => {
  const [boss, other] = [await newUser(), await newUser()]
  const [ofBoss, ofOther] = [await signIn(users, boss), await signIn(users, other)]
  await setPolicy(users, demanding)
  const doors = async ({ silent, page, refresh, ...one }: typeof boss, session: typeof ofBoss) => ({
    token: await holder(session),
    fresh: await reasonOf(requireFreshFactor(users, by(one, session))),
    sessionAPI: (await signIn(users, one)).missingFactors,
    methods: (await listAuthenticationMethodTypes(users, one, call())).authMethodTypes.includes(byMail),
    silent: Object.keys(await silent())[0],
    page: await page(),
    refresh: await refresh(),
  })
  const open = {
    token: 'in',
    fresh: 'in',
    sessionAPI: [],
    methods: false,
    silent: 'code',
    page: 'application',
    refresh: 'in',
  }
  const shut = {
    token: 'TOKEN_INVALID',
    fresh: 'FACTOR_NOT_FRESH',
    sessionAPI: [byMail],
    methods: true,
    silent: 'error',
    page: 'code',
    refresh: 'INVALID_GRANT',
  }
  expect([await doors(boss, ofBoss), await doors(other, ofOther)]).toEqual([open, open])
  roles[boss.userId] = ['ORG_OWNER']
  expect([await doors(boss, ofBoss), await doors(other, ofOther)]).toEqual([shut, open])
  const why = await explainToken(users, { token: ofBoss.sessionToken }, call())
  expect(why).toMatchObject({ reason: TokenReason.TOKEN_REASON_FACTOR_MISSING, missingFactors: [byMail] })
  // Back, it is as before: nothing was ended.
  delete roles[boss.userId]
  expect(await holder(ofBoss)).toBe('in')
})

test('an administrator without a second factor sets one up in the sign-in that demands it', async () => {
  const own = await newPerson(users)
  roles[own.userId] = ['IAM_OWNER']
  await setPolicy(users, { ...demanding, secondFactors: { types: [1] } })
  const browser = new Visitor(users)
  const page = await browser.signIn(await browser.begin({ scope }), own.userName)
  expect(said(page)).toBe('totpSetUp')
  const begun = await signIn(users, own)
  expect(begun.missingFactors).toEqual([byApp])
  const app = await addApp(users, own)
  const whole = await set(users, begun, { totpCode: await app.code(1) })
  expect([whole.missingFactors, await holder(whole)]).toEqual([[], 'in'])
})

test('an organization demands it of its own people alone, and loosens nothing that the instance demands', async () => {
  const [own, elsewhere] = [await newPerson(users), `other-${Date.now()}`]
  const stranger = { userName: elsewhere, email: '', userId: await addPerson(users, elsewhere, 'umbrella') }
  for (const { userId } of [own, stranger]) roles[userId] = ['ORG_OWNER']
  const lacked = async ({ userId, userName }: typeof own) => {
    const request = { userId, loginName: '', password: `${userName}-password`, lifetime: undefined }
    return (await createSession.handle(users, request, call())).missingFactors.length
  }
  const missing = async () => [await lacked(own), await lacked(stranger)]
  expect(await missing()).toEqual([0, 0])
  await setPolicy(users, demanding, 'acme')
  expect(await missing()).toEqual([1, 0])
  await Promise.all([setPolicy(users, demanding), setPolicy(users, { forceMfaOfAdministrators: false }, 'acme')])
  expect(await missing()).toEqual([1, 1])
})

test('as long as nobody can say who has a role, nobody gets in where that matters, and everybody where it does not', async () => {
  const own = await newUser()
  const session = await signIn(users, own)
  await setPolicy(users, demanding)
  const doors = async () => [await holder(session), await reasonOf(signIn(users, own)), await own.refresh()]
  expect(await doors()).toEqual(['in', 'in', 'in'])
  await grants.stop()
  try {
    const shut = await doors()
    expect(shut).toEqual(['SERVICE_UNAVAILABLE', 'SERVICE_UNAVAILABLE', 'SERVICE_UNAVAILABLE'])
    // Everybody needs one anyway; or nobody does. Then nobody is asked about.
    await setPolicy(users, { ...demanding, forceMfa: true })
    expect((await signIn(users, own)).missingFactors).toEqual([byMail])
    await setPolicy(users, {})
    expect((await doors()).slice(0, 2)).toEqual(['in', 'in'])
  } finally {
    grants = await serveGrants()
  }
})
