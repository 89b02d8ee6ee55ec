/** A page, and the number of all objects that its list has; 0 where it is unknown. */
export interface Page<Item> {
  items: Item[]
  total: number
}

/**
 * Reads a list page by page. A list need not end by itself: throws an Error after `most` objects, and where a page comes
 * a second time.
 */
export async function* pagesOf<Item extends object>(
  read: (offset: number) => Promise<Page<Item>>,
  most: number,
): AsyncGenerator<Item[]> {
  let before = ''
  for (let offset = 0; ;) {
    const { items, total } = await read(offset)
    if (items.length === 0) return
    const page = nameOf(items)
    if (page === before) throw new Error('ZITADEL gives the same page again and again.')
    before = page
    offset += items.length
    if (offset > most) throw new Error(`A list of ZITADEL has more than ${most} objects: raise --most.`)
    yield items
    if (total > 0 && offset >= total) return
  }
}

function nameOf(items: object[]): string {
  return JSON.stringify([items[0], items.at(-1)], (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  )
}
