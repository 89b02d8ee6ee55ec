import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { offered } from '#lib/rpc/methods'
import { createUnderWay } from '../rate-limits/under-way.ts'
import { compress, frameAnswer, inflate, mayCompress, compressions } from './compression.ts'

const reads = offered.filter((method) => mayCompress(method, 'gzip'))

test('only answers to reads may be compressed', () => {
  expect(reads.length).toBeGreaterThan(20)
  expect(reads.every((method) => method.reads)).toBe(true)
})

test('an answer is compressed where it is long, can become smaller, and memory is left', async () => {
  const underWay = createUnderWay({ inAll: 16 * 1024 * 1024, perConnection: 2 * 1024 * 1024 })
  const hold = underWay.open('call', {}, 'a')
  const long = Buffer.alloc(10_000, 'a')
  expect((await compress(long, hold))!.length).toBeLessThan(1_000)
  expect(await compress(long.subarray(0, 1_023), hold)).toBeUndefined()
  expect(await compress(crypto.getRandomValues(new Uint8Array(10_000)), hold)).toBeUndefined()
  expect(await compress(long, undefined)).toBeUndefined()
  hold.add(2 * 1024 * 1024)
  expect(await compress(long, hold)).toBeUndefined()
  expect([...(await frameAnswer(long, true, hold)).subarray(0, 5)]).toEqual([0, 0, 0, 0x27, 0x10])
  hold.end()
})

test('a compression leaves no bytes counted', async () => {
  const underWay = createUnderWay({ inAll: 16 * 1024 * 1024, perConnection: 2 * 1024 * 1024 })
  const hold = underWay.open('call', {}, 'a')
  for (let n = 0; n < 30; n++) expect(await compress(Buffer.alloc(100_000, 'a'), hold)).toBeDefined()
  hold.end()
})

test('a message is inflated up to the limit and no further, and the memory for it counts', async () => {
  const underWay = createUnderWay({ inAll: 16 * 1024 * 1024, perConnection: 2 * 1024 * 1024 })
  const hold = underWay.open('call', {}, 'a')
  const allowance = { bytes: 16 * 1024, patience: 0, hold }
  const framed = (size: number) => ({ message: gzipSync(Buffer.alloc(size)), isCompressed: true })
  expect((await inflate(framed(16 * 1024), 'gzip', compressions.grpc, allowance)).length).toBe(16 * 1024)
  await expect(inflate(framed(16 * 1024 + 1), 'gzip', compressions.grpc, allowance)).rejects.toThrow('more than 16 KiB')
  hold.add(2 * 1024 * 1024)
  await expect(inflate(framed(1), 'gzip', compressions.grpc, allowance)).rejects.toThrow('under way')
  hold.end()
})
