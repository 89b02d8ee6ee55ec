import { createPrivateKey } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeAuditKey } from '#lib/eventstore/audit/checkpoint'
import { receiptType, signNow } from '../../../services/users/oauth/sign-now.ts'
import { receipt, verifyReceipt } from './receipt.ts'

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

test('a receipt in another spelling is not the one that was made', async () => {
  const { key, secret } = makeAuditKey()
  const keys = JSON.stringify({ keys: [key] })
  const header = { alg: 'EdDSA', kid: key.kid, typ: receiptType }
  const text = signNow(header, { removal: { userId: 'user' } }, createPrivateKey(secret))
  expect(await verifyReceipt(`${text}\n`, keys)).toEqual({ removal: { userId: 'user' } })
  // The last letter of 64 bytes has four bits that no byte has, and 0 in them.
  const otherBits = text.slice(0, -1) + { A: 'B', Q: 'R', g: 'h', w: 'x' }[text.at(-1)!]!
  const [head, body, signature] = text.split('.')
  for (const spelling of [
    `${text}=`,
    `${text}==`,
    otherBits,
    `${head}.${body}=.${signature}`,
    `${head}.${body}.\n${signature}`,
  ])
    expect(await verifyReceipt(spelling, keys), JSON.stringify(spelling)).toBeUndefined()
})
