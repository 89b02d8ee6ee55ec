import { describe, expect, test } from 'vitest'
import { introspect, itself, newAskingApplication, userinfo } from '../../examples/person-tokens.ts'
import { admin, newHuman, newOrganization, ok, unique } from '../../examples/people.ts'
import { grantProject } from '../../examples/projects.ts'
import { newCode, openBrowser, redeem, refresh } from '../../examples/sign-in.ts'
import { factsOf } from '../clients/call.ts'
import { call } from '../clients/encodings.ts'

// Whether a project admits a person is asked at each door. No door is asked here while it does not: what is given again
// opens nothing of what the person had.

const act = async (...[operation, request, organization]: [Parameters<typeof call>[0], object, string]) =>
  ok(await call(operation, request as never, admin(organization)))

/** A person of one organization, and an application of another one, which grants its project to the first. */
async function give(checks: { projectRoleCheck?: boolean; hasProjectCheck?: boolean }) {
  const [owner, home] = [await newOrganization(), await newOrganization()]
  const name = unique('Project')
  const { id: projectId } = await act('AddProject', { name, ...checks }, owner)
  const projectGrantId = await grantProject(owner, projectId, home, [])
  const person = await newHuman(home, { password: unique('Password') })
  const ofUser = { userId: person.userId, grantId: await giveRoles() }
  const grantTypes = ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE', 'OIDC_GRANT_TYPE_REFRESH_TOKEN']
  const application = await newAskingApplication(owner, projectId, { grantTypes })
  const browser = openBrowser()
  const first = await tokens('openid offline_access')
  const own = await tokens(`openid ${itself}`)
  let refreshToken: string = first.refresh_token
  const lives = { token: 200, isActive: true, own: 'ok', refresh: 200 }
  const isShutOut = async () => (await userinfo(first.access_token)) === 401
  return {
    owner,
    home,
    projectId,
    projectGrantId,
    ofUser,
    lives,
    giveRoles,
    giveProject,
    doors,
    use,
    change,
    isShutOut,
  }

  async function giveRoles(by = home): Promise<string> {
    const grant = { userId: person.userId, projectId, projectGrantId: by === home ? projectGrantId : '', roleKeys: [] }
    return (await act('AddUserGrant', grant, by)).userGrantId
  }
  function giveProject() {
    return grantProject(owner, projectId, home, [])
  }
  async function tokens(scope: string, by = browser) {
    const { status, body } = await redeem(application, await newCode(person, application, { scope }, by))
    if (status !== 200) throw new Error(`expected tokens: ${JSON.stringify(body)}`)
    return body
  }
  async function use() {
    const { status, body } = await refresh(application, refreshToken)
    refreshToken = body.refresh_token ?? refreshToken
    return status
  }
  function change(more: object) {
    return act('UpdateProject', { projectId, name, ...checks, ...more }, owner)
  }
  /** What each door says of what the person had before; and that a new sign-in is let in. */
  async function doors() {
    const { access_token: token } = first
    const facts = factsOf(await call('GetMyUser', {}, { token: own.access_token }))
    const now = {
      token: await userinfo(token),
      isActive: (await introspect(application, token)).active,
      own: facts.reason ?? 'ok',
      refresh: await use(),
    }
    const anew = await tokens('openid', openBrowser())
    return { ...now, anew: await userinfo(anew.access_token) }
  }
}

type Given = Awaited<ReturnType<typeof give>>
const roleCheck = { projectRoleCheck: true, hasProjectCheck: false }
const projectCheck = { projectRoleCheck: false, hasProjectCheck: true }

const losses: [string, object, (given: Given) => Promise<unknown>][] = [
  [
    'the user grant was removed, and another one was added',
    roleCheck,
    async ({ home, ofUser, giveRoles }) => {
      await act('RemoveUserGrant', ofUser, home)
      await giveRoles()
    },
  ],
  [
    'the user grant was deactivated and reactivated',
    roleCheck,
    async ({ home, ofUser }) => {
      await act('DeactivateUserGrant', ofUser, home)
      await act('ReactivateUserGrant', ofUser, home)
    },
  ],
  [
    'the project grant was deactivated and reactivated',
    projectCheck,
    async ({ owner, projectId, projectGrantId: grantId }) => {
      await act('DeactivateProjectGrant', { projectId, grantId }, owner)
      await act('ReactivateProjectGrant', { projectId, grantId }, owner)
    },
  ],
  [
    'the project grant was removed, and another one was added',
    projectCheck,
    async ({ owner, projectId, projectGrantId: grantId, giveProject }) => {
      await act('RemoveProjectGrant', { projectId, grantId }, owner)
      await giveProject()
    },
  ],
  [
    'the project asked for a grant later, which the person got after that alone',
    { projectRoleCheck: false, hasProjectCheck: false },
    async ({ home, ofUser, giveRoles, change, isShutOut }) => {
      await act('RemoveUserGrant', ofUser, home)
      await change(roleCheck)
      // Who refreshes before that is known has been let in since.
      await expect.poll(isShutOut).toBe(true)
      await giveRoles()
    },
  ],
]

describe('what somebody had ends for good', () => {
  test.concurrent.for(losses)('when %s', async ([, checks, lose], { expect }) => {
    const given = await give(checks)
    await lose(given)
    // A gateway remembers for a second whom it let in.
    await expect.poll(given.doors).toEqual({
      token: 401,
      isActive: false,
      own: 'TOKEN_INVALID',
      refresh: 400,
      anew: 200,
    })
  })
})

const keeping: [string, object, (given: Given) => Promise<unknown>, object][] = [
  [
    'the project asks for a grant later, which the person had',
    { hasProjectCheck: false },
    ({ change }) => change(roleCheck),
    {},
  ],
  [
    'a second grant was added and seen before the first went',
    roleCheck,
    async ({ owner, home, ofUser, use, giveRoles }) => {
      await giveRoles(owner)
      await use()
      await act('RemoveUserGrant', ofUser, home)
    },
    // It is never refreshed, so it stands on the first grant.
    { own: 'TOKEN_INVALID' },
  ],
]

describe('it goes on', () => {
  test.concurrent.for(keeping)('where %s', async ([, checks, happen, but], { expect }) => {
    const given = await give(checks)
    await happen(given)
    await expect.poll(given.doors).toEqual({ ...given.lives, anew: 200, ...but })
  })
})
