import type { Client } from '../load/client.ts'

/** A system with an organization that has users, projects, and a grant of each project for each user. */
export interface Filled {
  client: Client
  organization: string
  projectIds: string[]
  userIds: string[]
  /** Seconds that the users and the grants took. */
  seconds: { users: number; grants: number }
}

const projects = 3
const roles = ['reader', 'writer', 'auditor', 'editor', 'owner']
const most = 1000

/** Adds so many users, half of them machines, and their grants, by the bulk operations. */
export async function fill(client: Client, number: number, say: (text: string) => void): Promise<Filled> {
  const { organizationId: organization } = await client.ask('POST', '/management/v1/orgs', { name: `Scale ${number}` })
  const ask = (path: string, body: object) => client.ask('POST', path, body, organization)
  const projectIds: string[] = []
  for (let n = 0; n < projects; n++) {
    const { id } = await ask('/management/v1/projects', { name: `Project ${n}` })
    projectIds.push(id)
    for (const roleKey of roles) await ask(`/management/v1/projects/${id}/roles`, { roleKey, displayName: roleKey })
  }

  async function addAll(path: string, field: string, items: object[]): Promise<string[]> {
    const ids: string[] = []
    for (let at = 0; at < items.length; at += most) {
      const { results } = await ask(path, { [field]: items.slice(at, at + most) })
      for (const { done, error } of results) {
        if (error) throw new Error(JSON.stringify(error))
        ids.push(done.id)
      }
      if ((at / most) % 25 === 24) say(`  ${at + most} ${field}`)
    }
    return ids
  }

  const begun = performance.now()
  const userIds = await addAll(
    '/v2/users/_bulk',
    'users',
    Array.from({ length: number }, (_, n) => newUser(n)),
  )
  const between = performance.now()
  await addAll(
    '/management/v1/user_grants/_bulk',
    'userGrants',
    userIds.flatMap((userId, n) =>
      projectIds.map((projectId, at) => ({
        userId,
        projectId,
        roleKeys: [roles[(n + at) % roles.length]!, ...(n % 7 === 0 ? ['owner'] : [])],
      })),
    ),
  )
  const seconds = { users: (between - begun) / 1000, grants: (performance.now() - between) / 1000 }
  return { client, organization, projectIds, userIds, seconds }
}

const first = ['Ada', 'Ben', 'Chloé', 'Dora', 'Emil', 'Fatma', 'Goran', 'Hana', 'Ivo', 'Jun']
const last = ['Arendt', 'Bach', 'Curie', 'Dürer', 'Euler', 'Franklin', 'Gauss', 'Hopper', 'Ito', 'Joliot', 'Kahlo']

function newUser(n: number): object {
  const userName = `user-${String(n).padStart(6, '0')}`
  if (n % 2 === 1) return { machine: { userName, name: `Machine ${n}`, description: 'Loaded by the bench' } }
  const [firstName, lastName] = [first[n % first.length]!, `${last[n % last.length]!} ${n}`]
  const email = { email: `${userName}@example.com`, isVerified: true }
  return { human: { userName, profile: { firstName, lastName, preferredLanguage: 'en' }, email } }
}
