import type { Migration } from '../ours.ts'
import type { Kind } from '../report.ts'
import { type Bulk, sendBulk } from '../roster/send-bulk.ts'

/** An object to add by a bulk operation. */
export interface Item {
  id: string
  request: object
}

/** An object of Roster with the id of an item. `why`: it is another one. */
export interface Found {
  why?: string
  /** As Roster shows it. */
  state?: string
}

interface How<One extends Item> {
  kind: Kind
  bulk: Bulk
  organization: string
  /** Finds what Roster has. `again`: the item may have come a moment ago. */
  look(items: One[], again: boolean): Promise<Map<string, Found>>
}

/**
 * Adds those items that Roster does not have, and reports on all. Returns the items that Roster has afterwards, each
 * with what was found before. In a dry run nothing is added.
 */
export async function movePage<One extends Item>(
  { target, report, dry }: Migration,
  { kind, bulk, organization, look }: How<One>,
  items: One[],
): Promise<{ item: One; before: Found | undefined }[]> {
  const found = await look(items, false)
  const missing = items.filter(({ id }) => !found.has(id))
  const there = items.filter((item) => found.has(item.id) && isOurs(item, found.get(item.id)!))
  report.there(kind, there.length)
  if (dry) report.moved(kind, missing.length)
  const moved = dry ? missing : await add()
  return [
    ...there.map((item) => ({ item, before: found.get(item.id) })),
    ...moved.map((item) => ({ item, before: undefined })),
  ]

  async function add(): Promise<One[]> {
    if (missing.length === 0) return []
    const requests = missing.map(({ request }) => request)
    const whys = await sendBulk(target, bulk, requests, organization)
    const added = missing.filter((_, index) => whys[index] === undefined)
    report.moved(kind, added.length)
    // The id may be that of another item of ZITADEL, or another run was faster.
    const taken = missing.filter((_, index) => /_ID_TAKEN: /.test(whys[index] ?? ''))
    const late = taken.length > 0 ? await look(taken, true) : new Map<string, Found>()
    for (const [index, item] of missing.entries()) {
      const [why, other] = [whys[index], late.get(item.id)]
      if (why === undefined) continue
      if (!taken.includes(item) || !other) report.refused(kind, item.id, why)
      else if (isOurs(item, other)) {
        report.there(kind)
        added.push(item)
      }
    }
    return added
  }

  function isOurs({ id }: One, { why }: Found): boolean {
    if (why !== undefined) report.refused(kind, id, why)
    return why === undefined
  }
}
