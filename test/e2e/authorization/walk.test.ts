import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type Method, methods, offered } from '#lib/rpc/methods'
import { ok } from '../../examples/people.ts'
import { callGrpc } from '../clients/grpc.ts'
import { isSecondTier } from '../../support/long.ts'
import { startOwnHouse } from '../own-house.ts'
import { attempt, fieldsOf, idsOf, type Outcome } from './attempt.ts'
import { type Objects, setStage, type Stage } from './stage.ts'
import { mayBeForeign } from './may-be-foreign.ts'

const byUrl = inject('roster').house === undefined
const why = byUrl ? ' (skipped: it takes a Roster of its own)' : ''

const internal = [...methods.values()].filter(({ access }) => access.rule === 'internal')
const nameOf = ({ desc }: Method) => desc.name
const isOffered = (name: string) => offered.some((method) => nameOf(method) === name)
const [header, ...lines] = readFileSync(new URL('outcomes.txt', import.meta.url), 'utf8')
  .trim()
  .split('\n')
const columns = header!.trim().split(/\s+/).slice(1)
// The first tier walks with those who differ most.
const walkers = isSecondTier
  ? columns
  : ['anonymous', 'ordinary', 'owner', 'other-owner', 'project-owner', 'project-token']
const strangers = isSecondTier ? columns : ['owner', 'project-owner', 'project-token']
const rows = new Map(lines.map((line) => [line.split(/\s+/)[0]!, line.trim().split(/\s+/).slice(1)]))

let house: Awaited<ReturnType<typeof startOwnHouse>>
let stage: Stage
let before: unknown
let cells = 0
/** The rows of the walk, by method. */
const seen = new Map<string, string>()

beforeAll(async () => {
  if (byUrl) return
  house = await startOwnHouse()
  stage = await setStage(house.machine)
  before = await eventsAtHome()
}, 120_000)
afterAll(async () => {
  await house?.stop()
  console.log(`the authorization walk: ${cells} cells`)
})

// The second tier compares the whole file.
test.skipIf(isSecondTier)('each method has a row, and each row a method (first tier)', () => {
  expect([...rows.keys()].toSorted()).toEqual(offered.map(nameOf).toSorted())
})

test('a guest does by an object what an owner of the organization does, wherever the guest acts', () => {
  const [guest, owner] = [columns.indexOf('guest'), columns.indexOf('owner')]
  const decided = offered.filter(({ access }) => access.scope === 'resource').map(nameOf)
  // It names the acting organization too.
  const others = decided.filter((name) => name !== 'ExplainPermission')
  expect(others.length).toBeGreaterThan(25)
  expect(others.filter((name) => rows.get(name)?.[guest] !== rows.get(name)?.[owner])).toEqual([])
})

describe.skipIf(byUrl)(`who may call what${why}:`, () => {
  test('each kind of caller has a column', () => {
    expect(columns).toEqual(Object.keys(stage.callers))
  })

  test.each(offered.map((method) => [nameOf(method), method] as const))('%s', async (name, method) => {
    const outcomes = await Promise.all(
      walkers.map(async (column) => outcomeOf(await attempt(method, existing(method), stage.callers[column]!))),
    )
    const row = rows.get(name) ?? []
    cells += outcomes.length
    seen.set(name, spell(name, outcomes))
    if (isSecondTier) return
    expect(seen.get(name)).toBe(
      spell(
        name,
        walkers.map((column) => row[columns.indexOf(column)]),
      ),
    )
  })

  test.skipIf(!isSecondTier)('each may call what was last read in review (second tier)', async () => {
    // With `-t`, the rows of the others stay.
    const known = [...rows.keys()].filter((name) => seen.has(name) || (seen.size < offered.length && isOffered(name)))
    const names = [...known, ...[...seen.keys()].filter((name) => !rows.has(name))]
    const text = [header, ...names.map((name) => seen.get(name) ?? spell(name, rows.get(name)!))].join('\n')
    await expect(`${text}\n`).toMatchFileSnapshot('./outcomes.txt')
  })

  test('no caller reaches an internal method', async () => {
    for (const method of internal)
      for (const caller of Object.values(stage.callers)) {
        const answer = await fetch(house.url + method.path, {
          method: 'POST',
          headers: { 'content-type': 'application/grpc-web+proto', authorization: `Bearer ${caller.token}` },
          body: Buffer.alloc(5),
        })
        expect([method.path, answer.headers.get('grpc-status') ?? (await answer.text())]).toEqual([
          method.path,
          expect.stringMatching(/12|METHOD_UNKNOWN/),
        ])
      }
  })
})

/** Ids that the caller would choose for a new object, which needs more than the method itself. */
const chosen: Record<string, string> = {
  AddProject: 'project_id',
  AddProjectGrant: 'grant_id',
  AddOIDCApplication: 'app_id',
  AddAPIApplication: 'app_id',
}

function existing(method: Method): Record<string, string> {
  const { [chosen[method.desc.name] ?? '']: _, ...ids } = idsOf(method, stage.home)
  return ids
}

/** Ids that lead to objects: the method, the field, and a whole request. */
const named = offered
  .filter(({ streams }) => !streams)
  .flatMap((method) =>
    fieldsOf(method)
      .filter((field) => /_ids?$/.test(field))
      .map((field) => [`${nameOf(method)} by ${field}`, method, field] as const),
  )

describe.skipIf(byUrl)(`an object of another organization is answered as an unknown one${why}:`, () => {
  test.each(named)('%s', async (_name, method, field) => {
    const differing: unknown[] = []
    for (const column of strangers)
      for (const [own, foreign] of foreignTo(column, field)) {
        const caller = stage.callers[column]!
        const ids = idsOf(method, own)
        const found = await attempt(method, { ...ids, [field]: idsOf(method, foreign)[field]! }, caller, true)
        const unknown = await attempt(method, { ...ids, [field]: `unknown-${ids[field]}`.slice(0, 36) }, caller, true)
        if (!isDeepStrictEqual(found, unknown)) differing.push({ column, found, unknown })
      }
    if (mayBeForeign.has(`${method.desc.name}.${field}`)) expect(differing).not.toEqual([])
    else expect(differing).toEqual([])
  })
})

/** Objects that a caller may use, and others that it may know nothing of. */
function foreignTo(column: string, field: string): [own: Objects, foreign: Objects][] {
  const { home, abroad, beside } = stage
  if (column.startsWith('iam-')) return []
  if (column.startsWith('other-')) return [[abroad, home]]
  const isOfProject = ['project-owner', 'project-viewer', 'grant-owner'].includes(column)
  // Its role is one in its project. Users and the organization itself are the same there.
  const isForeign = isOfProject && field !== 'user_id' && field !== 'org_id'
  const inOther: [Objects, Objects][] = isForeign ? [[home, beside]] : []
  return [[home, abroad], ...inOther]
}

test.skipIf(byUrl)(`the walk changes nothing${why}`, async () => {
  expect(await eventsAtHome()).toEqual(before)
})

async function eventsAtHome(): Promise<unknown> {
  const { events } = ok(await callGrpc('SearchOrganizationEvents', { limit: 1000 }, stage.callers['iam-owner']))
  return (events as { type: string; aggregateId: string }[]).map(({ type, aggregateId }) => `${type} ${aggregateId}`)
}

/** 16, 7, or "in" for every other answer: the caller passed the permission. A fault of ours is shown as it is. */
function outcomeOf({ code, reason }: Outcome): string {
  if (code === 16 || code === 7) return String(code)
  return [2, 8, 12, 13, 14, 15].includes(code) ? `${code}:${reason}` : 'in'
}

function spell(name: string, outcomes: (string | undefined)[]): string {
  return `${name.padEnd(34)} ${walkers.map((column, at) => (outcomes[at] ?? '?').padEnd(column.length)).join(' ')}`.trimEnd()
}
