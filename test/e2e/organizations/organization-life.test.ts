import { beforeAll, describe, expect, test } from 'vitest'
import { admin, newHuman, newMember, newOrganization, ok, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { type Answer, factsOf } from '../clients/call.ts'
import { call as json, over } from '../clients/encodings.ts'

const reason = (answer: Answer) => factsOf(answer).reason ?? 'ok'
let host: string

beforeAll(async () => {
  const { organization } = ok(await json('GetMyOrganization', {}, admin()))
  host = organization.primaryDomain.slice('default.'.length)
})

describe.each(over('grpc-web'))('the life of an organization, over $encoding', ({ call }) => {
  test('its owner renames it, deactivates it and removes it; every read shows it at once', async () => {
    const name = unique('Acme')
    const id = await newOrganization(name)
    const owner = await newMember(id, ['ORG_OWNER'])
    const get = async () => ok(await call('GetOrganization', { orgId: id }, admin())).organization
    const found = async (query: object) =>
      ok(await call('SearchOrganizations', query as {}, admin())).organizations?.map((one: { id: string }) => one.id) ??
      []
    const byName = (text: string) => ({ name: { text, method: 'TEXT_QUERY_METHOD_EQUALS' } })
    const first = await get()
    expect(ok(await call('GetOrganization', { orgId: id }, owner)).organization).toEqual(first)
    const byDefault = ok(await call('GetDefaultOrganization', {}, admin())).organization
    expect(byDefault).toEqual(ok(await call('GetOrganization', { orgId: 'default' }, admin())).organization)
    expect(await found(byName(name))).toEqual([id])

    const other = unique('Umbrella')
    const renamed = ok(await call('UpdateOrganization', { name: other }, owner))
    expect(await get()).toEqual({ ...first, name: other, details: renamed.details })
    expect(ok(await call('UpdateOrganization', { name: other }, owner))).toEqual(renamed)
    expect(ok(await call('UpdateOrganization', {}, owner))).toEqual(renamed)
    expect([await found(byName(name)), await found(byName(other))]).toEqual([[], [id]])
    const contains = { name: { text: other.slice(2).toUpperCase(), method: 'TEXT_QUERY_METHOD_CONTAINS_IGNORE_CASE' } }
    expect(await found(contains)).toEqual([id])
    expect(await found({ primaryDomain: first.primaryDomain })).toEqual([id])

    const inState = (state: string) => found({ ...byName(other), state: `ORGANIZATION_STATE_${state}` })
    ok(await call('DeactivateOrganization', {}, owner))
    expect((await get()).state).toBe('ORGANIZATION_STATE_INACTIVE')
    expect([await inState('ACTIVE'), await inState('INACTIVE')]).toEqual([[], [id]])
    const again = await call('DeactivateOrganization', {}, admin(id))
    expect(factsOf(again)).toMatchObject({ code: 9, reason: 'ORGANIZATION_ALREADY_INACTIVE' })
    ok(await call('ReactivateOrganization', {}, admin(id)))
    expect(await get()).toMatchObject({ state: 'ORGANIZATION_STATE_ACTIVE', details: { sequence: '4' } })
    expect([await inState('ACTIVE'), await inState('INACTIVE')]).toEqual([[id], []])

    ok(await call('RemoveOrganization', { orgId: id }, admin()))
    expect(await found(byName(other))).toEqual([])
    const unknown = await call('GetOrganization', { orgId: 'unknown' }, admin())
    for (const operation of ['GetOrganization', 'RemoveOrganization'] as const)
      expect((await call(operation, { orgId: id }, admin())).error).toEqual(unknown.error)
    expect(
      reason(await call('GetOrganization', { orgId: id }, await newMember(await newOrganization(), ['ORG_OWNER']))),
    ).toBe('PERMISSION_DENIED')
  })

  test('nothing new begins in an inactive one, and no project is granted to it', async () => {
    const [id, other] = [await newOrganization(), await newOrganization()]
    const [projectId, foreign] = [await newProject(id), await newProject(other)]
    const { userId } = await newHuman(id)
    ok(await call('DeactivateOrganization', {}, admin(id)))
    const grants = { projectId, grantedOrgId: other }
    const refused = [
      await call('AddProject', { name: 'P' }, admin(id)),
      await call('AddProjectGrant', grants, admin(id)),
      await call('AddUserGrant', { projectId, userId }, admin(id)),
      await call('AddOrganizationMember', { userId, roles: ['ORG_OWNER'] }, admin(id)),
      await call('AddProjectMember', { projectId, userId, roles: ['PROJECT_OWNER'] }, admin(id)),
    ]
    expect(refused.map(reason)).toEqual(refused.map(() => 'ORGANIZATION_INACTIVE'))
    expect(reason(await call('AddProjectGrant', { projectId: foreign, grantedOrgId: id }, admin(other)))).toBe(
      'ORGANIZATION_NOT_FOUND',
    )
  })

  test('its owner chooses among the domains of Roster, and an owner of the instance among all', async () => {
    const [id, other] = [await newOrganization(), await newOrganization()]
    const [owner, stranger] = [await newMember(id, ['ORG_OWNER']), await newMember(other, ['ORG_OWNER'])]
    const domain = `${unique('d')}.${host}`
    const set = (chosen: string, caller: { token: string; organization?: string | undefined }) =>
      call('SetPrimaryDomain', { domain: chosen }, caller)
    const changed = ok(await set(domain, owner))
    expect(ok(await set(domain, owner))).toEqual(changed)
    expect(ok(await call('GetMyOrganization', {}, owner)).organization.primaryDomain).toBe(domain)
    for (const elsewhere of ['acme.example.com', host, `a.b.${host}`, `evil${host}`])
      expect(reason(await set(elsewhere, owner))).toBe('PERMISSION_DENIED')
    expect(factsOf(await set(domain, stranger))).toMatchObject({ code: 6, reason: 'ORGANIZATION_DOMAIN_TAKEN' })
    const elsewhere = `${unique('d')}.example.com`
    ok(await set(elsewhere, admin(id)))
    // The former domain is free again.
    ok(await set(domain, stranger))
  })

  test('its users sign in by its domain of today', async () => {
    const id = await newOrganization()
    const password = unique('Password')
    const { userName } = await newHuman(id, { password })
    await newHuman(await newOrganization(), { userName, password })
    const signIn = async (domain: string) =>
      reason(await call('CreateSession', { loginName: `${userName}@${domain}`, password }))
    const { primaryDomain } = ok(await call('GetMyOrganization', {}, admin(id))).organization
    expect(await signIn(primaryDomain)).toBe('ok')
    const domain = `${unique('d')}.example.com`
    ok(await call('SetPrimaryDomain', { domain }, admin(id)))
    expect([await signIn(domain), await signIn(primaryDomain)]).toEqual(['ok', 'CREDENTIALS_INVALID'])
    ok(await call('RemoveMyOrganization', {}, admin(id)))
    ok(await call('SetPrimaryDomain', { domain }, admin(await newOrganization())))
  })

  test('no one ends an organization with a user whose role on the instance is above the own', async () => {
    const id = await newOrganization()
    const [owner, viewer] = [await newMember(id, ['ORG_OWNER']), await newMember(id, [])]
    ok(await json('AddInstanceMember', { userId: viewer.userId, roles: ['IAM_OWNER_VIEWER'] }, admin()))
    for (const operation of ['DeactivateOrganization', 'RemoveMyOrganization'] as const)
      expect(reason(await call(operation, {}, owner))).toBe('PERMISSION_DENIED')
    expect(reason(await call('RemoveOrganization', { orgId: id }, owner))).toBe('PERMISSION_DENIED')
    ok(await json('RemoveInstanceMember', { userId: viewer.userId }, admin()))
    expect(reason(await call('RemoveMyOrganization', {}, owner))).toBe('ok')
  })

  test('a search shows each once, page by page, in both orders', async () => {
    const prefix = unique('Page')
    const ids: string[] = []
    for (const letter of ['b', 'C', 'a', 'D']) ids.push(await newOrganization(`${prefix} ${letter}`))
    const pages = async (order: object) => {
      const found: string[] = []
      const name = { text: prefix, method: 'TEXT_QUERY_METHOD_STARTS_WITH' }
      for (let cursor = ''; ;) {
        const page = { name, ...order, limit: 3, cursor, withTotal: true }
        const { organizations, nextCursor = '', total } = ok(await call('SearchOrganizations', page, admin()))
        expect(total).toBe(4)
        found.push(...organizations.map((one: { id: string }) => one.id))
        if (nextCursor === '') return found
        cursor = nextCursor
      }
    }
    const [b, c, a, d] = ids
    const byName = { sortingColumn: 'ORGANIZATION_FIELD_NAME_NAME' }
    expect(await pages({})).toEqual(ids)
    expect(await pages({ descending: true })).toEqual(ids.toReversed())
    expect(await pages(byName)).toEqual([a, b, c, d])
    expect(await pages({ ...byName, descending: true })).toEqual([d, c, b, a])
  })
})
