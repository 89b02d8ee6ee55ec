import { describe, inject, test } from 'vitest'
import type { ExampleApplication } from '../../examples/applications.ts'
import {
  gateways,
  introspect,
  itself,
  newAskingApplication,
  newPersonToken,
  revoke,
  userinfo,
} from '../../examples/person-tokens.ts'
import { admin, type ExampleHuman, newHuman, newOrganization, ok, unique } from '../../examples/people.ts'
import { grantProject } from '../../examples/projects.ts'
import { authorizePath, openBrowser, redirectUri } from '../../examples/sign-in.ts'
import { factsOf } from '../clients/call.ts'
import { call } from '../clients/encodings.ts'

// A second after a token's end nothing opens any more: neither userinfo nor introspection nor Roster itself nor, without
// a page, the sign-in to the application. Gateways had cached its holder.

interface Given {
  person: ExampleHuman
  application: ExampleApplication
  owner: string
  projectId: string
  browser: ReturnType<typeof openBrowser>
  /** For the project, and for Roster itself. */
  token: string
  own: string
}

/**
 * The person is of one organization, the application of another one, which grants its project to the first. Where the
 * project checks who comes, a gateway asks each second anyway.
 */
async function give(hasProjectCheck: boolean): Promise<Given & { projectGrantId: string; userGrantId: string }> {
  const [owner, home] = [await newOrganization(), await newOrganization()]
  const { id: projectId } = await act('AddProject', { name: unique('Project'), hasProjectCheck }, owner)
  await act('AddProjectRole', { projectId, roleKey: 'reader', displayName: 'Reader' }, owner)
  const projectGrantId = await grantProject(owner, projectId, home, ['reader'])
  const person = await newHuman(home, { password: unique('Password') })
  const grant = { userId: person.userId, projectId, projectGrantId, roleKeys: ['reader'] }
  const { userGrantId } = ok(await call('AddUserGrant', grant, admin(home)))
  const application = await newAskingApplication(owner, projectId)
  const browser = openBrowser()
  const own = await newPersonToken(person, application, `openid profile ${itself}`, browser)
  const token = await newPersonToken(person, application, 'openid profile', browser)
  return { owner, projectId, projectGrantId, userGrantId, person, application, browser, token, own }
}

/** What each door says. */
async function doors({ application, browser, token, own }: Given) {
  const [shown, ...others] = await Promise.all([
    browser.visit(authorizePath(application, { scope: 'openid', prompt: 'none' })),
    ...gateways().map(async (url) => [
      await userinfo(token, url),
      (await introspect(application, token, url)).active ?? 'refused',
      factsOf(await call('GetMyUser', {}, { token: own, url })).reason ?? 'ok',
    ]),
  ])
  const silent = shown.location === '' ? 'page' : (new URL(shown.location).searchParams.get('error') ?? 'code')
  return { silent, others: [...new Set(others.map(String))] }
}

const act = async (...[operation, request, organization]: [Parameters<typeof call>[0], object, string?]) =>
  ok(await call(operation, request as never, admin(organization)))
const ofUser =
  (operation: Parameters<typeof call>[0]) =>
  ({ person: { userId } }: Given) =>
    act(operation, { userId })
const ofApplication =
  (operation: Parameters<typeof call>[0]) =>
  ({ application: { projectId, appId }, owner }: Given) =>
    act(operation, { projectId, appId }, owner)

type Ends = (given: Awaited<ReturnType<typeof give>>) => Promise<unknown>
const inTurn =
  (...steps: Ends[]): Ends =>
  async (given) => {
    for (const step of steps) await step(given)
  }

const all = '401,false,TOKEN_INVALID'
// The client itself is refused.
const refused = '401,refused,TOKEN_INVALID'
/** What happens; what the sign-in without a page says then, and each of the other doors. */
const reasons: [string, Ends, string, string][] = [
  [
    'the session ended',
    async ({ own }) => {
      const { sessions } = ok(await call('SearchMySessions', {}, { token: own }))
      await act('DeleteSession', { sessionId: sessions.find(({ isCurrent }: any) => isCurrent).id })
    },
    'login_required',
    all,
  ],
  ['all sessions ended', ofUser('DeleteUserSessions'), 'login_required', all],
  ['the user was locked', ofUser('LockUser'), 'login_required', all],
  ['the user was locked and unlocked', inTurn(ofUser('LockUser'), ofUser('UnlockUser')), 'login_required', all],
  ['the user was deactivated', ofUser('DeactivateUser'), 'login_required', all],
  [
    'the user was deactivated and reactivated',
    inTurn(ofUser('DeactivateUser'), ofUser('ReactivateUser')),
    'login_required',
    all,
  ],
  ['the user was removed', ofUser('DeleteUser'), 'login_required', all],
  [
    'the user got another password',
    ({ person: { userId } }) => act('SetPassword', { userId, newPassword: { password: unique('New') } }),
    'login_required',
    all,
  ],
  [
    'the organization was deactivated',
    ({ person }) => act('DeactivateOrganization', {}, person.organization),
    'login_required',
    all,
  ],
  [
    'the organization was deactivated and reactivated',
    inTurn(
      ({ person }) => act('DeactivateOrganization', {}, person.organization),
      ({ person }) => act('ReactivateOrganization', {}, person.organization),
    ),
    'login_required',
    all,
  ],
  [
    'the owner of the project was deactivated',
    ({ owner }) => act('DeactivateOrganization', {}, owner),
    'login_required',
    refused,
  ],
  ['the application was deactivated', ofApplication('DeactivateApplication'), 'page', refused],
  [
    'the application was deactivated and reactivated',
    inTurn(ofApplication('DeactivateApplication'), ofApplication('ReactivateApplication')),
    'code',
    all,
  ],
  ['the application was removed', ofApplication('RemoveApplication'), 'page', refused],
  [
    'the application is for people of another organization alone',
    ({ application: { projectId, appId }, owner }) =>
      act('UpdateOIDCConfig', { projectId, appId, redirectUris: [redirectUri], organizationId: owner }, owner),
    'login_required',
    all,
  ],
  ['the project was removed', ({ projectId, owner }) => act('RemoveProject', { projectId }, owner), 'page', refused],
  [
    'the consent was withdrawn',
    async ({ person: { userId }, application: { appId: applicationId }, own }) =>
      ok(await call('WithdrawConsent', { userId, applicationId }, { token: own })),
    'consent_required',
    all,
  ],
  [
    'the tokens were revoked',
    async ({ application, token, own }) => {
      for (const each of [token, own]) await revoke(application, each)
    },
    'code',
    all,
  ],
]

describe.skipIf(inject('roster').house === undefined)('soon after', () => {
  test.concurrent.for(reasons)('%s', async ([, end, silent, others], { expect }) => {
    const given = await give(false)
    expect(await doors(given)).toEqual({ silent: 'code', others: ['200,true,ok'] })
    await end(given)
    await expect.poll(() => doors(given)).toEqual({ silent, others: [others] })
  })

  test.concurrent('the user lost the roles: the token says none', async ({ expect }) => {
    const [removed, deactivated] = [await give(false), await give(false)]
    const roles = () =>
      Promise.all([removed, deactivated].map(async (given) => (await introspect(given.application, given.token)).roles))
    expect(await roles()).toEqual([['reader'], ['reader']])
    for (const [given, operation] of [
      [removed, 'RemoveUserGrant'],
      [deactivated, 'DeactivateUserGrant'],
    ] as const) {
      const grant = { userId: given.person.userId, grantId: given.userGrantId }
      await act(operation, grant, given.person.organization)
    }
    await expect.poll(roles).toEqual([undefined, undefined])
  })

  test.concurrent('the project, which checks who comes, lost the grant', async ({ expect }) => {
    const given = await give(true)
    expect(await doors(given)).toEqual({ silent: 'code', others: ['200,true,ok'] })
    await act('RemoveProjectGrant', { projectId: given.projectId, grantId: given.projectGrantId }, given.owner)
    await expect.poll(() => doors(given)).toEqual({ silent: 'login_required', others: [all] })
  })
})
