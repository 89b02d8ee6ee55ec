import { type Answer, Refusal, type Target, whyOf } from './target.ts'

/** A bulk operation: where it is, and the field of its items. */
export interface Bulk {
  path: string
  field: string
}

const mostItems = 500
const mostBytes = 700_000
const mostValues = 15_000

/**
 * Sends items in as many bulks as their size needs. Returns for each why it was refused; undefined for an item that was
 * done.
 */
export async function sendBulk(
  target: Target,
  { path, field }: Bulk,
  items: object[],
  organization: string,
): Promise<(string | undefined)[]> {
  const why: (string | undefined)[] = []
  for (const places of chunksOf(items)) {
    let open = places
    while (open.length > 0) {
      try {
        const request = { [field]: open.map((place) => items[place]) }
        const { results } = (await target.ask('POST', path, request, organization)) as { results: Answer[] }
        for (const [index, { error }] of results.entries()) if (error) why[open[index]!] = whyOf(new Refusal(error))
        break
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        open = leaveFaulty(open, error, field, why)
      }
    }
  }
  return items.map((_, place) => why[place])
}

// One item with a fault makes Roster refuse the whole bulk, and name the item. Any other error is of all items.
function leaveFaulty(open: number[], refusal: Refusal, field: string, why: (string | undefined)[]): number[] {
  const faulty = new Map<number, string>()
  for (const { field: path, description } of refusal.faults) {
    const [start, index] = /^(\w+)\[(\d+)\]/.exec(path)?.slice(1) ?? []
    if (start === field) faulty.set(Number(index), `${refusal.reason}: ${path} ${description}`)
  }
  for (const [index, place] of open.entries())
    if (faulty.size === 0 || faulty.has(index)) why[place] = faulty.get(index) ?? whyOf(refusal)
  return faulty.size === 0 ? [] : open.filter((_, index) => !faulty.has(index))
}

function chunksOf(items: object[]): number[][] {
  const chunks: number[][] = []
  let [bytes, values] = [Infinity, Infinity]
  for (const [place, item] of items.entries()) {
    const text = JSON.stringify(item)
    const size = Buffer.byteLength(text)
    // Each value but the first of a list or a message stands behind one of these.
    const count = text.split(/[,:]/).length
    const isFull = bytes + size > mostBytes || values + count > mostValues || chunks.at(-1)!.length === mostItems
    if (isFull) {
      chunks.push([])
      bytes = values = 0
    }
    chunks.at(-1)!.push(place)
    bytes += size
    values += count
  }
  return chunks
}
