import type { Fields, Item, Kind } from './item.ts'
import { organizationMember, instanceMember, projectGrant, projectMember, userGrant } from './kinds/grants.ts'
import { loginPolicy, organization } from './kinds/organizations.ts'
import { apiApplication, oidcApplication, project, role } from './kinds/projects.ts'
import { machine, person } from './kinds/users.ts'
import { type Path, type SetupFile, SetupFaults } from './read-file.ts'
import { mostThings } from './schema.ts'

/** How the things of a list are items: their kind, and which of their fields are ids, by the names of the operations. */
interface List {
  field: string
  kind: Kind
  /** The field of the operations by the field of the file. */
  ids: Record<string, string>
  what(ids: Record<string, string>): string
  lists?: List[]
  /** Fields of the thing above that the operations take as well. */
  above?: string[]
}

const members = (kind: Kind, above: string[] = []): List => ({
  field: 'members',
  kind,
  ids: { userId: 'userId' },
  what: ({ userId }) => kind.name.replace('member', `member ${userId}`),
  above,
})

const ofProject: List[] = [
  {
    field: 'roles',
    kind: role,
    ids: { roleKey: 'roleKey' },
    what: ({ roleKey, projectId }) => `role ${roleKey} of project ${projectId}`,
    above: ['projectId'],
  },
  ...(
    [
      ['oidcApplications', oidcApplication],
      ['apiApplications', apiApplication],
    ] as const
  ).map(([field, kind]) => ({
    field,
    kind,
    ids: { id: 'appId' },
    what: ({ appId }: Record<string, string>) => `${kind.name} ${appId}`,
    above: ['projectId'],
  })),
  {
    field: 'grants',
    kind: projectGrant,
    ids: { grantId: 'grantId', grantedOrgId: 'grantedOrgId' },
    what: ({ projectId, grantedOrgId }) => `grant of project ${projectId} to organization ${grantedOrgId}`,
    above: ['projectId'],
  },
  members(projectMember, ['projectId']),
]

const ofOrganization: List[] = [
  { field: 'people', kind: person, ids: { id: 'userId' }, what: ({ userId }) => `person ${userId}` },
  { field: 'machines', kind: machine, ids: { id: 'userId' }, what: ({ userId }) => `machine ${userId}` },
  {
    field: 'projects',
    kind: project,
    ids: { id: 'projectId' },
    what: ({ projectId }) => `project ${projectId}`,
    lists: ofProject,
  },
  members(organizationMember),
  {
    field: 'userGrants',
    kind: userGrant,
    ids: { userGrantId: 'userGrantId', userId: 'userId', projectId: 'projectId', projectGrantId: 'projectGrantId' },
    what: ({ userId, projectId }) => `user grant of ${userId} in project ${projectId}`,
  },
]

const organizations: List = {
  field: 'organizations',
  kind: organization,
  ids: { id: 'orgId' },
  what: ({ orgId }) => `organization ${orgId}`,
  lists: ofOrganization,
}

/** All things of the file, in the order in which they can be made. Throws SetupFaults where it names one twice. */
export function itemsOf(file: SetupFile): Item[] {
  const items: Item[] = []
  const { content } = file
  policyOf(file, items, content, [])
  for (const list of [organizations, members(instanceMember)]) collect(file, items, list, content, [], undefined)
  refuseTwice(items)
  if (items.length > mostThings)
    throw new SetupFaults([`${file.place([])}: has ${items.length} things, and may have ${mostThings}`])
  return items.toSorted((left, right) => left.kind.rank - right.kind.rank)
}

function collect(file: SetupFile, items: Item[], list: List, from: Fields, path: Path, parent: Item | undefined): void {
  for (const [index, thing] of ((from[list.field] ?? []) as Fields[]).entries()) {
    const here = [...path, list.field, index]
    const item = itemOf(file, list, thing, here, parent)
    items.push(item)
    if (list.kind === organization) policyOf(file, items, thing, here, item)
    for (const inner of list.lists ?? []) collect(file, items, inner, thing, here, item)
  }
}

function itemOf(file: SetupFile, list: List, thing: Fields, path: Path, parent: Item | undefined): Item {
  const own = Object.entries(list.ids).flatMap(([name, field]) =>
    thing[name] === undefined ? [] : [[field, thing[name] as string]],
  )
  const above = (list.above ?? []).map((field) => [field, parent!.ids[field]!])
  const ids = Object.fromEntries([...own, ...above]) as Record<string, string>
  const apart = new Set([...Object.keys(list.ids), 'loginPolicy', ...(list.lists ?? []).map(({ field }) => field)])
  return {
    kind: list.kind,
    what: list.what(ids),
    at: file.place(path),
    organization: parent?.ids['orgId'] ?? parent?.organization,
    ids,
    wanted: Object.fromEntries(Object.entries(thing).filter(([name]) => !apart.has(name))),
    parent,
    names: namesOf(list, ids),
  }
}

function namesOf({ kind, above = [] }: List, ids: Record<string, string>): Item['names'] {
  if ([person, machine, organization, project].includes(kind)) return []
  const kinds = { grantedOrgId: 'organization', projectId: 'project', userId: 'user' } as const
  return Object.entries(kinds).flatMap(([field, kind]) =>
    ids[field] === undefined || above.includes(field) ? [] : [{ kind, id: ids[field] }],
  )
}

function policyOf(file: SetupFile, items: Item[], { loginPolicy: wanted }: Fields, path: Path, parent?: Item): void {
  if (wanted === undefined) return
  const organization = parent?.ids['orgId']
  const what = organization === undefined ? 'login policy of the instance' : `login policy of ${organization}`
  const at = file.place([...path, 'loginPolicy'])
  items.push({ kind: loginPolicy, what, at, organization, ids: {}, wanted: wanted as Fields, parent, names: [] })
}

// A user is one, whether person or machine; an application one, whatever its type; a member one of its place.
function refuseTwice(items: Item[]): void {
  const first = new Map<string, Item>()
  const faults: string[] = []
  for (const item of items) {
    const { kind, ids, organization } = item
    const { grantId: _, userGrantId: __, ...parts } = ids
    const isUnique = kind.aggregate !== undefined && !('grantedOrgId' in ids) && kind !== userGrant
    const id = ids['userId'] ?? ids['appId'] ?? ids['projectId'] ?? ids['orgId']
    const key = isUnique ? [kind.aggregate, id] : [kind.name, organization, parts]
    const known = first.get(JSON.stringify(key))
    if (known) faults.push(`${item.at}: ${item.what} is in the file twice, first at ${known.at}`)
    else first.set(JSON.stringify(key), item)
  }
  if (faults.length > 0) throw new SetupFaults(faults)
}
