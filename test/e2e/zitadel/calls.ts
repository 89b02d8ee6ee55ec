import { expect } from 'vitest'
import { unique, uniqueEmail } from '../../examples/people.ts'
import { call, type Call, done, has, id, keep, lists, project, query, step } from './step.ts'

/** The five operations of the specification. */
export const fiveCalls: Call[] = [
  call('auth', 'updateMyProfile', async ({ human }) => {
    const request = { firstName: 'Zoë', lastName: 'O’Neill', displayName: 'Zoë 𝒜', gender: 3 }
    expect(await human.auth['updateMyProfile']!(request)).toMatchObject(done)
    const { profile } = await human.auth['getMyProfile']!({})
    expect(profile).toMatchObject({ firstName: 'Zoë', lastName: 'O’Neill', displayName: 'Zoë 𝒜', gender: 3 })
  }),
  step('admin', 'updateIDP', ({ idpId }) => ({ idpId, name: unique('idp'), stylingType: 1, autoRegister: true })),
  step(
    'management',
    'addMachineUser',
    () => ({ userName: unique('machine'), name: 'Robot', accessTokenType: 1 }),
    (answer, world) => {
      expect(answer.details.resourceOwner).toBe(world.organization)
      keep('machine', 'userId')(answer, world)
    },
  ),
  step(
    'user',
    'setEmail',
    ({ kind, humanId }) => ({ userId: humanId, email: uniqueEmail(), ...kind.oneof('verification', 'returnCode', {}) }),
    (answer, { organization }) => {
      expect(answer.verificationCode).toMatch(/^[2-9A-HJ-NP-Z]{6}$/)
      expect(answer.details).toMatchObject({ resourceOwner: organization, changeDate: expect.anything() })
      expect(answer.details.creationDate).toBeUndefined()
    },
  ),
  step(
    'management',
    'addUserGrant',
    ({ humanId, ids }) => ({ userId: humanId, projectId: ids['project'], roleKeys: ['reader'] }),
    keep('grant', 'userGrantId'),
  ),
]

/** Projects and roles, which the grant of the five needs. */
export const projectCalls: Call[] = [
  step('management', 'addProject', () => ({ name: unique('project') }), keep('project', 'id')),
  step('management', 'getProjectByID', id('project'), has('project', id('project'))),
  step('management', 'updateProject', (world) => ({ ...id('project')(world), name: unique('project') })),
  step('management', 'listProjects', () => query, lists(id('project'))),
  step('management', 'addProjectRole', (world) => ({ ...project(world), roleKey: 'reader', displayName: 'Reader' })),
  step('management', 'bulkAddProjectRoles', (world) => ({
    ...project(world),
    roles: ['writer', 'x'].map((key) => ({ key, displayName: key })),
  })),
  step('management', 'updateProjectRole', (world) => ({ ...project(world), roleKey: 'writer', displayName: 'Writer' })),
  step('management', 'removeProjectRole', (world) => ({ ...project(world), roleKey: 'x' })),
  step(
    'management',
    'listProjectRoles',
    (world) => ({ ...project(world), ...query }),
    lists(() => ({ key: 'reader' })),
  ),
]
