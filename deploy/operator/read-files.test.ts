import { mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { linesOf, readSmall } from './read-files.ts'
import { Refusal } from './refusal.ts'

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roster-files-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function fileOf(content: string | Buffer): Promise<string> {
  const file = join(folder, 'file')
  await writeFile(file, content)
  return file
}

test.each([
  ['', []],
  ['one', ['one']],
  ['one\n', ['one']],
  ['one\n\ntwo', ['one', '', 'two']],
  ['\u2028\r\n\u{FEFF}é', ['\u2028\r', '\u{FEFF}é']],
  ['123456\n1234567\n7654321', ['123456', undefined, undefined]],
])('the lines of %j', async (content, lines) => {
  expect([...linesOf(await fileOf(content), 6)]).toEqual(lines)
})

test('a line goes on over portions, and letters, too', async () => {
  const long = 'aé€😀'.repeat(50_000)
  expect([...linesOf(await fileOf(`${long}\nb`), 1_000_000)]).toEqual([long, 'b'])
})

test('a line that is larger than any text takes no memory', async () => {
  const file = join(folder, 'endless')
  const opened = await open(file, 'w')
  await opened.write('first\n', 0)
  await opened.write('\nlast', 2 ** 29)
  await opened.close()
  expect([...linesOf(file, 1000)]).toEqual(['first', undefined, 'last'])
  expect(() => readSmall(file, 1000)).toThrow(`${file}: it is larger than any such file.`)
  await rm(file)
})

test('a file that is none, or no UTF-8, is refused', async () => {
  expect(() => [...linesOf(join(folder, 'none'), 6)]).toThrow(Refusal)
  const file = await fileOf(Buffer.from([0x61, 0xff]))
  expect(() => [...linesOf(file, 6)]).toThrow(Refusal)
  expect(() => readSmall(file, 6)).toThrow(Refusal)
  expect(readSmall(await fileOf('123456'), 6)).toBe('123456')
})
