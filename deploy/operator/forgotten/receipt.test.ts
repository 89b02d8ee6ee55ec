import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { receipt } from './receipt.ts'

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roster-receipt-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test.each(['receipt', 'keys'])('a %s that is larger than any is refused, and not read to its end', async (large) => {
  const files = ['receipt', 'keys'].map((name) => join(folder, name))
  await writeFile(files[0]!, 'x.y.z')
  await writeFile(files[1]!, '{"keys":[]}')
  const file = join(folder, large)
  await writeFile(file, `${large === 'keys' ? '{"keys":[]}' : 'x.y.z'}${' '.repeat(2 ** 20)}`)
  const output = { isJson: true, json: async () => {} }
  await expect(receipt.run({ output, args: files } as never)).rejects.toThrow(
    `${file}: it is larger than any such file.`,
  )
})
