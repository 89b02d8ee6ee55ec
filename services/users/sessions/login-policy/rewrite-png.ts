import { promisify } from 'node:util'
import { crc32, deflate, inflate } from 'node:zlib'
import { RosterError } from '#lib/errors'
import { createFairSemaphore, type Place } from '#lib/fair-semaphore'

/** What is wrong with a file. */
export class NoLogo extends Error {}

const mostBytes = 65_536
const mostPixels = 1024

// Each takes up to 16 MB, and one of the four threads that passwords need, too.
const through = createFairSemaphore(
  { atOnce: 1, waiting: 20 },
  () => new RosterError('RESOURCE_EXHAUSTED', 'LOGOS_THROTTLED', 'Too many logos are waiting.', { retryAfter: 5 }),
)

/**
 * Rewrites a PNG: only its size, its pixels, its palette and what is transparent, so nothing else of the file is ever
 * served (PNG, third edition, W3C). What was written so stays the same. Throws NoLogo, and as the semaphore does.
 */
export async function rewritePng(file: Buffer, place: Place = { lane: '' }): Promise<Buffer> {
  checkSize(file)
  return through(place, () => rewrite(file))
}

async function rewrite(file: Buffer): Promise<Buffer> {
  const parts = readChunks(file)
  const header = readHeader(parts.get('IHDR')!)
  const palette = readPalette(header, parts)
  const pixels = await readPixels(header, parts.get('IDAT') ?? Buffer.alloc(0))
  const written = Buffer.concat([
    signature,
    chunk('IHDR', parts.get('IHDR')!),
    ...palette.map(([type, data]) => chunk(type, data)),
    chunk('IDAT', await promisify(deflate)(pixels)),
    chunk('IEND', Buffer.alloc(0)),
  ])
  // Who sends back what was written is not refused.
  checkSize(written)
  return written
}

function checkSize({ length }: Buffer) {
  if (length > mostBytes) throw new NoLogo(`must have at most ${mostBytes} bytes, also written anew`)
}

const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
const known = ['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND']

// By type; those with pixels as one. Whatever else may be left out is, and so is all that comes after the end.
function readChunks(file: Buffer): Map<string, Buffer> {
  if (!file.subarray(0, signature.length).equals(signature)) throw new NoLogo('must be a PNG')
  const parts = new Map<string, Buffer>()
  const pixels: Buffer[] = []
  for (let at = signature.length; !parts.has('IEND');) {
    const length = at + 12 <= file.length ? file.readUInt32BE(at) : file.length
    const end = at + 12 + length
    if (end > file.length) throw new NoLogo('must be a whole PNG')
    const type = file.toString('latin1', at + 4, at + 8)
    if (file.readUInt32BE(end - 4) !== crc32(file.subarray(at + 4, end - 4)))
      throw new NoLogo('must have right checksums')
    const data = file.subarray(at + 8, end - 4)
    const isMisplaced = (type === 'IHDR') !== (at === signature.length) || parts.has(type)
    const isUnknown = /^[A-Z]/.test(type) && !known.includes(type)
    if (isMisplaced || isUnknown) throw new NoLogo(`must have no ${JSON.stringify(type)} there`)
    if (type === 'IDAT') pixels.push(data)
    else if (known.includes(type)) parts.set(type, data)
    at = end
  }
  return parts.set('IDAT', Buffer.concat(pixels))
}

interface Header {
  width: number
  height: number
  depth: number
  colorType: number
}

// Samples of a pixel, and bits that a sample may have, by colour type.
const colorTypes: Record<number, { samples: number; depths: number[] }> = {
  0: { samples: 1, depths: [1, 2, 4, 8, 16] },
  2: { samples: 3, depths: [8, 16] },
  3: { samples: 1, depths: [1, 2, 4, 8] },
  4: { samples: 2, depths: [8, 16] },
  6: { samples: 4, depths: [8, 16] },
}

function readHeader(data: Buffer): Header {
  if (data.length !== 13) throw new NoLogo('must have a header of 13 bytes')
  const [width, height] = [data.readUInt32BE(0), data.readUInt32BE(4)]
  const [depth, colorType, ...methods] = [...data.subarray(8)] as [number, number, ...number[]]
  if (![width, height].every((side) => side >= 1 && side <= mostPixels))
    throw new NoLogo(`must have 1 to ${mostPixels} pixels on each side`)
  if (!colorTypes[colorType]?.depths.includes(depth)) throw new NoLogo('must have a colour type and a depth of PNG')
  if (methods.some((method) => method !== 0)) throw new NoLogo('must not be interlaced')
  return { width, height, depth, colorType }
}

// What colours and transparency need, in the order of a file.
function readPalette({ colorType, depth }: Header, parts: Map<string, Buffer>): [string, Buffer][] {
  const [palette, transparency] = [parts.get('PLTE'), parts.get('tRNS')]
  const colors = (palette?.length ?? 0) / 3
  if (colorType === 3 && !(Number.isInteger(colors) && colors >= 1 && colors <= 2 ** depth))
    throw new NoLogo('must have a palette that fits')
  const length = transparency?.length
  const fits = colorType === 3 ? length! >= 1 && length! <= colors : length === { 0: 2, 2: 6 }[colorType as 0 | 2]
  if (transparency && !fits) throw new NoLogo('must have a transparency that fits')
  // In other types the palette only suggests something.
  return [
    ...(colorType === 3 ? [['PLTE', palette!] as [string, Buffer]] : []),
    ...(transparency ? [['tRNS', transparency] as [string, Buffer]] : []),
  ]
}

// Rows with the number of their filter before them. No more is unpacked than they have.
async function readPixels({ width, height, depth, colorType }: Header, packed: Buffer): Promise<Buffer> {
  const row = 1 + Math.ceil((width * depth * colorTypes[colorType]!.samples) / 8)
  const rows = await promisify(inflate)(packed, { maxOutputLength: row * height }).catch(() => undefined)
  const filters = Array.from({ length: height }, (_, at) => rows?.[at * row])
  if (rows?.length !== row * height || filters.some((filter) => filter! > 4))
    throw new NoLogo('must have as many pixels as it says')
  return rows
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, sum])
}
