import { hash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { canonicalJson } from '#lib/eventstore/audit/canonical-row'
import { makePage } from '#lib/eventstore/audit/page'
import { beginning, chain, changedLine, checkpointOf, exportOf, found, lines, of, replaced, row, salt, type Told } from './testing/true-export.ts' // prettier-ignore

// Forged pages and entries.

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
