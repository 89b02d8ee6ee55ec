import { each } from './each.ts'
import type { Gateway } from './gateway.ts'
import type { Fields, Item } from './item.ts'
import { findUser } from './kinds/users.ts'
import { sameValue } from './same-value.ts'

/** What is there of each thing of the file. */
type Former = Map<Item, Fields | undefined>

/** What an item names, and what is neither in the file nor there. A sentence, and its kind and id: `user ada`. */
export interface Unknown {
  item: Item
  text: string
  name: string
}

/** What these items name, and what is neither among them nor there. */
export async function unknownNames(gateway: Gateway, items: Item[], former: Former): Promise<Unknown[]> {
  const known = new Set(items.flatMap(namesIn))
  const unknown: Unknown[] = []
  const add = (item: Item, name: string, what = name) =>
    unknown.push({ item, text: `${item.at}: there is no ${what}, neither in the file nor in Roster`, name })
  await each(items, async (item) => {
    const isOfNew = item.parent !== undefined && former.get(item.parent) === undefined
    for (const { kind, id } of item.names) {
      if (known.has(`${kind} ${id}`) || (await isThere(gateway, kind, id, item, isOfNew))) continue
      add(item, `${kind} ${id}`)
    }
    const { projectId, projectGrantId } = item.ids
    const keys = ((item.wanted['roleKeys'] ?? []) as string[]).filter((key) => !known.has(`role ${projectId} ${key}`))
    // A project that is granted is one of another organization: only the operation knows its roles.
    if (keys.length === 0 || projectGrantId !== undefined) return
    const there = isOfNew ? new Set() : await rolesOf(gateway, projectId!, item.organization)
    for (const key of keys.filter((key) => !there.has(key)))
      add(item, `project ${projectId}`, `role ${key} of project ${projectId}`)
  })
  return unknown
}

/** As others name it: `user ada`. */
export function namesIn({ kind, ids }: Item): string[] {
  if (kind.name === 'role') return [`role ${ids['projectId']} ${ids['roleKey']}`]
  const { aggregate = '' } = kind
  const id = { organization: ids['orgId'], project: ids['projectId'], user: ids['userId'] }[aggregate]
  return id === undefined ? [] : [`${aggregate} ${id}`]
}

async function isThere(gateway: Gateway, kind: string, id: string, item: Item, isOfNew: boolean): Promise<boolean> {
  if (kind === 'user') return (await findUser(gateway, id)) !== undefined
  if (kind === 'organization')
    return (await gateway.ask('grants.v1.OrganizationService/GetOrganization', { orgId: id })) !== undefined
  if (item.ids['projectGrantId'] !== undefined) return true
  const request = { projectId: id }
  return (
    !isOfNew && (await gateway.ask('grants.v1.ProjectService/GetProject', request, item.organization)) !== undefined
  )
}

async function rolesOf(gateway: Gateway, projectId: string, organization: string | undefined): Promise<Set<unknown>> {
  const request = { projectId }
  if ((await gateway.ask('grants.v1.ProjectService/GetProject', request, organization)) === undefined) return new Set()
  const roles = await gateway.all('grants.v1.ProjectService/SearchProjectRoles', 'roles', request, organization)
  return new Set(roles.map(({ key }) => key))
}

/** One sentence for each user whose new name another one of the organization has. */
export async function takenNames(gateway: Gateway, changes: { item: Item }[], former: Former): Promise<string[]> {
  const faults: string[] = []
  const ofUsers = changes.filter(({ item: { kind } }) => kind.aggregate === 'user')
  await each(ofUsers, async ({ item: { at, parent, organization, wanted, ...item } }) => {
    const { userName } = wanted
    const own = [...former].find(([{ ids, kind }]) => kind.aggregate === 'user' && ids === item.ids)?.[1]
    if (former.get(parent!) === undefined || sameValue(own?.['userName'], userName)) return
    const answer = await gateway.ask('users.v1.UserService/IsUserUnique', { userName }, organization)
    if (answer?.['isUnique'] !== true) faults.push(`${at}: another user has the name ${String(userName)}`)
  })
  return faults
}
