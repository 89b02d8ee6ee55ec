// The part of FUSE's protocol (linux/fuse.h, 7.31) that a file system of a single file needs.

export interface Request {
  id: bigint
  operation: string
  offset: number
  length: number
  data: Buffer
}

const operations: Record<number, string> = {
  2: 'forget',
  3: 'getattr',
  14: 'open',
  15: 'read',
  16: 'write',
  17: 'statfs',
  18: 'release',
  20: 'fsync',
  26: 'init',
  36: 'interrupt',
  42: 'forget',
}

/** ENOSYS */
export const failure = -38
/** Only this brings bytes to the platters. To close a file does not. */
export const flushes = ['fsync']

const head = 40

/** Reads what the kernel asks. */
export function readRequest(bytes: Buffer): Request {
  const operation = operations[bytes.readUInt32LE(4)] ?? 'unknown'
  const isTransfer = operation === 'read' || operation === 'write'
  return {
    id: bytes.readBigUInt64LE(8),
    operation,
    offset: isTransfer ? Number(bytes.readBigUInt64LE(head + 8)) : 0,
    length: isTransfer ? bytes.readUInt32LE(head + 16) : 0,
    data: operation === 'write' ? bytes.subarray(head + 40) : Buffer.alloc(0),
  }
}

/** Writes the answer: its content, or a number that is 0 or an error. Undefined where the kernel wants none. */
export function answer({ id, operation }: Request, result: Buffer | number): Buffer | undefined {
  if (operation === 'forget' || operation === 'interrupt') return undefined
  const content = typeof result === 'number' ? Buffer.alloc(0) : result
  const answered = Buffer.alloc(16)
  answered.writeUInt32LE(16 + content.length, 0)
  answered.writeInt32LE(typeof result === 'number' ? result : 0, 4)
  answered.writeBigUInt64LE(id, 8)
  return Buffer.concat([answered, content])
}

/** The answer to the first request: the version, and that a write may have a mebibyte. */
export function started(): Buffer {
  const bytes = Buffer.alloc(64)
  bytes.writeUInt32LE(7, 0)
  bytes.writeUInt32LE(31, 4)
  // FUSE_MAX_PAGES
  bytes.writeUInt32LE(1 << 22, 12)
  bytes.writeUInt32LE(2 ** 20, 20)
  bytes.writeUInt16LE(256, 28)
  return bytes
}

/** The one file, which is of this size and root's. */
export function attributes(size: number): Buffer {
  const bytes = Buffer.alloc(16 + 88)
  bytes.writeBigUInt64LE(1n, 16)
  bytes.writeBigUInt64LE(BigInt(size), 24)
  bytes.writeUInt32LE(0o100600, 16 + 60)
  bytes.writeUInt32LE(1, 16 + 64)
  return bytes
}

/** The kernel itself shall keep nothing of the file (FOPEN_DIRECT_IO). */
export function opened(): Buffer {
  const bytes = Buffer.alloc(16)
  bytes.writeUInt32LE(1, 8)
  return bytes
}

export const statistics = () => Buffer.alloc(80)

export function written(length: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt32LE(length, 0)
  return bytes
}
