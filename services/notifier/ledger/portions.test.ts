import { expect, test } from 'vitest'
import { Event, type ListedEvent } from '#gen/roster/feed/v1/feed'
import { portions } from './portions.ts'
import type { Receiver } from './webhook-rows.ts'

const place = (position: number) => ({ transactionId: 1, position })
const receivers = Array.from({ length: 150 }, (_, n): Receiver => {
  const common = { all_organizations: false, event_types: [], created_at: new Date(0) }
  return { webhook_id: `w${n}`, organization_id: 'o', ...common }
})

function page(count: number, characters: number): ListedEvent[] {
  return Array.from({ length: count }, (_, n) => ({
    position: place(n + 1),
    event: {
      ...Event.decode(new Uint8Array()),
      id: `e${n}`,
      organizationId: 'o',
      type: 't',
      time: new Date(),
      data: { text: 'x'.repeat(characters) },
    },
  }))
}

test.each([
  ['many small ones', 500, 10],
  ['some large ones', 4, 250_000],
])(
  'a page of events is stored in portions, in order, with nothing left out or doubled: %s',
  (_name, count, characters) => {
    const all = [...portions(page(count, characters), receivers, place(0), place(9999))]
    const rows = all.flatMap(({ wanted }) => wanted)
    expect(rows.map(({ event_id, webhook_id }) => `${event_id} ${webhook_id}`)).toEqual(
      Array.from({ length: count }, (_, n) => receivers.map(({ webhook_id }) => `e${n} ${webhook_id}`)).flat(),
    )
    expect(all.length).toBeGreaterThan(1)
    let seen = 0
    for (const { wanted, until } of all) {
      expect(wanted.length).toBeLessThanOrEqual(2000)
      expect(JSON.stringify(wanted).length).toBeLessThan(6 * 1024 * 1024)
      seen += wanted.length
      // Never behind an event that still has rows to come.
      if (until!.position !== 9999) expect(until!.position * receivers.length).toBeLessThanOrEqual(seen)
    }
    expect(all.at(-1)!.until).toEqual(place(9999))
  },
)

test('a page that asks for no delivery moves on', () => {
  expect([...portions([], receivers, place(0), place(7))]).toEqual([{ wanted: [], mails: [], until: place(7) }])
})

test('an event that was added after a webhook is for it, even if the clock was set back in between', () => {
  const added = new Date('2026-01-01T12:00:00Z')
  const [webhook, ...events] = [{ ...receivers[0]!, created_at: added }, ...page(1, 1)]
  const earlier = new Date('2026-01-01T11:50:00Z')
  events[0]!.event!.time = earlier
  const wantedAfter = (time: Date) => [...portions(events, [webhook], place(0), place(1), time)][0]!.wanted.length
  expect([earlier, added].map(wantedAfter)).toEqual([0, 1])
})
