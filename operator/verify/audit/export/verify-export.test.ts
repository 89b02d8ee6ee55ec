import { hash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { canonicalJson } from '#lib/audit-log/canonical-row'
import {
  beginning,
  chain,
  changedLine,
  checkpointOf,
  exportOf,
  found,
  keys,
  lines,
  of,
  pageLines,
  replaced,
  signed,
  type Line,
} from './testing/true-export.ts'

test('a true export has no finding, whatever ends of lines its names have', async () => {
  expect(await found(lines)).toEqual([])
})

describe('a line', () => {
  const event = of('event')[0]!

  test.each<[string, Line | string, string]>([
    ['that is no JSON', 'x', 'Unexpected token'],
    ['of another kind', { kind: 'constructor', service: 'users' }, 'its kind is unknown'],
    ['of a service that is none', { ...event, service: 'gateway' }, 'its service is unknown'],
    ['whose key could move the border between key and row', { ...event, proof: { ...event['proof'], key: `${event['proof'].key}.` } }, 'the key of its proof is none'], // prettier-ignore
  ])('%s is named with the reason', async (_, other, problem) => {
    const number = lines.indexOf(event) + 1
    expect(await found(replaced(event, other))).toContainEqual(
      expect.stringContaining(`line ${number}: no export has such a line: ${problem}`),
    )
  })

  test('that is missing, follows the end, or begins twice is found', async () => {
    const notWhole = 'the export: it is not whole: lines are missing'
    const misplaced = (number: number) => `line ${number}: no export has such a line: it does not stand in its place`
    expect(await found(lines.slice(0, -1))).toEqual([notWhole])
    expect(await found([...lines.slice(0, -1), { kind: 'end', events: 4, objects: 1 }])).toEqual([notWhole])
    expect(await found(lines.slice(1))).toContainEqual(misplaced(1))
    expect(await found([...lines.slice(0, 3), lines[0]!, ...lines.slice(3)])).toEqual([misplaced(4)])
    expect(await found([...lines, of('page')[0]!])).toEqual([notWhole])
  })

  test('of another organization than that of the first line is found', async () => {
    expect((await found(changedLine(lines[0]!, { organization: 'other' }))).length).toBe(4)
  })
})

describe('an event', () => {
  const event = of('event')[0]!

  test.each<[string, Line]>([
    ['another text', { creator: 'framed' }],
    ['another id', { aggregateId: 'c' }],
    ['a cause', { cause: 'users-9' }],
    ['an unknown member', { roles: ['ORG_OWNER'] }],
    ['another payload', { payload: { n: 2 } }],
    ['a personal field in its payload, though nothing of it is encrypted', { payload: { n: 1, userName: 'x' } }],
    ['an encrypted part', { sealed: 'text' }],
    ['less, as if the person were erased', { forgotten: true }],
  ])('with %s than the proven row is found', async (_, other) => {
    expect(await found(changedLine(event, other))).toContainEqual('event users-1: it does not say what is proven')
  })

  test('that is encrypted is shown with its personal fields, and with nothing else that is not proven', async () => {
    const one = of('event').find(({ sealed }) => sealed)!
    const problem = `event users-${one['position']}: it does not say what is proven`
    expect(await found(changedLine(one, { payload: { ...one['payload'], roles: ['ORG_OWNER'] } }))).toEqual([problem])
    expect(await found(changedLine(one, { payload: { userName: 'opened' } }))).toEqual([problem])
    expect(await found(changedLine(one, { payload: { state: 1, $sealed: 'text' } }))).toEqual([])
    expect(await found(changedLine(one, { payload: { state: 1 }, forgotten: true }))).toEqual([])
  })

  test('that stands there twice is found, also with another body', async () => {
    const some = [...lines.slice(0, -1), { ...event, creator: 'framed' }, { kind: 'end', events: 5, objects: 0 }]
    expect(await found(some)).toEqual([
      'event users-1: events before it are missing: user a, sequence 3',
      'event users-1: it does not say what is proven',
    ])
  })
})

describe('a forged page', () => {
  const [page, entries, event] = [of('page')[1]!, of('entries')[1]!, of('event')[2]!]

  // Page 2 of users with another event, and what proves that by it: all that an attacker can make without a key.
  const row = canonicalJson({ ...JSON.parse(event['proof'].row), creator: 'framed' })
  const bytes = Buffer.from(entries['entries'], 'base64')
  bytes.write(hash('sha256', `${event['proof'].key}.${row}`), 8, 'hex')
  const header = { ...JSON.parse(page['header']), entries: hash('sha256', bytes) }
  const forged = {
    page: { ...page, header: canonicalJson(header) },
    entries: { ...entries, entries: bytes.toString('base64') },
    event: { ...event, creator: 'framed', proof: { ...event['proof'], row } },
  }

  test.each<[string, Line[], string]>([
    ['in place of the true one', [forged.page, forged.entries, forged.event], 'no signed page has it'],
    ['before the true one', [forged.page, page, forged.entries, forged.event], 'no signed page has it'],
    ['after the true one', [page, forged.page, forged.entries, forged.event], 'no signed page has it'],
    ['by its entries alone', [page, forged.entries, forged.event], 'no signed page has it'],
    ['by entries beside the true ones', [page, entries, forged.entries, forged.event], 'it is not what its page says'],
    ['by its event alone', [page, entries, forged.event], 'it is not what its page says'],
  ])('is found %s', async (_, others, problem) => {
    const rest = lines.filter((line) => ![page, entries, event].includes(line))
    // A page that is not signed does not lead to the one before it either.
    expect(await found([...rest.slice(0, -1), ...others, rest.at(-1)!])).toContainEqual(`event users-3: ${problem}`)
  })

  test('under another number proves no event', async () => {
    const other = { ...forged.page, header: canonicalJson({ ...header, page: 7 }) }
    const framed = { ...forged.event, proof: { ...forged.event.proof, page: 7 } }
    expect(await found([...replaced(event, other, forged.entries, framed)])).toEqual([
      'event users-3: no signed page has it',
    ])
  })
})

describe('a checkpoint', () => {
  const { pages } = chain('users')
  const withLater = (...more: Line[]) => [...lines.slice(0, -1), ...more, lines.at(-1)!]

  test('of another epoch, or of another page of the same number, is found', async () => {
    const anew = chain('users', { ...beginning, epoch: 2, page: 3, hash: pages[2]!.hash })
    const later = signed(checkpointOf(anew.pages[2]!, 3))
    expect(await found(withLater(...pageLines(anew), later))).toContainEqual('page 4: it is of another epoch')
    const fork = chain('users', { ...beginning, hash: 'x' })
    const other = signed(checkpointOf(fork.pages[2]!, 3))
    expect(await found(withLater(...pageLines(fork), other))).toContainEqual('page 3: two of this number are signed')
  })
})

describe('a service', () => {
  const stranger = 'a checkpoint: its signature is not that of a given key'

  test('signs nothing for another one, whichever file of keys is given', async () => {
    const grants = chain('grants')
    const forged = exportOf(grants)
    const both = await found(forged)
    expect(both.filter((line) => line === stranger).length).toBe(2)
    const kept = Object.entries(keys).map(([service, { key }]) => JSON.stringify({ kind: 'key', service, key }))
    expect(await found(forged, kept.join('\n'))).toEqual(both)
    const own = forged.map((line) =>
      line['kind'] === 'checkpoint' ? signed(grants.checkpoints[Number(line === forged[8])]!, keys.grants) : line,
    )
    expect(await found(own)).toEqual([])
  })

  test('has its own pages alone', async () => {
    const some = lines.map((line) => (line['kind'] === 'page' ? { ...line, service: 'grants' } : line))
    expect(await found(some)).toContainEqual('event users-1: no signed page has it')
    expect(await found(changedLine(of('event')[0]!, { service: 'grants' }))).toContainEqual(
      'event grants-1: no signed page has it',
    )
  })

  test.each(['{"keys":[]}', 'null', '{"keys":[{"service":"users"}]}', '{"keys":[{"kid":"k","x":"x"}]}'])(
    'has no key in the set %s, which is refused',
    async (text) => {
      await expect(found(lines, text)).rejects.toThrow(/no public key|a public key is none|names no service/)
    },
  )
})
