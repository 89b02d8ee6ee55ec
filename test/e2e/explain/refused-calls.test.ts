import { beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '@bufbuild/protobuf'
import { admin, newHuman, newMember, newOrganization, ok, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { type CallOptions, factsOf } from '../clients/call.ts'
import { call as json, over } from '../clients/encodings.ts'
import type { Operation } from '../../examples/contract.ts'

let home: string
let abroad: string

beforeAll(async () => {
  ;[home, abroad] = await Promise.all([newOrganization(), newOrganization()])
})

// The gateway reports to grants within a second.
const patience = { timeout: 10_000 }

/** Has a call refused, and returns its request id. */
async function refused(operation: Operation, request: JsonObject, options: CallOptions, id = unique('request')) {
  const answer = await json(operation, request, { ...options, headers: { 'x-request-id': id } })
  expect(factsOf(answer).code).toBe(7)
  expect(answer.headers['x-request-id']).toBe(id)
  return id
}

const explain = (userId: string, requestId: string, options: CallOptions) =>
  json('ExplainPermission', { userId, requestId }, options)

async function explained(userId: string, requestId: string, options: CallOptions) {
  await expect.poll(async () => factsOf(await explain(userId, requestId, options)).code, patience).toBe(0)
  return ok(await explain(userId, requestId, options))
}

describe.each(over('json'))('a refused call, explained over $encoding,', ({ call }) => {
  test('is answered as of its moment, to those who may read the user and the organization', async () => {
    const user = await newMember(home, ['ORG_OWNER_VIEWER'])
    const { userId } = user
    const requestId = unique('request')
    const asUser = { token: user.token, headers: { 'x-request-id': requestId } }
    expect(factsOf(await call('AddProject', { name: 'Mine' }, asUser)).code).toBe(7)
    ok(await json('UpdateOrganizationMember', { userId, roles: ['ORG_OWNER'] }, admin(home)))
    const explanation = async () => (await call('ExplainPermission', { userId, requestId }, admin(home))).ok
    await expect.poll(explanation, patience).toMatchObject({
      userId,
      organizationId: home,
      permission: 'project.write',
      grounds: [{ roles: ['ORG_OWNER_VIEWER'], faults: ['GROUND_FAULT_LACKS_ROLE'] }],
      refusedCall: { requestId, operation: '/roster.grants.v1.ProjectService/AddProject' },
    })
    expect(await explanation()).not.toHaveProperty('allowed')
    expect(ok(await call('ExplainPermission', { userId, requestId }, { token: user.token }))).toHaveProperty(
      'refusedCall',
    )
  })
})

test('a call that the roles allowed was refused because of what it asked for, and no one learns more', async () => {
  const owner = await newMember(home, ['ORG_OWNER'])
  const foreign = await newHuman(abroad)
  const both = [
    await refused('GetUser', { userId: foreign.userId }, { token: owner.token }),
    await refused('GetUser', { userId: 'unknown' }, { token: owner.token }),
  ]
  const [found, unknown] = await Promise.all(both.map((id) => explained(owner.userId, id, admin(home))))
  expect(found).toMatchObject({ allowed: true, refusedCall: { becauseOfRequest: true } })
  const without = ({ refusedCall: { operation, becauseOfRequest }, ...answer }: any) => ({
    ...answer,
    operation,
    becauseOfRequest,
  })
  expect(without(found)).toEqual(without(unknown))
})

test('a call in a project is explained for that project', async () => {
  const [projectId, other] = [await newProject(home), await newProject(home)]
  const user = await newMember(home, [])
  ok(await json('AddProjectMember', { userId: user.userId, projectId, roles: ['PROJECT_OWNER'] }, admin(home)))
  const id = await refused('UpdateProject', { projectId: other, name: 'x' }, { token: user.token })
  const { grounds } = await explained(user.userId, id, admin(home))
  expect(grounds).toMatchObject([{ projectId, faults: ['GROUND_FAULT_ELSEWHERE'] }])
  const above = { projectId, userId: user.userId, roles: ['ORG_OWNER'] }
  ok(await json('UpdateProjectMember', { ...above, roles: ['PROJECT_OWNER_VIEWER'] }, admin(home)))
  const second = await refused('UpdateProject', { projectId, name: 'x' }, { token: user.token })
  expect((await explained(user.userId, second, admin(home))).grounds[0]).toMatchObject({
    projectId,
    faults: ['GROUND_FAULT_LACKS_ROLE'],
  })
})

test('an organization where the caller has no role gets the same explanation as an unknown one', async () => {
  const user = await newMember(home, [])
  const explainFrom = async (organization: string) => {
    const id = await refused('SearchMyGrants', {}, { token: user.token, organization })
    const { organizationId, refusedCall: _, ...answer } = await explained(user.userId, id, { token: user.token })
    expect(organizationId).toBe(organization)
    return answer
  }
  const answers = [await explainFrom(abroad), await explainFrom('unknown')]
  expect(answers[0]).toMatchObject({ obstacles: [{ kind: 'OBSTACLE_KIND_NO_ROLE' }] })
  expect(answers[0]).not.toHaveProperty('allowed')
  expect(answers[1]).toEqual(answers[0])
})

test('a request id that another user chose too explains the call of its own user alone', async () => {
  const [user, forger] = [await newMember(home, []), await newMember(abroad, [])]
  const id = await refused('AddProject', { name: 'x' }, { token: user.token })
  await refused('GetMyOrganization', {}, { token: forger.token }, id)
  const { operation } = (await explained(user.userId, id, admin(home))).refusedCall
  expect(operation).toBe('/roster.grants.v1.ProjectService/AddProject')
  const ofForger = await explained(forger.userId, id, admin(abroad))
  expect(ofForger.refusedCall.operation).toBe('/roster.grants.v1.OrganizationService/GetMyOrganization')
  // The administrator may read both, and asks in the wrong organization.
  expect(factsOf(await explain(forger.userId, id, admin(home))).reason).toBe('REFUSAL_NOT_FOUND')
  const other = await newMember(abroad, ['ORG_OWNER'])
  expect(factsOf(await explain(user.userId, id, { token: other.token })).reason).toBe('PERMISSION_DENIED')
})
