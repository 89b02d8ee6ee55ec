import { crc32, deflateSync } from 'node:zlib'

/** What a PNG of a test is like, beside eight by eight grey pixels. */
export interface Drawn {
  width?: number
  height?: number
  depth?: number
  colorType?: number
  interlaced?: number
  /** Rows with their filters, unpacked. */
  pixels?: Buffer
  /** Before the pixels, and after them. */
  before?: [string, Buffer][]
  after?: [string, Buffer][]
}

/** A PNG, with whatever a test wants in it. */
export function drawPng(drawn: Drawn = {}): Buffer {
  const { width = 8, height = 8, depth = 8, colorType = 0, interlaced = 0, before = [], after = [] } = drawn
  const { pixels = Buffer.alloc((width + 1) * height) } = drawn
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width)
  header.writeUInt32BE(height, 4)
  header.set([depth, colorType, 0, 0, interlaced], 8)
  const parts: [string, Buffer][] = [
    ['IHDR', header],
    ...before,
    ['IDAT', deflateSync(pixels)],
    ...after,
    ['IEND', Buffer.alloc(0)],
  ]
  return Buffer.concat([signature, ...parts.map(([type, data]) => chunk(type, data))])
}

const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, sum])
}
