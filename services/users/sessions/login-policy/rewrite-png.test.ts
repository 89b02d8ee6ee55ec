import { expect, test } from 'vitest'
import type { RosterError } from '#lib/errors'
import { type Drawn, drawPng } from '#test/support/browsers/png'
import { NoLogo, rewritePng } from './rewrite-png.ts'

const palette: [string, Buffer] = ['PLTE', Buffer.from([255, 0, 0, 0, 0, 255])]
const rows = (bytes: number, count = 8) => Buffer.alloc((bytes + 1) * count)
const tRNS = (bytes: number): [string, Buffer] => ['tRNS', Buffer.alloc(bytes)]

const whole: [string, Drawn][] = [
  ['grey', {}],
  ['of one bit', { width: 9, depth: 1, pixels: rows(2) }],
  ['of deep colours, one of them transparent', { depth: 16, colorType: 2, pixels: rows(48), before: [tRNS(6)] }],
  ['with a palette, and what is transparent', { colorType: 3, before: [palette, tRNS(1)] }],
  ['with transparency', { colorType: 6, pixels: rows(32) }],
  ['of the most pixels', { width: 1024, height: 1024, pixels: rows(1024, 1024) }],
]

test.each(whole)('a logo %s is written anew, once', async (_, drawn) => {
  const file = drawPng(drawn)
  const written = await rewritePng(file)
  expect(written.subarray(0, 33).equals(file.subarray(0, 33))).toBe(true)
  expect(await rewritePng(written)).toEqual(written)
})

test('nothing but its pixels is left of a file that is something else, too', async () => {
  const script = Buffer.from('<script>alert(1)</script>')
  const drawn: Drawn = {
    before: [
      ['tEXt', script],
      ['tEXt', script],
      ['eXIf', script],
      ['iCCP', script],
    ],
    after: [
      ['zTXt', script],
      ['fdAT', script],
    ],
  }
  const file = Buffer.concat([drawPng(drawn), Buffer.from('PK\x03\x04<html><script>alert(1)</script>')])
  expect(await rewritePng(file)).toEqual(await rewritePng(drawPng()))
  // A palette only suggests something to a picture that names its colours itself.
  const suggested = drawPng({ colorType: 2, pixels: rows(24), before: [['PLTE', script.subarray(0, 24)]] })
  expect((await rewritePng(suggested)).includes('PLTE')).toBe(false)
})

const flipped = (file: Buffer, at: number) => {
  const copy = Buffer.from(file)
  copy[at]! ^= 1
  return copy
}
const hostile: [string, Buffer, string][] = [
  ['nothing of a PNG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'must be a PNG'],
  ['a signature alone', drawPng().subarray(0, 8), 'whole'],
  ['half of a file', drawPng().subarray(0, 50), 'whole'],
  ['no end', drawPng().subarray(0, -12), 'whole'],
  ['a chunk that is longer than the file', flipped(drawPng(), 33), 'whole'],
  ['a wrong checksum', flipped(drawPng(), 20), 'checksums'],
  ['a bomb', drawPng({ pixels: Buffer.alloc(5_000_000) }), 'as many pixels'],
  ['too few pixels', drawPng({ pixels: rows(8, 7) }), 'as many pixels'],
  ['no pixels', drawPng({ pixels: Buffer.alloc(0) }), 'as many pixels'],
  ['a filter that there is none of', drawPng({ pixels: Buffer.alloc(72, 5) }), 'as many pixels'],
  ['2,147,483,647 pixels on a side', drawPng({ width: 0x7fffffff, pixels: rows(1) }), '1024 pixels'],
  ['more pixels than may be', drawPng({ height: 1025, pixels: rows(8, 1025) }), '1024 pixels'],
  ['no width', drawPng({ width: 0 }), '1024 pixels'],
  ['rows in another order', drawPng({ interlaced: 1 }), 'interlaced'],
  ['a colour type that there is none of', drawPng({ colorType: 5 }), 'colour type'],
  ['a depth that its colours do not have', drawPng({ colorType: 2, depth: 4 }), 'colour type'],
  ['no palette', drawPng({ colorType: 3 }), 'palette'],
  ['half a colour', drawPng({ colorType: 3, before: [['PLTE', Buffer.alloc(4)]] }), 'palette'],
  ['too large a palette', drawPng({ colorType: 3, before: [['PLTE', Buffer.alloc(771)]] }), 'palette'],
  ['two palettes', drawPng({ colorType: 3, before: [palette, palette] }), '"PLTE"'],
  ['two headers', drawPng({ before: [['IHDR', Buffer.alloc(13)]] }), '"IHDR"'],
  ['a part that has to be known', drawPng({ before: [['EVIL', Buffer.alloc(13)]] }), '"EVIL"'],
  ['transparency twice over', drawPng({ colorType: 6, pixels: rows(32), before: [tRNS(2)] }), 'transparency'],
  ['more that is transparent than colours', drawPng({ colorType: 3, before: [palette, tRNS(3)] }), 'transparency'],
  ['too many bytes', Buffer.concat([drawPng(), Buffer.alloc(65_536)]), '65536 bytes'],
]

test.each(hostile)('a file with %s is no logo', async (_, file, reason) => {
  const error: unknown = await rewritePng(file).catch((error: unknown) => error)
  expect(error).toBeInstanceOf(NoLogo)
  expect((error as NoLogo).message).toContain(reason)
})

test('a file of any bytes is a logo or none, and never a fault', async () => {
  const file = drawPng({ before: [['tEXt', Buffer.from('a')]] })
  for (let at = 0; at < file.length; at++)
    for (const damaged of [flipped(file, at), file.subarray(0, at)])
      await rewritePng(damaged).catch((error: unknown) => expect(error).toBeInstanceOf(NoLogo))
})

test('of many at once an organization has one written at a time, and waits behind another one', async () => {
  const file = drawPng({ width: 1024, height: 1024, depth: 16, colorType: 6, pixels: rows(8192, 1024) })
  const ended: string[] = []
  const send = (lane: string) =>
    rewritePng(file, { lane }).then(
      () => ended.push(lane),
      ({ reason }: RosterError) => ended.push(reason),
    )
  const all = Array.from({ length: 40 }, () => send('many'))
  await Promise.all([...all, send('one')])
  const count = (how: string) => ended.filter((one) => one === how).length
  expect([count('many'), count('LOGOS_THROTTLED'), count('one')]).toEqual([20, 20, 1])
  expect(ended.filter((how) => how !== 'LOGOS_THROTTLED').indexOf('one')).toBeLessThan(3)
})
