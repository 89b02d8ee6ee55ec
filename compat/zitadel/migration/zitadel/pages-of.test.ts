import { expect, test } from 'vitest'
import { pagesOf } from './pages-of.ts'

const list = Array.from({ length: 25 }, (_, n) => ({ id: n }))

async function read(page: (offset: number) => { items: object[]; total: number }, most = 1000): Promise<object[]> {
  const found: object[] = []
  for await (const items of pagesOf(async (offset) => page(offset), most)) found.push(...items)
  return found
}

test.each([25, 0])('every object of a list comes once, whatever it says of its length (%d)', async (total) => {
  expect(await read((offset) => ({ items: list.slice(offset, offset + 10), total }))).toEqual(list)
})

test('a page may be shorter than was asked for', async () => {
  expect(await read((offset) => ({ items: list.slice(offset, offset + 3), total: 25 }))).toEqual(list)
})

test('a list that ignores the offset ends with an error', async () => {
  await expect(read(() => ({ items: list, total: 1000 }))).rejects.toThrow('the same page again')
})

test('a list without an end ends with an error at the limit', async () => {
  const endless = (offset: number) => ({ items: [{ id: offset }], total: 2 ** 40 })
  await expect(read(endless, 50)).rejects.toThrow('more than 50 objects')
})
