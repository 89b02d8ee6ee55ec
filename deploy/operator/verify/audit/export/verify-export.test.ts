import { hash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type AuditedRow, canonicalJson, canonicalRow } from '#lib/eventstore/audit/canonical-row'
import { type Checkpoint, makeAuditKey, signCheckpoint } from '#lib/eventstore/audit/checkpoint'
import { type ChainEnd, makePage, type Page, rowKey } from '#lib/eventstore/audit/page'
import type { StoringService } from '../../../../provision.ts'
import type { Finding } from '../../finding.ts'
import { readKeys } from '../kept.ts'
import { verifyExport } from './verify-export.ts'

type Told = Record<string, any>
type Signer = ReturnType<typeof makeAuditKey>

const salt = 'salt'
const keys: Record<'users' | 'grants', Signer> = { users: makeAuditKey(), grants: makeAuditKey() }
let folder: string
/** The lines of a true export. Pages 1, 2 and 3 of users; a checkpoint signs 1, another one 3. */
let lines: Told[]

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roster-export-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))
beforeEach(() => {
  lines = exportOf(chain('users'))
})

const beginning: ChainEnd = { epoch: 1, page: 0, events: 0, hash: '', transactionId: '0', position: '0' }

function row(position: number, id: string, sequence: number, type: string, payload: object = {}): AuditedRow {
  return {
    position: String(position),
    transaction_id: String(position + 100),
    aggregate_type: 'user',
    aggregate_id: id,
    sequence: String(sequence),
    type,
    payload,
    organization_id: 'own',
    creator: 'somebody',
    request_id: '',
    cause: null,
    traceparent: null,
    created_at: new Date(1_700_000_000_000 + position),
  }
}

interface Chain {
  service: StoringService
  pages: (Page & { rows: AuditedRow[] })[]
  checkpoints: Checkpoint[]
}

function chain(service: StoringService, end: ChainEnd = beginning): Chain {
  const sealed = { userName: 'a\u2028b', profile: 1 }
  const portions = [
    [row(1, 'a', 1, 'locked', { n: 1 }), row(2, 'b', 1, 'human_added', { state: 1, $sealed: 'text' })],
    [row(3, 'a', 2, 'unlocked')],
    [row(4, 'b', 2, 'locked', sealed)],
  ]
  const pages: Chain['pages'] = []
  for (let last = end; pages.length < portions.length;) {
    const rows = portions[pages.length]!
    const page = makePage(service, last, rows, salt)
    pages.push({ ...page, rows })
    last = { ...page.header, ...page.header.last, hash: page.hash }
  }
  const checkpoints = [pages[0]!, pages[2]!].map((page, index) => checkpointOf(page, index + 1))
  return { service, pages, checkpoints }
}

function checkpointOf({ header, hash: digest }: Page, number: number): Checkpoint {
  const { service, epoch, page, last, events } = header
  const reason = epoch === 1 ? '' : 'sealed'
  return { service, number, previous: '', at: `2026-01-0${number}`, epoch, reason, page, hash: digest, last, events }
}

function pageLines({ service, pages }: Chain): Told[] {
  return pages.flatMap((page) => [
    { kind: 'page', service, header: page.headerText },
    { kind: 'entries', service, page: page.header.page, entries: page.entries.toString('base64') },
  ])
}

function signed(checkpoint: Checkpoint, { key, secret } = keys.users): Told {
  return { kind: 'checkpoint', service: checkpoint.service, jws: signCheckpoint(checkpoint, key.kid, secret) }
}

function eventOf(service: string, page: number, stored: AuditedRow): Told {
  const { $sealed, ...payload } = stored.payload as Told
  return {
    kind: 'event',
    service,
    position: stored.position,
    aggregateType: stored.aggregate_type,
    aggregateId: stored.aggregate_id,
    sequence: stored.sequence,
    type: stored.type,
    payload: $sealed === undefined ? payload : { ...payload, userName: 'opened' },
    organizationId: stored.organization_id,
    creator: stored.creator,
    requestId: stored.request_id,
    cause: null,
    createdAt: stored.created_at.toISOString(),
    ...($sealed !== undefined && { sealed: $sealed }),
    proof: { page, key: rowKey(salt, stored.position), row: canonicalRow(stored) },
  }
}

function exportOf(...chains: Chain[]): Told[] {
  const events = chains.flatMap(({ service, pages }) =>
    pages.flatMap(({ header, rows }) => rows.map((one) => eventOf(service, header.page, one))),
  )
  return [
    { kind: 'export', format: 1, organization: 'own', at: '2026-01-01' },
    ...chains.flatMap((one) => [...pageLines(one), ...one.checkpoints.map((checkpoint) => signed(checkpoint))]),
    ...events,
    { kind: 'end', events: events.length, objects: 0 },
  ]
}

const allKeys = () => JSON.stringify({ keys: Object.entries(keys).map(([service, { key }]) => ({ ...key, service })) })

async function found(some: (Told | string)[], trusted = allKeys()): Promise<string[]> {
  const [file, keyFile] = [join(folder, 'export'), join(folder, 'keys')]
  await writeFile(file, some.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''))
  await writeFile(keyFile, trusted)
  const findings: Finding[] = []
  const output = { line() {}, progress() {} } as never
  await verifyExport({ output }, file, readKeys(keyFile), async (more) => void findings.push(...more))
  return findings.map(({ row: of, problem }) => `${of}: ${problem}`)
}

const of = (kind: string) => lines.filter((line) => line['kind'] === kind)
const at = (line: Told) => lines.indexOf(line)
const replaced = (line: Told, ...others: (Told | string)[]) => lines.flatMap((one): (Told | string)[] => (one === line ? others : [one])) // prettier-ignore
const changedLine = (line: Told, other: Told) => replaced(line, { ...line, ...other })

/** Page 2 of users with another event, and what proves that by it: all that an attacker can make without a key. */
function forgedPage(number: unknown = 2) {
  const event = of('event')[2]!
  const forgedRow = canonicalJson({ ...JSON.parse(event['proof'].row), creator: 'framed' })
  const entries = Buffer.from(of('entries')[1]!['entries'], 'base64')
  entries.write(hash('sha256', `${event['proof'].key}.${forgedRow}`), 8, 'hex')
  const header = { ...JSON.parse(of('page')[1]!['header']), entries: hash('sha256', entries), page: number }
  return {
    page: { ...of('page')[1]!, header: canonicalJson(header) },
    entries: { ...of('entries')[1]!, page: number, entries: entries.toString('base64') },
    event: { ...event, creator: 'framed', proof: { ...event['proof'], page: number, row: forgedRow } },
  }
}

test('a true export has no finding, whatever ends of lines its names have', async () => {
  expect(await found(lines)).toEqual([])
  expect(await found(lines.filter(({ kind }) => kind !== 'event').map((line) => (line['kind'] === 'end' ? { ...line, events: 0 } : line)))).toEqual([]) // prettier-ignore
})

describe('a forged page beside the true one', () => {
  const orders: [string, (forged: ReturnType<typeof forgedPage>) => Told[][]][] = [
    ['before it', ({ page, entries }) => [[page, entries], []]],
    ['after it', ({ page, entries }) => [[], [page, entries]]],
    ['with entries alone, before', ({ entries }) => [[entries], []]],
    ['with entries alone, after', ({ entries }) => [[], [entries]]],
  ]
  test.each(orders)('%s', async (_, place) => {
    const forged = forgedPage()
    const [before, after] = place(forged)
    const [page, entries, event] = [of('page')[1]!, of('entries')[1]!, of('event')[2]!]
    const some = lines.flatMap((line) => {
      if (line === page) return [...before!, line]
      if (line === entries) return [line, ...after!]
      return line === event ? [forged.event] : [line]
    })
    expect(await found(some)).toContainEqual(expect.stringContaining('told twice'))
  })

  test('around the event', async () => {
    const forged = forgedPage()
    const [page, entries, event] = [of('page')[1]!, of('entries')[1]!, of('event')[2]!]
    const rest = lines.filter((line) => ![page, entries, event].includes(line))
    const [end] = rest.slice(-1)
    const some = [...rest.slice(0, -1), forged.page, forged.entries, forged.event, page, entries, end!]
    expect(await found(some)).toContainEqual('page 2: it is told twice')
  })

  test('without its true entries', async () => {
    const forged = forgedPage()
    const some = lines.map((line) => (line === of('entries')[1] ? forged.entries : line === of('event')[2] ? forged.event : line)) // prettier-ignore
    expect(await found(some)).toEqual([
      'page 2: its entries are not those of its header',
      'event users-3: its page does not have it',
    ])
  })

  test('in place of all that is true', async () => {
    const forged = forgedPage()
    const others = new Map<Told | undefined, Told>([[of('page')[1], forged.page], [of('entries')[1], forged.entries], [of('event')[2], forged.event]]) // prettier-ignore
    expect(await found(lines.map((line) => others.get(line) ?? line))).toEqual(['page 2: no checkpoint signs it'])
  })

  test.each(['2 x', '2', 2.5, 0, -2, null, true, [2]])('under the number %j', async (number) => {
    const forged = forgedPage(number)
    const some = lines.flatMap((line) => {
      if (line === of('page')[1]) return [line, forged.page]
      if (line === of('entries')[1]) return [line, forged.entries]
      return line === of('event')[2] ? [forged.event] : [line]
    })
    expect(await found(some)).toEqual(
      expect.arrayContaining([
        'a page: its header is none of this service',
        expect.stringMatching(/^line \d+: no export has such a line$/),
      ]),
    )
  })

  test.each([7, 4])('under the number %s, which nobody signed', async (number) => {
    const forged = forgedPage(number)
    const some = replaced(of('event')[2]!, forged.page, forged.entries, forged.event)
    expect(await found(some)).toContainEqual(`page ${number}: no checkpoint signs it`)
  })
})

test('a line that two readers read differently', async () => {
  const [event, page] = [of('event')[0]!, of('page')[0]!]
  const text = JSON.stringify(event)
  const double = text.replace('"creator":', '"creator":"framed","creator":')
  expect(double).not.toBe(text)
  const strange = expect.stringMatching(/^line \d+: no export has such a line$/)
  expect(await found(replaced(event, double))).toContainEqual(strange)
  expect(await found(replaced(event, text.replace(':', ': ')))).toContainEqual(strange)
  expect(await found(replaced(event, text, ''))).toEqual([strange])
  const proofRow = event['proof'].row.replace('"creator":', '"creator":"framed","creator":')
  expect(await found(changedLine(event, { proof: { ...event['proof'], row: proofRow } }))).toEqual([
    'event users-1: its proof is none of a row',
  ])
  const header = page['header'].replace('"page":1', '"page":9,"page":1')
  expect(await found(changedLine(page, { header }))).toContainEqual('a page: its header is none of this service')
})

test.each<[string, Told]>([
  ['an unknown member', { roles: ['ORG_OWNER'] }],
  ['a position that is a number', { position: 1 }],
  ['a position that is written otherwise', { position: '01' }],
  ['a sequence that is a number', { sequence: 1 }],
  ['another kind', { kind: 'Event' }],
  ['a kind that every object has', { kind: 'constructor' }],
  ['a service that is none', { service: 'gateway' }],
  ['a payload that is a list', { payload: [] }],
])('an event with %s', async (_, other) => {
  const some = await found(changedLine(of('event')[0]!, other))
  expect(some).toContainEqual(`line ${at(of('event')[0]!) + 1}: no export has such a line`)
})

test.each<[string, Told]>([
  ['another text', { creator: 'framed' }],
  ['another id', { aggregateId: 'c' }],
  ['a cause', { cause: 'users-9' }],
  ['another payload', { payload: { n: 2 } }],
  ['more in its payload', { payload: { n: 1, more: 1 } }],
  ['a personal field in its payload, though nothing of it is sealed', { payload: { n: 1, userName: 'x' } }],
  ['a sealed part', { sealed: 'text' }],
  ['less, as if it were forgotten', { forgotten: true }],
])('an event with %s than the proven row', async (_, other) => {
  expect(await found(changedLine(of('event')[0]!, other))).toContainEqual(
    'event users-1: it does not say what is proven',
  )
})

test('a sealed event is told with its personal fields, and with nothing else that is not proven', async () => {
  const event = of('event').find(({ sealed }) => sealed)!
  const problem = `event users-${event['position']}: it does not say what is proven`
  const { payload } = event
  expect(await found(changedLine(event, { payload: { ...payload, roles: ['ORG_OWNER'] } }))).toEqual([problem])
  expect(await found(changedLine(event, { payload: { ...payload, $sealed: 'other' } }))).toEqual([problem])
  expect(await found(changedLine(event, { payload: { userName: 'opened' } }))).toEqual([problem])
  expect(await found(changedLine(event, { payload: { state: 1, $sealed: 'text' } }))).toEqual([])
  expect(await found(changedLine(event, { payload: { state: 1 }, forgotten: true }))).toEqual([])
})

test('an event that is told twice, also with another body', async () => {
  const event = of('event')[0]!
  const end = { kind: 'end', events: 5, objects: 0 }
  const with2 = (other: Told) => [...lines.slice(0, -1), { ...event, ...other }, end]
  expect(await found(with2({}))).toEqual(['event users-1: it is told twice'])
  expect(await found(with2({ creator: 'framed' }))).toEqual(['event users-1: it is told twice'])
})

test('an event under a key that moves the border between key and row', async () => {
  const event = of('event')[0]!
  const { key, row: text } = event['proof']
  const proof = { page: 1, key: `${key}.`, row: text }
  expect(await found(changedLine(event, { proof }))).toContainEqual(
    expect.stringContaining('no export has such a line'),
  )
})

test('another organization than that of the first line', async () => {
  const [first] = lines
  expect((await found(changedLine(first!, { organization: 'other' }))).length).toBe(4)
  const object = { kind: 'object', service: 'users', type: 'user', id: 'a', organizationId: 'other', sequence: 1, createdAt: '', changedAt: '', state: {} } // prettier-ignore
  const some = [...lines.slice(0, -1), object, { kind: 'end', events: 4, objects: 1 }]
  expect(await found(some)).toEqual([`line ${some.length - 1}: it is of another organization than the export`])
})

test('lines that are missing, that follow the end, or that begin twice', async () => {
  const notWhole = 'the export: it is not whole: lines are missing'
  expect(await found(lines.slice(0, -1))).toEqual([notWhole])
  expect(await found([...lines.slice(0, -1), { kind: 'end', events: 4, objects: 1 }])).toEqual([notWhole])
  expect(await found(lines.slice(1))).toContainEqual('line 1: it does not stand in its place')
  expect(await found([...lines.slice(0, 3), lines[0]!, ...lines.slice(3)])).toEqual(['line 4: it does not stand in its place']) // prettier-ignore
  expect(await found([...lines, of('event')[0]!])).toContainEqual(`line ${lines.length + 1}: it stands behind the end`)
  expect(await found([...lines, lines.at(-1)!])).toEqual([`line ${lines.length + 1}: it stands behind the end`])
  expect(await found([])).toEqual([notWhole])
})

test('entries that are no list of hashes, or that have a position twice', async () => {
  const entries = of('entries')[0]!
  const bytes = Buffer.from(entries['entries'], 'base64')
  const told = (text: string) => found(changedLine(entries, { entries: text }))
  for (const text of [bytes.subarray(0, 79).toString('base64'), `${entries['entries']} `, ''])
    expect(await told(text)).toContainEqual('page 1: its entries cannot be read')
  const other = { ...of('entries')[0]!, page: 9 }
  expect(await found([...lines.slice(0, -1), other, lines.at(-1)!])).toEqual(['page 9: its entries are not those of its header']) // prettier-ignore
  // Signed so: two events at one position.
  const one = row(1, 'a', 1, 'locked')
  const page = makePage('users', beginning, [one, { ...one, creator: 'framed' }], salt)
  const twice = exportOf({ service: 'users', pages: [{ ...page, rows: [one] }], checkpoints: [checkpointOf(page, 1)] })
  expect(await found(twice)).toEqual([
    'page 1: its entries are not those of its header',
    'event users-1: its page does not have it',
  ])
})

test('a page or checkpoint of another epoch', async () => {
  const { pages, checkpoints } = chain('users')
  const { header, hash: digest } = pages[2]!
  const anew = chain('users', { ...beginning, epoch: 2, page: 3, hash: digest })
  const later = signed(checkpointOf(anew.pages[2]!, 3))
  const withLater = (...more: Told[]) => [...lines.slice(0, -1), ...more, lines.at(-1)!]
  // It makes the export look newer than what proves it.
  expect(await found(withLater(later))).toEqual([
    'checkpoint 3: it is of another epoch',
    'checkpoint 3: it signs no page of the export',
  ])
  expect(await found(withLater(...pageLines(anew), later))).toContainEqual('page 4: it is of another epoch')
  expect(await found(exportOf(anew).filter(({ kind }) => kind !== 'checkpoint').flatMap((line) => (line['kind'] === 'event' ? [] : [line])))).toContainEqual('page 6: no checkpoint signs it') // prettier-ignore
  const same = signed({ ...checkpoints[1]!, number: 3, epoch: 2, reason: 'sealed', page: 9, at: '2026-02-01' })
  expect(await found(withLater(same))).toContainEqual('checkpoint 3: it signs no page of the export')
  expect(header.page).toBe(3)
})

test('checkpoints that contradict each other, or that are told twice', async () => {
  const { checkpoints } = chain('users')
  const add = (checkpoint: Checkpoint) => [...lines.slice(0, -1), signed(checkpoint), lines.at(-1)!]
  expect(await found(add(checkpoints[0]!))).toEqual(['checkpoint 1: it is told twice'])
  expect(await found(add({ ...checkpoints[1]!, number: 3, hash: 'x' }))).toContainEqual(
    'checkpoint 3: its page does not come after that of one before it',
  )
  // Page 2 would lead to page 3, but what is signed of it differs.
  const wrong: Checkpoint = { ...checkpoints[0]!, number: 2, page: 2, events: 3, last: { transactionId: '103', position: '3' } } // prettier-ignore
  const some = lines.map((line) => (line === of('checkpoint')[1] ? signed({ ...checkpoints[1]!, number: 3 }) : line))
  expect(await found([...some.slice(0, -1), signed(wrong), some.at(-1)!])).toContainEqual('page 2: no checkpoint signs it') // prettier-ignore
})

test('a signed page that does not follow the signed page before it', async () => {
  const { pages, checkpoints } = chain('users')
  const [first, second] = pages
  const { header, rows } = second!
  const stranger = makePage('users', { ...first!.header, ...first!.header.last, hash: hash('sha256', 'x') }, rows, salt)
  expect(stranger.header).toMatchObject({ page: header.page, events: header.events })
  const some = exportOf({
    service: 'users',
    pages: [first!, { ...stranger, rows }],
    checkpoints: [checkpoints[0]!, checkpointOf(stranger, 2)],
  })
  expect(await found(some)).toEqual(['page 2: it does not name the one before it'])
})

describe('a service', () => {
  test('cannot give a checkpoint that names another one, though its own key signs it', async () => {
    const { checkpoints } = chain('users')
    const told = { ...signed({ ...checkpoints[0]!, service: 'grants' }), service: 'users' }
    expect(await found(lines.map((line) => (line === of('checkpoint')[0] ? told : line)))).toContainEqual(
      'a checkpoint: its signature is not that of a given key',
    )
  })

  test('signs nothing for another one, whatever keys are given', async () => {
    const grants = chain('grants')
    const forged = exportOf(grants)
    const both = await found(forged)
    expect(both.filter((line) => line === 'a checkpoint: its signature is not that of a given key').length).toBe(2)
    expect(both).toContainEqual('page 1: no checkpoint signs it')
    const own = forged.map((line) => line['kind'] === 'checkpoint' ? signed(grants.checkpoints[Number(line === forged[8])]!, keys.grants) : line) // prettier-ignore
    expect(await found(own)).toEqual([])
    const kept = Object.entries(keys).map(([service, { key }]) => JSON.stringify({ kind: 'key', service, key }))
    expect(await found(forged, kept.join('\n'))).toEqual(both)
  })

  test('has its own pages alone', async () => {
    const some = lines.map((line) => (line['kind'] === 'page' ? { ...line, service: 'grants' } : line))
    expect(await found(some)).toContainEqual('a page: its header is none of this service')
    const event = of('event')[0]!
    expect(await found(changedLine(event, { service: 'grants' }))).toContainEqual(
      'event grants-1: its page does not have it',
    )
    const checkpoint = of('checkpoint')[0]!
    expect(await found(changedLine(checkpoint, { service: 'grants' }))).toContainEqual(
      'a checkpoint: its signature is not that of a given key',
    )
  })

  test.each([
    ['no service', { service: undefined }],
    ['an unknown one', { service: 'gateway' }],
  ])('a set of keys that names %s is refused', async (_, other) => {
    await expect(found(lines, JSON.stringify({ keys: [{ ...keys.users.key, ...other }] }))).rejects.toThrow(
      'names no service',
    )
  })

  test.each(['{"keys":[]}', '{"keys":{}}', 'null', '{"keys":[{"service":"users"}]}', '{"keys":[null]}'])(
    'a set of keys that is %s is refused',
    async (text) => {
      await expect(found(lines, text)).rejects.toThrow(/no public key|a public key is none|names no service/)
    },
  )
})

test('objects of one name are different where their types are', async () => {
  const first = (type: string, id: string) => ({ ...row(1, id, 1, 'locked'), aggregate_type: type })
  const rows = [first('user', 'x y'), { ...first('user x', 'y'), position: '2', sequence: '2' }]
  const page = makePage('users', beginning, rows, salt)
  const some = exportOf({ service: 'users', pages: [{ ...page, rows }], checkpoints: [checkpointOf(page, 1)] })
  expect(await found(some)).toEqual(['event users-2: events before it are missing: user x y, sequence 1'])
})

test('a file that is no text, or that is not there, is refused', async () => {
  const file = join(folder, 'bytes')
  await writeFile(file, Buffer.from([0xff, 0xfe, 0x0a]))
  const keyFile = join(folder, 'keys')
  await writeFile(keyFile, allKeys())
  const output = { line() {}, progress() {} } as never
  for (const name of [file, join(folder, 'none')])
    await expect(verifyExport({ output }, name, readKeys(keyFile), async () => {})).rejects.toThrow(name)
})
