import type { JsonObject } from '@bufbuild/protobuf'
import postgres from 'postgres'
import { describe, expect, inject, test, vi } from 'vitest'
import { texts } from '../../../services/gateway/pages/login/texts/texts.ts'
import { newProject } from '../../examples/projects.ts'
import { newAskingApplication } from '../../examples/person-tokens.ts'
import {
  admin,
  type ExampleHuman,
  newHuman,
  newMember,
  newOrganization,
  ok,
  signIn,
  unique,
} from '../../examples/people.ts'
import { authorizePath, openBrowser, type Shown } from '../../examples/sign-in.ts'
import { readPage } from '../../examples/sign-in-kinds.ts'
import { factsOf } from '../clients/call.ts'
import { call } from '../clients/encodings.ts'
import { mailTo } from '../mailbox.ts'
import { act } from './sign-in-scenes.ts'

/** A person, and an application of another organization that lets in everybody. */
async function setScene({ hasPassword = true, verification }: Given = {}) {
  const [home, owner] = [await newOrganization(), await newOrganization()]
  const { id: projectId } = await act('AddProject', { name: unique('Project'), hasProjectCheck: false }, owner)
  const applicationName = unique('Shop')
  const application = await newAskingApplication(owner, projectId, { name: applicationName, rosterApi: false })
  const person = await newHuman(home, {
    ...(hasPassword && { password: unique('Password') }),
    ...(verification && { verification }),
  })
  // Users learns of its name by an event.
  const named = { userId: person.userId, applicationName }
  await vi.waitFor(async () => ok(await call('ExplainSignIn', named, admin(home))), 10_000)
  return { home, owner, projectId, application, applicationName, person, loginName: person.userName }
}
interface Given {
  hasPassword?: boolean
  verification?: JsonObject
}
type Scene = Awaited<ReturnType<typeof setScene>>

const explain = async ({ loginName, applicationName, home }: Scene, more: object = {}, as = admin(home)) =>
  ok(await call('ExplainSignIn', { loginName, applicationName, ...more }, as))

const names = (grounds: any[] = []) => grounds.map(({ reason }) => reason.replace('SIGN_IN_REASON_', ''))
const short = ({ nextSignIn: { outcome, obstacles, asked } }: any) =>
  [outcome.replace('SIGN_IN_OUTCOME_', ''), [...names(obstacles), ...names(asked).map((name) => `asks ${name}`)]].flat()

const waits = texts['en']!.throttled.split('{wait}')[0]!
const kindOf = (shown: Shown) =>
  shown.body.includes(waits) ? 'throttled' : (readPage(shown).problem ?? readPage(shown).kind)

/** What the page shows after name and password. */
async function door({ application, person, loginName }: Scene, password = person.password || 'any password') {
  const browser = openBrowser()
  const shown = await browser.visit(authorizePath(application))
  return kindOf(await browser.submit(shown, { action: 'sign-in', login_name: loginName, password }))
}

async function mistype({ person: { userName: loginName } }: Scene, times: number) {
  for (let tried = 0; tried < times; tried++) await call('CreateSession', { loginName, password: unique('wrong') })
}

const demandTwo = ({ home }: Scene, more = {}) =>
  act('UpdateLoginPolicy', { settings: { forceMfa: true, ...more } }, home)

interface Case {
  name: string
  person?: Given
  change?: (scene: Scene) => Promise<unknown>
  /** What is typed. Default: the user name. */
  typed?: (scene: Scene) => string
  says: string[]
  door: string
  mayReset?: boolean
}

const cases: Case[] = [
  { name: 'nothing stands against it', says: ['SUCCEEDS', 'asks CONSENT'], door: 'consent' },
  {
    name: 'there is no password',
    person: { hasPassword: false },
    says: ['FAILS', 'NO_PASSWORD', 'asks CONSENT'],
    door: 'credentials invalid',
  },
  {
    name: 'there is no password, and the address is not verified',
    person: { hasPassword: false, verification: {} },
    says: ['FAILS', 'NO_PASSWORD', 'ADDRESS_NOT_VERIFIED', 'asks CONSENT'],
    door: 'credentials invalid',
  },
  {
    name: 'the address that is typed is not verified',
    person: { verification: {} },
    typed: ({ person: { email } }) => email,
    says: ['FAILS', 'ADDRESS_NOT_VERIFIED', 'asks CONSENT'],
    door: 'credentials invalid',
  },
  {
    name: 'there were too many wrong passwords',
    change: (scene) => mistype(scene, 5),
    says: ['WAITS', 'THROTTLED', 'asks CONSENT'],
    door: 'throttled',
  },
  {
    name: 'a second factor is asked for',
    change: (scene) => demandTwo(scene),
    says: ['SUCCEEDS', 'asks FACTOR', 'asks CONSENT'],
    door: 'code',
  },
  {
    name: 'a second factor is asked for, and the address is not verified',
    person: { verification: {} },
    change: (scene) => demandTwo(scene),
    says: ['SUCCEEDS', 'asks FACTOR', 'asks CONSENT'],
    door: 'set up app',
  },
  {
    name: 'a code by mail is asked for, and the address is not verified',
    person: { verification: {} },
    change: (scene) => demandTwo(scene, { secondFactors: { types: ['SECOND_FACTOR_TYPE_OTP_EMAIL'] } }),
    says: ['FAILS', 'ADDRESS_NOT_VERIFIED', 'asks FACTOR', 'asks CONSENT'],
    door: 'no code',
  },
  {
    name: 'a second factor is asked for, and the mailbox set the password',
    async change(scene) {
      const { person } = scene
      ok(await call('RequestPasswordReset', { loginName: person.userName }))
      const { code: verificationCode } = await mailTo(person.email)
      person.password = unique('Password')
      const proof = { userId: person.userId, verificationCode, newPassword: person.password }
      ok(await call('ResetPassword', proof))
      await demandTwo(scene)
    },
    says: ['FAILS', 'PASSWORD_BY_MAIL', 'asks FACTOR', 'asks CONSENT'],
    door: 'no code',
  },
  {
    name: 'somebody else set the password, and another one must be chosen',
    async change({ person, home }) {
      person.password = unique('Password')
      const newPassword = { password: person.password, changeRequired: true }
      ok(await call('SetPassword', { userId: person.userId, newPassword }, admin(home)))
    },
    says: ['SUCCEEDS', 'asks NEW_PASSWORD', 'asks CONSENT'],
    door: 'new password',
  },
  {
    name: 'the user is locked',
    change: ({ person: { userId } }) => act('LockUser', { userId }),
    says: ['FAILS', 'USER_LOCKED'],
    door: 'credentials invalid',
    mayReset: false,
  },
  {
    name: 'the project lets in only whom it knows',
    async change({ projectId, owner }) {
      const { project } = await act('GetProject', { projectId }, owner)
      await act('UpdateProject', { projectId, name: project.name, hasProjectCheck: true }, owner)
    },
    says: ['FAILS', 'PROJECT_CHECK'],
    door: 'no access',
  },
  {
    name: 'the name means another user',
    async change(scene) {
      const { userName } = scene.person
      const second = await newOrganization()
      Object.assign(scene, {
        home: second,
        person: await newHuman(second, { userName, password: unique('Password') }),
      })
    },
    says: ['FAILS', 'NAME_OF_ANOTHER', 'asks CONSENT'],
    door: 'credentials invalid',
  },
]

describe('the next sign-in is explained by name, and is as it was explained, where', () => {
  test.concurrent.for(cases)('$name', async (each, { expect }) => {
    const { person, change, typed, says, mayReset = true } = each
    const scene = await setScene(person)
    await change?.(scene)
    scene.loginName = typed?.(scene) ?? scene.person.userName
    // A name that two organizations have is explained by its readers there.
    const manager = await newMember(scene.home, ['ORG_OWNER'])
    const as = each.says.includes('NAME_OF_ANOTHER') ? { ...manager, organization: undefined } : admin(scene.home)
    const asked = as.organization ? {} : { clientId: scene.application.clientId, applicationName: undefined }
    await expect.poll(async () => short(await explain(scene, asked, as))).toEqual(says)
    const { nextSignIn, userId, allowed, missing = [] } = await explain(scene, asked, as)
    expect([userId, nextSignIn.mayResetPassword ?? false, allowed]).toEqual([scene.person.userId, mayReset, undefined])
    if (!['USER_LOCKED', 'PROJECT_CHECK'].some((reason) => says.includes(reason)))
      expect(names(missing)[0]).toBe('PERSON')
    const until = nextSignIn.obstacles?.[0]?.until
    expect(says[0] === 'WAITS' ? Date.parse(until) > Date.now() : until === undefined).toBe(true)
    expect(await door(scene)).toBe(each.door)
  })
})

test('an explanation counts as no try, and says how many there were', async () => {
  const scene = await setScene()
  await mistype(scene, 4)
  await expect.poll(async () => (await explain(scene)).nextSignIn.wrongPasswords?.count).toBe(4)
  for (let asked = 0; asked < 10; asked++) expect(short(await explain(scene))[0]).toBe('SUCCEEDS')
  const { lastDate } = (await explain(scene)).nextSignIn.wrongPasswords
  expect(Math.abs(Date.parse(lastDate) - Date.now())).toBeLessThan(60_000)
  expect(await door(scene)).toBe('consent')
})

test('too many wrong codes are said, with the end of the wait', async () => {
  const scene = await setScene()
  // Else the person sets up an app instead.
  await demandTwo(scene, { secondFactors: { types: ['SECOND_FACTOR_TYPE_OTP_EMAIL'] } })
  const { person } = scene
  const session = ok(await call('CreateSession', { loginName: person.userName, password: person.password }))
  const { sessionId, sessionToken } = session
  for (let tried = 0; tried < 5; tried++) {
    ok(await call('SetSession', { sessionId, sessionToken, otpEmail: { returnCode: {} } }, admin()))
    await call('SetSession', { sessionId, sessionToken, otpEmailCode: 'ZZZZZZ' }, admin())
  }
  const explained = await explain(scene)
  expect(short(explained)).toEqual(['WAITS', 'FACTOR_THROTTLED', 'asks FACTOR', 'asks CONSENT'])
  ok(await call('SetSession', { sessionId, sessionToken, otpEmail: { returnCode: {} } }, admin()))
  const refused = await call('SetSession', { sessionId, sessionToken, otpEmailCode: 'ZZZZZZ' }, admin())
  expect(factsOf(refused).reason).toBe('FACTOR_THROTTLED')
  const wait = Number(refused.headers['retry-after'])
  const said = (Date.parse(explained.nextSignIn.obstacles[0].until) - Date.now()) / 1000
  expect(Math.abs(said - wait)).toBeLessThan(30)
})

test('an application of others is by its id as one that is not there, whomever a name means', async () => {
  const { loginName, home, owner, projectId } = await setScene()
  const { appId } = await newAskingApplication(owner, projectId, { rosterApi: false, organizationId: owner })
  const manager = await newMember(home, ['ORG_OWNER'])
  const explained = async (appId: string) =>
    ok(await call('ExplainSignIn', { loginName, appId, scopes: ['openid', 'flying'] }, manager))
  const unknown = await explained('00000000-0000-7000-8000-000000000000')
  expect(await explained(appId)).toEqual(unknown)
})

test('a scope that is left out is named, with the reason', async () => {
  const { leftOutScopes } = await explain(await setScene(), { scopes: ['openid', 'offline_access', 'flying'] })
  expect(leftOutScopes.map(({ scope }: any) => scope)).toEqual(['offline_access', 'flying'])
  expect(leftOutScopes[0].sentence).toMatch('grant types')
})

describe('an authorization request is explained by its id', () => {
  const phase = ({ request }: any) => request.phase.replace('SIGN_IN_REQUEST_PHASE_', '')
  const begin = async (scene: Scene, parameters = {}) => {
    const browser = openBrowser()
    const shown = await browser.visit(authorizePath(scene.application, parameters))
    return { browser, shown, requestId: /login\/([\w-]+)/.exec(shown.body)![1]! }
  }
  const enter = ({ userName: login_name, password }: ExampleHuman) => ({ action: 'sign-in', login_name, password })

  test('while it waits, once it is answered or cancelled, and after its time', async () => {
    const scene = await setScene()
    const { browser, shown, requestId } = await begin(scene, { scope: 'openid email' })
    const seen = async (more = {}) => explain(scene, { requestId, ...more })
    const waits = await seen()
    expect([phase(waits), names(waits.missing)]).toEqual(['WAITS', ['PERSON', 'CONSENT']])
    expect(waits.missing[1].scopes).toEqual(['openid', 'email'])
    const consent = await browser.submit(shown, enter(scene.person))
    const later = await seen()
    expect([phase(later), names(later.missing)]).toEqual(['WAITS', ['CONSENT']])
    await browser.submit(consent, { action: 'allow' })
    expect(phase(await seen())).toBe('ANSWERED')
    const other = await begin(scene)
    await other.browser.submit(other.shown, { action: 'cancel' })
    expect(phase(await explain(scene, { requestId: other.requestId }))).toBe('CANCELLED')
  })

  const { house } = inject('roster')
  test.skipIf(!house)('after its time', async () => {
    const scene = await setScene()
    const { requestId, browser } = await begin(scene)
    const sql = postgres(house!.databaseUrl, { max: 1, onnotice: () => {} })
    await sql`update roster_users.authorization_requests set expires_at = now() where id = ${requestId}`
    await sql.end()
    expect(phase(await explain(scene, { requestId }))).toBe('EXPIRED')
    const again = await browser.visit(`/ui/login/${requestId}`)
    expect([kindOf(again), again.body.includes(requestId)]).toEqual(['sign in', false])
  })

  test('only where the person was chosen for it, or the caller may read the project', async () => {
    const scene = await setScene()
    const { clientId } = scene.application
    const manager = await newMember(scene.home, ['ORG_OWNER'])
    const { browser, shown, requestId } = await begin(scene)
    const { userId } = scene.person
    const ask = async (more: object) => ok(await call('ExplainSignIn', { userId, clientId, ...more }, manager))
    expect(await ask({ requestId })).toEqual(await ask({ requestId: 'unknown' }))
    expect(phase(await ask({ requestId }))).toBe('UNKNOWN')
    await browser.submit(shown, enter(scene.person))
    expect(phase(await ask({ requestId }))).toBe('WAITS')
    // Of another application it is none, whoever asks.
    const elsewhere = await setScene()
    expect(phase(await explain(elsewhere, { requestId }))).toBe('UNKNOWN')
  })
})

describe('by name', () => {
  test('a user of another organization is answered as no user, and one without permission may name only itself', async () => {
    const scene = await setScene()
    const { clientId } = scene.application
    const foreign = await newHuman(await newOrganization(), { password: unique('Password') })
    const ask = async (loginName: string, as: { token: string }) =>
      factsOf(await call('ExplainSignIn', { loginName, clientId }, as))
    const manager = await newMember(scene.home, ['ORG_USER_MANAGER'])
    const unknown = await ask(unique('no-one'), manager)
    expect(unknown.reason).toBe('USER_NOT_FOUND')
    for (const name of [foreign.userName, foreign.email]) expect(await ask(name, manager)).toEqual(unknown)
    expect((await ask(scene.person.email, manager)).reason).toBeUndefined()
    const self = { token: await signIn(scene.person) }
    expect((await ask(scene.person.userName, self)).reason).toBeUndefined()
    for (const name of [manager.userName, foreign.userName, unique('no-one')])
      expect((await ask(name, self)).reason).toBe('PERMISSION_DENIED')
  })

  test('an application is one that the caller may read, or that the person came to, and several are listed', async () => {
    const scene = await setScene()
    const { home, person, application, applicationName } = scene
    const manager = await newMember(home, ['ORG_OWNER'])
    const { userId } = person
    const ask = async (name: string) => call('ExplainSignIn', { userId, applicationName: name }, manager)
    const unknown = factsOf(await ask(unique('no-shop')))
    expect(unknown.reason).toBe('APPLICATION_NOT_FOUND')
    expect(factsOf(await ask(applicationName))).toEqual(unknown)
    const own = await Promise.all(
      [1, 2].map(async () => newAskingApplication(home, await newProject(home), { name: applicationName })),
    )
    await expect.poll(async () => factsOf(await ask(applicationName)).reason).toBe('APPLICATION_NAME_AMBIGUOUS')
    const listed = async () => JSON.stringify(await ask(applicationName))
    for (const { appId } of own) await expect.poll(listed).toContain(appId)
    expect(await listed()).not.toContain(application.appId)
  })
})

test('that the person has no role of the project is told, but not to whoever may not know the project', async () => {
  const scene = await setScene()
  const { person, home, projectId, owner, application } = scene
  const asked = { userId: person.userId, clientId: application.clientId }
  const withoutRoles = async (as: { token: string }) =>
    ok(await call('ExplainSignIn', asked, as)).nextSignIn.withoutRoles ?? false
  const manager = await newMember(home, ['ORG_USER_MANAGER'])
  const told = async () => [
    await withoutRoles(admin(home)),
    await withoutRoles({ token: await signIn(person) }),
    await withoutRoles(manager),
  ]
  expect(await told()).toEqual([true, true, false])
  await act('AddProjectRole', { projectId, roleKey: 'reader', displayName: 'Reader' }, owner)
  await act('AddUserGrant', { userId: person.userId, projectId, roleKeys: ['reader'] }, owner)
  expect(await told()).toEqual([false, false, false])
})
