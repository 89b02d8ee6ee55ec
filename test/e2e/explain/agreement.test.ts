import * as fc from 'fast-check'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest'
import type { Operation } from '../../examples/contract.ts'
import { inSeconds } from '../../examples/machines.ts'
import { ok, unique } from '../../examples/people.ts'
import type { CallOptions } from '../clients/call.ts'
import { callGrpc } from '../clients/grpc.ts'
import { startOwnHouse } from '../own-house.ts'
import { type Change, changes, type Scene } from './histories.ts'
import { explains, type Question, questionsAbout } from './questions.ts'

const byUrl = inject('roster').house === undefined
const why = byUrl ? ' (skipped: it takes a Roster of its own)' : ''
const seconds = 15

let house: Awaited<ReturnType<typeof startOwnHouse>>
let admin: CallOptions
let sql: postgres.Sql

beforeAll(async () => {
  if (byUrl) return
  house = await startOwnHouse()
  admin = house.machine
  sql = postgres(house.servers.databaseUrl, { max: 1, onnotice: () => {} })
}, 120_000)
afterAll(async () => {
  await sql?.end()
  await house?.stop()
})

// The authorizer's answers are recorded behind each change, once it knows of the change: it has a second for that. An
// explanation as of that place must give the same answers, however much happened since.
test.skipIf(byUrl)(
  `for random histories, an explanation and the authorizer never disagree, now and as of each step${why}`,
  { timeout: seconds * 8000 },
  async () => {
    const end = Date.now() + seconds * 1000
    let compared = 0
    const property = fc.asyncProperty(fc.array(changes, { minLength: 12, maxLength: 24 }), async (history) => {
      // A slow machine still takes one history to its end.
      if (compared > 100 && Date.now() > end) return
      const scene = await setScene()
      const questions = questionsAbout(scene, admin)
      const recorded: Recorded[] = []
      for (const step of history) {
        const before = await lastPosition()
        await callGrpc(step.operation, await requestOf(step, scene), { ...admin, organization: scene[step.place] })
        await vi.waitFor(untilCascaded, { timeout: 10_000, interval: 20 })
        const after = await lastPosition()
        const answers = await vi.waitFor(() => agreed(questions), { timeout: 20_000, interval: 50 })
        // A step that the grants service knows nothing of is compared by its time alone.
        recorded.push({ answers, time: new Date().toISOString(), ...(after > before && { position: String(after) }) })
        await nextMillisecond()
      }
      for (const { answers, time, position } of recorded) {
        const asOf = [{ asOfTime: time }, ...(position === undefined ? [] : [{ asOfPosition: position }])]
        for (const place of asOf) {
          const explained = await Promise.all(questions.map((question) => explains(question, place, admin)))
          expect({ place, explained }).toEqual({ place, explained: answers })
          compared += explained.length
        }
      }
    })
    await fc.assert(property, { numRuns: 100, endOnFailure: true })
    expect(compared).toBeGreaterThan(100)
    console.log(`explanations of the past that agree with the authorizer of then: ${compared}`)
  },
)

interface Recorded {
  answers: boolean[]
  time: string
  position?: string
}

/** The answers of the authorizer, once the explanation of now gives the same. */
async function agreed(questions: Question[]): Promise<boolean[]> {
  const [real, explained] = await Promise.all([
    Promise.all(questions.map((question) => question.ask())),
    Promise.all(questions.map((question) => explains(question, {}, admin))),
  ])
  const differing = questions.flatMap(({ request, organization }, index) =>
    real[index] === explained[index] ? [] : [{ request, organization, real: real[index], explained: explained[index] }],
  )
  expect(differing).toEqual([])
  return real
}

async function act(operation: Operation, request: Parameters<typeof callGrpc>[1], organization?: string) {
  return ok(await callGrpc(operation, request, { ...admin, organization }))
}

async function setScene(): Promise<Scene> {
  const add = async () => (await act('AddOrganization', { name: unique('Organization') })).organizationId as string
  const [home, abroad] = [await add(), await add()]
  const { id: projectId } = await act('AddProject', { name: unique('Project') }, home)
  for (const roleKey of ['reader', 'writer'])
    await act('AddProjectRole', { projectId, roleKey, displayName: roleKey }, home)
  await act('AddProjectGrant', { projectId, grantedOrgId: abroad, roleKeys: ['reader', 'writer'] }, home)
  const addUser = async (organization: string) => {
    const { userId } = await act('AddMachineUser', { userName: unique('machine'), name: 'A machine' }, organization)
    const expirationDate = inSeconds(24 * 3600)
    const { token } = await act('AddPersonalAccessToken', { userId, expirationDate }, organization)
    return { userId: userId as string, token: token as string, organization }
  }
  return { home, abroad, projectId, users: [await addUser(home), await addUser(abroad)] }
}

/** The request of a change: of what is there, the ids. */
async function requestOf({ operation, user, place, more }: Change, { home, abroad, projectId, users }: Scene) {
  const { userId } = users[user]!
  const base = { ...more, ...(/User|Member/.test(operation) && { userId }) }
  if (/(Update|Deactivate|Reactivate|Remove)UserGrant/.test(operation)) {
    const { userGrants = [] } = await act('SearchUserGrants', { userId }, place === 'home' ? home : abroad)
    return { ...base, grantId: userGrants[0]?.id ?? 'none' }
  }
  if (/(Update|Deactivate|Reactivate|Remove)ProjectGrant/.test(operation)) {
    const { projectGrants = [] } = await act('SearchProjectGrants', { projectId }, home)
    return { ...base, projectId, grantId: projectGrants[0]?.grantId ?? 'none' }
  }
  if (operation === 'AddProjectGrant') return { ...base, projectId, grantedOrgId: abroad }
  return { ...base, ...(/Project|UserGrant/.test(operation) && { projectId }) }
}

async function lastPosition(): Promise<number> {
  const [row] = await sql<{ last: string }[]>`select max(position) as last from roster_grants.events`
  return Number(row!.last)
}

// What a removal takes along may come after the answers. It must not come after a role that is added once more.
async function untilCascaded(): Promise<void> {
  const [row] = await sql<{ waits: boolean }[]>`
    select exists (
      select from roster_grants.events e
      where aggregate_type || '.' || type in ('project.role.removed', 'project_grant.changed', 'project_grant.removed')
        and (e.transaction_id, e.position) > (
          select coalesce(max(transaction_id::text::numeric), 0)::text::xid8, coalesce(max(position), 0)
          from roster_grants.followers where name = 'cascades'
        )
    ) as waits
  `
  expect(row!.waits).toBe(false)
}

async function nextMillisecond(): Promise<void> {
  for (const now = Date.now(); Date.now() === now;) await new Promise((resolve) => setImmediate(resolve))
}
