import type { JsonObject } from '@bufbuild/protobuf'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { newApplication } from '../../examples/applications.ts'
import { admin, newOrganization, ok } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { call } from '../clients/encodings.ts'

const { house } = inject('roster')

// Only a house of our own shows what users stored.
describe.runIf(house)('what users knows of applications', () => {
  const sql = postgres(house!.databaseUrl, { max: 1 })
  let home: string
  let projectId: string
  beforeAll(async () => {
    home = await newOrganization()
    projectId = await newProject(home)
  })
  afterAll(() => sql.end())

  const act = async (operation: Parameters<typeof call>[0], request: JsonObject) =>
    ok(await call(operation, request, admin(home)))
  const copyOf = async (id: string) => (await sql`select * from roster_users.copies where id = ${id}`)[0]
  const closureOf = async (id: string) =>
    (await sql`select state from roster_users.aggregates where type = 'user_closure' and id = ${id}`)[0]?.['state']
  const soon = { timeout: 15_000, interval: 20 }

  test('an application, its settings and its secret are known, and every change of them', async () => {
    const { appId, clientId } = await newApplication(home, projectId, { redirectUris: ['https://app.example.com/'] })
    const own = { projectId, appId }
    await expect
      .poll(() => copyOf(appId), soon)
      .toMatchObject({
        type: 'application',
        organization_id: home,
        client_id: clientId,
        sequence: '1',
        state: { projectId, oidc: { redirectUris: ['https://app.example.com/'] } },
      })
    const { secret_hash: first } = (await copyOf(appId))!
    expect(first).toHaveLength(32)
    expect(await copyOf(projectId)).toMatchObject({ type: 'project', organization_id: home, client_id: null })
    await act('UpdateOIDCConfig', { ...own, redirectUris: ['https://other.example.com/'] })
    await expect
      .poll(() => copyOf(appId), soon)
      .toMatchObject({
        sequence: '2',
        state: { oidc: { redirectUris: ['https://other.example.com/'] } },
      })
    await act('GenerateClientSecret', own)
    await expect.poll(async () => (await copyOf(appId))!['secret_hash'].equals(first), soon).toBe(false)
    await act('UpdateOIDCConfig', {
      ...own,
      redirectUris: ['https://other.example.com/'],
      authMethodType: 'OIDC_AUTH_METHOD_TYPE_NONE',
    })
    await expect.poll(() => copyOf(appId), soon).toMatchObject({ sequence: '4', secret_hash: null })
  })

  test('each deactivation, reactivation and removal is noted, because of its event', async () => {
    const { appId } = await newApplication(home, projectId)
    const own = { projectId, appId }
    const id = `application-${appId}`
    await expect.poll(() => copyOf(appId), soon).toBeDefined()
    expect(await closureOf(id)).toBeUndefined()
    await act('DeactivateApplication', own)
    await expect.poll(() => closureOf(id), soon).toEqual({ state: 'inactive', sequence: 2 })
    await act('ReactivateApplication', own)
    await expect.poll(() => closureOf(id), soon).toEqual({ state: 'active', sequence: 3 })
    await act('UpdateApplication', { ...own, name: 'Other' })
    await act('RemoveApplication', own)
    await expect.poll(() => closureOf(id), soon).toEqual({ state: 'removed', sequence: 5 })
    const [{ position }] = (await sql`
      select position from roster_grants.events where aggregate_id = ${appId} and type = 'removed'
    `) as unknown as [{ position: string }]
    const noted = await sql`
      select type, organization_id, cause from roster_users.events where aggregate_id = ${id} order by sequence desc limit 1
    `
    expect(noted).toEqual([{ type: 'noted', organization_id: home, cause: `grants-${position}` }])
  })

  test('a removed project takes its applications with it', async () => {
    const gone = await newProject(home)
    const { appId } = await newApplication(home, gone)
    await act('DeactivateProject', { projectId: gone })
    await expect.poll(() => closureOf(`project-${gone}`), soon).toMatchObject({ state: 'inactive' })
    await act('RemoveProject', { projectId: gone })
    await expect.poll(() => closureOf(`project-${gone}`), soon).toMatchObject({ state: 'removed' })
    await expect.poll(() => closureOf(`application-${appId}`), soon).toMatchObject({ state: 'removed' })
  })

  test('what was there before users followed is found from the first event on', async () => {
    const { appId } = await newApplication(home, projectId)
    const gone = await newProject(home)
    await act('RemoveProject', { projectId: gone })
    await expect.poll(() => copyOf(appId), soon).toBeDefined()
    await expect.poll(() => closureOf(`project-${gone}`), soon).toBeDefined()
    await sql`delete from roster_users.copies where id in (${appId}, ${projectId}, ${gone})`
    await sql`delete from roster_users.aggregates where type = 'user_closure' and id = ${`project-${gone}`}`
    await sql`delete from roster_users.events where aggregate_type = 'user_closure' and aggregate_id = ${`project-${gone}`}`
    // Set back, not deleted: a replica that has just read the place would store the end.
    await sql`update roster_users.followers set transaction_id = '0', position = 0 where name = 'applications'`
    // It comes after all applications and projects of the house, which other files fill.
    const later = { timeout: 50_000 }
    await expect.poll(() => copyOf(appId), later).toBeDefined()
    await expect.poll(() => closureOf(`project-${gone}`), later).toMatchObject({ state: 'removed' })
  })
})
