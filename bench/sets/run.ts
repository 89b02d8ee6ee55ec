// `npm run bench -- --only Sets`: fills each set of docs/limits.md that another organization can fill, and measures the
// latency of an uninvolved caller meanwhile. Prints the table of that page.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, openClient } from '../load/client.ts'
import { memoryOf } from '../memory-of.ts'
import { median } from '../speed/measure.ts'
import { startSystem, type System } from '../system.ts'

const services = ['users', 'grants', 'idp', 'notifier', 'gateway']
const longKeys = Array.from({ length: 100 }, (_, n) => `${String(n).padStart(3, '0')}${'\u{1F511}'.repeat(98)}`)

/** Who fills, whom the set belongs to, and how to ask as the administrator, who meets no rate. */
interface Stage {
  hostile: string
  victim: { userId: string; token: string }
  ask: Client['ask']
  add(path: string, body: object, organization?: string): Promise<string | undefined>
}

/** Adds one more to the set: undefined, or the reason for which it was refused. */
type Fill = (stage: Stage, n: number) => Promise<string | undefined>

const newOrganization = async ({ ask }: Stage, n: number) =>
  (await ask('POST', '/management/v1/orgs', { name: `Filler ${n} ${Date.now()}` })).organizationId as string
const newProject = async ({ ask, hostile }: Stage) =>
  (await ask('POST', '/management/v1/projects', { name: 'P' }, hostile)).id as string
const later = '2100-01-01T00:00:00Z'
let shared: Promise<string> | undefined

/** A set, how many are added at the most, and how. */
const sets: [name: string, most: number, fill: Fill][] = [
  [
    'memberships of a user, from one organization',
    1001,
    async (stage) =>
      stage.add(`/management/v1/projects/${await newProject(stage)}/members`, {
        userId: stage.victim.userId,
        roles: ['PROJECT_OWNER'],
      }),
  ],
  [
    'grants of a user in a project, of 40 kB each, from many organizations',
    60,
    async (stage, n) => {
      shared ??= newProject(stage).then(async (id) => {
        const roles = longKeys.map((key) => ({ key, displayName: 'R' }))
        await stage.ask('POST', `/management/v1/projects/${id}/roles/_bulk`, { roles }, stage.hostile)
        return id
      })
      const [projectId, organization] = [await shared, await newOrganization(stage, n)]
      const grant = { grantedOrgId: organization, roleKeys: longKeys }
      await stage.ask('POST', `/management/v1/projects/${projectId}/grants`, grant, stage.hostile)
      const { userId } = stage.victim
      return stage.add(`/management/v1/users/${userId}/grants`, { projectId, roleKeys: longKeys }, organization)
    },
  ],
  [
    'members of an organization',
    2000,
    async (stage, n) => {
      const machine = { userName: `member-${n}`, name: 'M' }
      const { userId } = await stage.ask('POST', '/management/v1/users/machine', machine, stage.hostile)
      return stage.add('/management/v1/orgs/me/members', { userId, roles: ['ORG_OWNER_VIEWER'] })
    },
  ],
  [
    'tokens of a machine',
    21,
    (stage) => stage.add(`/management/v1/users/${stage.victim.userId}/pats`, { expirationDate: later }),
  ],
  ['new pairs of RSA of a machine', 21, (stage) => stage.add(`/management/v1/users/${stage.victim.userId}/keys`, {})],
  [
    'webhooks',
    101,
    (stage) => stage.add('/management/v1/webhooks', { url: 'https://hooks.example.com', description: 'x'.repeat(500) }),
  ],
  [
    'events of one user',
    2000,
    async ({ ask, victim }, n) => {
      await ask('PUT', `/management/v1/users/${victim.userId}/username`, { userName: `renamed-${n}` })
      return undefined
    },
  ],
  [
    'mails to an address',
    6,
    (stage, n) =>
      stage.add('/v2/users/human', {
        userName: `mailed-${n}`,
        profile: { firstName: 'A', lastName: 'B' },
        email: { email: 'victim@example.com' },
      }),
  ],
  [
    'names that others have, without their organization',
    2000,
    (stage, n) => stage.add('/management/v1/users/machine', { userName: `innocent-${n}`, name: 'M' }),
  ],
]

/** Prints the table. A call of the uninvolved caller that fails ends the run with its error. */
export async function measureSets(): Promise<string[]> {
  const system = await startSystem()
  const admin = openClient(system)
  try {
    const innocent = await newMachine(admin, 'innocent')
    const victim = await newMachine(admin, 'victim')
    const { organizationId: hostile } = await admin.ask('POST', '/management/v1/orgs', { name: 'Hostile' })
    const add: Stage['add'] = async (path, body, organization = hostile) => {
      try {
        await admin.ask('POST', path, body, path.includes('/pats') || path.includes('/keys') ? undefined : organization)
        return undefined
      } catch (error) {
        return /"reason":"(\w+)"/.exec((error as Error).message)?.[1] ?? String(error)
      }
    }
    const stage: Stage = { hostile, victim, ask: admin.ask, add }
    console.log('\n| set | filled with | then | others, ms: before | meanwhile | after | memory, MB: before | after |')
    console.log('|---|---:|---|---:|---:|---:|---:|---:|')
    for (const [name, most, fill] of sets)
      console.log(await fillAndTime(system, stage, innocent.token, name, most, fill))
    return []
  } finally {
    admin.close()
    await system.stop()
  }
}

async function newMachine({ ask }: Client, userName: string): Promise<Stage['victim']> {
  const { userId } = await ask('POST', '/management/v1/users/machine', { userName, name: 'M' })
  const { token } = await ask('POST', `/management/v1/users/${userId}/pats`, { expirationDate: later })
  return { userId, token }
}

async function fillAndTime(system: System, stage: Stage, token: string, name: string, most: number, fill: Fill) {
  const innocent = openClient({ urls: system.urls, token })
  const ask = async () => {
    const began = performance.now()
    await innocent.ask('GET', '/auth/v1/users/me')
    return performance.now() - began
  }
  const times = async (until: () => boolean) => {
    const all: number[] = []
    while (!until()) {
      all.push(await ask())
      await sleep(5)
    }
    return median(all).toFixed(1)
  }
  const some = () => {
    let left = 100
    return times(() => left-- === 0)
  }
  const memory = () =>
    Math.round(services.flatMap((each) => system.pids[each]!).reduce((all, pid) => all + memoryOf(pid).pss, 0))
  const [before, held] = [await some(), memory()]
  let over = false
  const meanwhile = times(() => over)
  let [filled, refused]: [number, string | undefined] = [0, undefined]
  for (let n = 0; n < most && refused === undefined; n++) {
    refused = await fill(stage, n)
    if (refused === undefined) filled++
  }
  over = true
  const during = await meanwhile
  const after = await some()
  innocent.close()
  const then = refused === undefined ? 'goes on' : `\`${refused}\``
  return `| ${name} | ${filled} | ${then} | ${before} | ${during} | ${after} | ${held} | ${memory()} |`
}
