import { setTimeout as sleep } from 'node:timers/promises'
import { act } from './act.ts'
import type { Doomed } from './doomed.ts'
import type { Inspection } from './inspect.ts'
import type { Running } from './running.ts'

const users = 60
const goneWithin = 60_000

/**
 * Makes an organization with users, members, projects, grants, a webhook and an identity provider, and a role of
 * another organization's project that many users have.
 */
export async function makeDoomed(running: Running, id: string): Promise<Doomed> {
  const organizationId: string = (await act(running, 'AddOrganization', { name: id })).organizationId
  const there = { organization: organizationId }
  const marker = `marked-${id}`
  const machines = Array.from({ length: users }, (_, i) => ({ machine: { userName: `${marker}-${i}`, name: marker } }))
  const { results } = await act(running, 'BulkAddUsers', { users: machines }, there)
  const userIds: string[] = results.map(({ done }: { done: { id: string } }) => done.id)
  const human = { userName: marker, profile: { firstName: marker, lastName: marker } }
  await act(running, 'AddHumanUser', { ...human, email: { email: `${marker}@example.com` } }, there)
  const guest: string = (await act(running, 'AddMachineUser', { userName: `${id}-guest`, name: 'M' })).userId
  const own: string = (await act(running, 'AddProject', { name: id }, there)).id
  const projectId: string = (await act(running, 'AddProject', { name: id })).id
  const [roleKey, kept] = ['doomed', 'kept']
  await act(running, 'AddProjectRole', { projectId: own, roleKey, displayName: roleKey }, there)
  for (const key of [roleKey, kept]) await act(running, 'AddProjectRole', { projectId, roleKey: key, displayName: key })
  const grant = { projectId, grantedOrgId: organizationId, roleKeys: [roleKey, kept] }
  await act(running, 'AddProjectGrant', grant)
  await Promise.all([
    ...userIds
      .slice(0, 20)
      .map((userId) => act(running, 'AddUserGrant', { userId, projectId: own, roleKeys: [roleKey] }, there)),
    ...userIds
      .slice(0, 20)
      .map((userId) => act(running, 'AddUserGrant', { userId, projectId, roleKeys: [roleKey] }, there)),
    ...userIds
      .slice(20, 40)
      .map((userId) => act(running, 'AddUserGrant', { userId, projectId, roleKeys: [roleKey, kept] })),
    ...userIds
      .slice(0, 5)
      .map((userId) => act(running, 'AddOrganizationMember', { userId, roles: ['ORG_OWNER'] }, there)),
    // A guest stays, but not what the organization gave it.
    act(running, 'AddUserGrant', { userId: guest, projectId, roleKeys: [kept] }, there),
    act(running, 'AddOrganizationMember', { userId: guest, roles: ['ORG_OWNER'] }, there),
    act(running, 'AddWebhook', { url: 'https://hooks.example.com/', eventTypes: ['roster.webhook.*'] }, there),
    act(
      running,
      'AddOrganizationOIDCIDP',
      { name: id, clientId: 'c', clientSecret: 's', issuer: 'https://i.example' },
      there,
    ),
  ])
  return { organizationId, projectId, roleKey, marker }
}

/** Removes them, however often the call has to be repeated. */
export async function removeDoomed(running: Running, { organizationId, projectId, roleKey }: Doomed): Promise<void> {
  const key = (what: string) => ({ headers: { 'idempotency-key': `${what}-${organizationId}` } })
  await Promise.all([
    act(running, 'RemoveProjectRole', { projectId, roleKey }, key('role')),
    act(running, 'RemoveOrganization', { orgId: organizationId }, key('organization')),
  ])
}

/** Waits until nothing of them is left. Returns what is left, and what went without naming its cause. */
export async function checkDoomed(inspection: Inspection, doomed: Doomed): Promise<string[]> {
  for (const end = Date.now() + goneWithin; ; await sleep(100)) {
    const left = await inspection.left(doomed)
    if (left.length === 0) return inspection.uncaused(doomed)
    if (Date.now() > end) return left.map((what) => `${what} outlived the organization or role that it was part of`)
  }
}

/** Waits until nothing can be read of its users. Returns the places where something still can. */
export async function checkForgotten(inspection: Inspection, doomed: Doomed): Promise<string[]> {
  for (const end = Date.now() + goneWithin; ; await sleep(200)) {
    const places = await inspection.readable(doomed)
    if (places.length === 0) return []
    if (Date.now() > end) return places.map((place) => `${place} still shows who was removed`)
  }
}
