import { beforeAll, expect, test } from 'vitest'
import { type ExampleApplication, newApi, newApplication } from '../../examples/applications.ts'
import { newSignedInMachine } from '../../examples/machines.ts'
import { issuer, newClient, obtainToken } from '../../examples/oauth.ts'
import {
  gateways,
  introspect,
  itself,
  newAskingApplication,
  newPersonToken,
  revoke,
  userinfo,
} from '../../examples/person-tokens.ts'
import {
  admin,
  type ExampleHuman,
  newHuman,
  newOrganization,
  ok,
  signIn,
  unique,
  uniqueEmail,
} from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { authorizePath, newCode, openBrowser, redeem, refresh } from '../../examples/sign-in.ts'
import { factsOf } from '../clients/call.ts'
import { call } from '../clients/encodings.ts'

// Who may know what a token allows, who may end it, and where it opens something.

type Client = Pick<ExampleApplication, 'clientId' | 'clientSecret'>
let person: ExampleHuman
let application: ExampleApplication
let inBrowser: ExampleApplication
let clients: Record<string, Client>
let tokens: Record<string, string>
let projectId: string
let ofProject: string

beforeAll(async () => {
  const [owner, home, third] = [await newOrganization(), await newOrganization(), await newOrganization()]
  ofProject = owner
  projectId = await newProject(owner, ['reader'])
  const [beside, foreign] = [await newProject(owner), await newProject(third)]
  person = await newHuman(home, { password: unique('Password') })
  const grant = { userId: person.userId, projectId, roleKeys: ['reader'] }
  ok(await call('AddUserGrant', grant, admin(owner)))
  const grantTypes = ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE', 'OIDC_GRANT_TYPE_REFRESH_TOKEN']
  application = await newAskingApplication(owner, projectId, { grantTypes })
  inBrowser = await newAskingApplication(owner, projectId, {
    appType: 'OIDC_APP_TYPE_USER_AGENT',
    authMethodType: 'OIDC_AUTH_METHOD_TYPE_NONE',
  })
  const jwt = await newAskingApplication(owner, projectId, { accessTokenType: 'OIDC_TOKEN_TYPE_JWT' })
  const machineIn = async (organization: string, roles: string[] = []) => {
    const machine = await newClient({ organization, roles })
    return { machine, clientId: machine.userId, clientSecret: machine.secret }
  }
  const [ofOwner, ofHome, ofThird] = [await machineIn(owner), await machineIn(home), await machineIn(third)]
  clients = {
    itself: application,
    'another of the project': await newApplication(owner, projectId),
    'an API of the project': await newApi(owner, projectId, 'BASIC'),
    'a public one of the project': inBrowser,
    'one of another project': await newApi(owner, beside, 'BASIC'),
    'a foreign one': await newApi(third, foreign, 'BASIC'),
    'a machine of the owner': ofOwner,
    'a machine at home': ofHome,
    'a foreign machine': ofThird,
    'a wrong secret': { ...application, clientSecret: 'wrong' },
  }
  const machine = await newClient({ organization: home })
  ok(await call('AddUserGrant', { ...grant, userId: machine.userId }, admin(owner)))
  const newRefreshToken = async () => {
    const code = await newCode(person, application, { scope: 'openid offline_access' })
    return (await redeem(application, code)).body.refresh_token as string
  }
  const [used, ended] = [await newRefreshToken(), await newRefreshToken()]
  await refresh(application, used)
  await revoke(application, ended)
  tokens = {
    'refresh token': await newRefreshToken(),
    'refresh token that was used': used,
    'refresh token of an end': ended,
    'of a person': await newPersonToken(person, application),
    'of a person, JWT': await newPersonToken(person, jwt),
    'of a person, in the browser': await newPersonToken(person, inBrowser),
    'of a person, for Roster': await newPersonToken(person, application, `openid ${itself}`),
    'of a machine for the project': await obtainToken(machine, `project:${projectId}`),
    'of a machine for Roster': await obtainToken(machine),
    'of a session': await signIn(person),
    'personal access token': (await newSignedInMachine(home)).token,
    code: await newCode(person, application),
    none: 'x',
  }
})

// x: active. -: not active. !: the client is refused, and after some tries made to wait.
const seen = `
                              itself  another  API  public  beside  foreign  owner's  home's  third  wrong
of a person                   x       x        x    !       -       -        x        -       -      !
of a person, JWT              x       x        x    !       -       -        x        -       -      !
of a person, in the browser   x       x        x    !       -       -        x        -       -      !
of a person, for Roster       x       -        -    !       -       -        -        -       -      !
of a machine for the project  -       -        -    !       -       -        x        x       -      !
of a machine for Roster       -       -        -    !       -       -        -        x       -      !
of a session                  -       -        -    !       -       -        -        x       -      !
personal access token         -       -        -    !       -       -        -        x       -      !
code                          -       -        -    !       -       -        -        -       -      !
refresh token                 x       -        -    !       -       -        -        -       -      !
refresh token that was used   x       -        -    !       -       -        -        -       -      !
refresh token of an end       -       -        -    !       -       -        -        -       -      !
none                          -       -        -    !       -       -        -        -       -      !
`
const rows = seen
  .trim()
  .split('\n')
  .slice(1)
  .map((line) => line.split(/ {2,}/))

test.each(rows)('who knows a token %s', async (name, ...expected) => {
  const told = await Promise.all(Object.values(clients).map((client) => introspect(client, tokens[name]!)))
  expect(told.map(({ active, error }) => (error !== undefined ? '!' : active ? 'x' : '-'))).toEqual(expected)
  for (const { active, ...more } of told) if (active === false) expect(more).toEqual({})
})

test('what the servers of the project learn of a token of a person', async () => {
  const about = await introspect(clients['an API of the project']!, tokens['of a person']!)
  const own = { roles: ['reader'], project_roles: [{ organization: expect.any(String), roles: ['reader'] }] }
  expect(about).toEqual({
    active: true,
    scope: 'openid profile',
    client_id: application.clientId,
    username: person.userName,
    token_type: 'Bearer',
    exp: expect.any(Number),
    iat: expect.any(Number),
    jti: expect.any(String),
    sub: person.userId,
    aud: [projectId],
    iss: expect.any(String),
    organization: person.organization,
    acr: 'urn:roster:acr:1',
    auth_time: expect.any(Number),
    ...own,
  })
  expect(about.exp - about.iat).toBe(900)
  const scope = `openid project:${projectId} urn:zitadel:iam:org:project:roles`
  const asking = await introspect(application, await newPersonToken(person, application, scope))
  const map = { reader: { [own.project_roles[0]!.organization]: expect.any(String) } }
  expect(asking).toMatchObject({ scope, ...own })
  expect(Object.keys(asking[`urn:zitadel:iam:org:project:${projectId}:roles`])).toEqual(Object.keys(map))
})

test('the user name is told where the person let the application see it, and an address with `email` alone', async () => {
  const email = uniqueEmail()
  const byAddress = await newHuman(person.organization, { password: unique('Password'), userName: email, email })
  const { userId } = byAddress
  ok(await call('AddUserGrant', { userId, projectId, roleKeys: ['reader'] }, admin(ofProject)))
  const told = async (who: ExampleHuman, scope: string) => {
    const token = await newPersonToken(who, application, scope)
    const about = await introspect(clients['an API of the project']!, token)
    const headers = { authorization: `Bearer ${token}` }
    const described = await (await fetch(`${issuer()}/oidc/v1/userinfo`, { headers })).json()
    expect(about).toMatchObject({ active: true, sub: who.userId })
    return [about.username, (described as { preferred_username?: string }).preferred_username]
  }
  for (const scope of ['', 'openid', 'openid email', 'openid offline_access roles'])
    expect(await told(person, scope)).toEqual([undefined, undefined])
  expect(await told(person, 'openid profile')).toEqual([person.userName, person.userName])
  expect(await told(byAddress, 'openid profile')).toEqual([undefined, undefined])
  expect(await told(byAddress, 'openid profile email')).toEqual([email, email])
})

test('userinfo takes both audiences; Roster itself only its own, at every gateway', async () => {
  for (const url of gateways()) {
    const reason = async (name: string) =>
      factsOf(await call('GetMyUser', {}, { token: tokens[name]!, url })).reason ?? 'ok'
    expect(await Promise.all(['of a person', 'of a person, JWT'].map(reason))).toEqual(
      Array(2).fill('TOKEN_FOR_PROJECT'),
    )
    expect(await reason('of a person, for Roster')).toBe('ok')
    const described = ['of a person', 'of a person, JWT', 'of a person, for Roster'].map((name) =>
      userinfo(tokens[name]!, url),
    )
    expect(await Promise.all(described)).toEqual([200, 200, 200])
  }
  // It acts as the person, and for the session that it came from.
  const as = { token: tokens['of a person, for Roster']! }
  expect(ok(await call('GetMyUser', {}, as)).user.userId).toBe(person.userId)
  const { sessions } = ok(await call('SearchMySessions', {}, as))
  expect(sessions.filter(({ isCurrent }: any) => isCurrent)).toHaveLength(1)
})

test('only its own application revokes a token, and no error says whose it is', async () => {
  const bound = await newPersonToken(person, inBrowser)
  const others = Object.entries(clients).filter(
    ([name]) => !['a public one of the project', 'a wrong secret'].includes(name),
  )
  for (const [name, client] of others) expect((await revoke(client, bound)).status, name).toBe(200)
  expect(await userinfo(bound)).toBe(200)
  expect((await revoke(inBrowser, bound)).status).toBe(200)
  for (const url of gateways()) await expect.poll(() => userinfo(bound, url), { timeout: 5000 }).toBe(401)
  expect((await revoke(inBrowser, bound)).status).toBe(200)
  // The others of the person go on.
  expect(await userinfo(tokens['of a person, in the browser']!)).toBe(200)
})

test('a new password that a token sets leaves its session and what came from that, and ends the others', async () => {
  const browsers = [openBrowser(), openBrowser()]
  const [kept, other] = await Promise.all(
    browsers.map((browser) => newPersonToken(person, application, `openid ${itself}`, browser)),
  )
  const newPassword = unique('Password')
  ok(await call('UpdateMyPassword', { oldPassword: person.password, newPassword }, { token: kept }))
  const silently = authorizePath(application, { scope: 'openid', prompt: 'none' })
  const reasons = async () => [
    ...(await Promise.all(browsers.map(async (browser) => new URL((await browser.visit(silently)).location)))).map(
      ({ searchParams }) => searchParams.get('error') ?? 'signed in',
    ),
    ...(await Promise.all([kept, other].map((token) => call('GetMyUser', {}, { token })))).map(
      (answer) => factsOf(answer).reason ?? 'ok',
    ),
  ]
  await expect.poll(reasons, { timeout: 2000 }).toEqual(['signed in', 'login_required', 'ok', 'TOKEN_INVALID'])
  person.password = newPassword
})
