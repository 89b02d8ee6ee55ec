// A disk with a cache that loses its content without power: node volatile-disk.ts PLATTERS MOUNTPOINT SEED
//
// It is a file system of FUSE that is a single file, the disk. A block that was written stays in memory until a flush
// brings it to the file PLATTERS. A disk may bring some of them there earlier and in any order: here about half of them,
// as the seed decides. To kill this process is to cut the power: what it wrote to PLATTERS stays.
import { spawn } from 'node:child_process'
import { openSync, read, readSync, fstatSync, writeSync } from 'node:fs'
import { seeded } from '../faults/random.ts'
import {
  answer,
  attributes,
  failure,
  flushes,
  opened,
  readRequest,
  type Request,
  started,
  statistics,
  written,
} from './fuse.ts'

const [, , platters = '', mountpoint = '', seed = '0'] = process.argv
const block = 4096
const disk = openSync(platters, 'r+')
const { size } = fstatSync(disk)
const random = seeded(Number(seed), 'disk')
/** What the platters do not have yet, by block. */
const cache = new Map<number, Buffer>()

const device = openSync('/dev/fuse', 'r+')
const options = 'fd=3,rootmode=100000,user_id=0,group_id=0,allow_other'
const mounted = spawn('mount', ['-i', '-t', 'fuse', '-o', options, 'disk', mountpoint], {
  stdio: ['ignore', 'inherit', 'inherit', device],
})
mounted.on('exit', (code) => (code === 0 ? console.log('there') : process.exit(1)))
listen(Buffer.alloc(2 ** 20 + block))

function listen(buffer: Buffer): void {
  read(device, buffer, 0, buffer.length, null, (error, length) => {
    // Nothing is mounted any more.
    if (error?.code === 'ENODEV') process.exit(0)
    if (!error) {
      const request = readRequest(buffer.subarray(0, length))
      const reply = answer(request, handle(request))
      if (reply) writeSync(device, reply)
    }
    listen(buffer)
  })
}

function handle(request: Request): Buffer | number {
  const { operation, offset, length, data } = request
  if (operation === 'init') return started()
  if (operation === 'getattr') return attributes(size)
  if (operation === 'open') return opened()
  if (operation === 'statfs') return statistics()
  if (operation === 'read') return load(offset, Math.min(length, size - offset))
  if (operation === 'write') {
    store(offset, data)
    return written(data.length)
  }
  if (flushes.includes(operation)) {
    flush()
    return 0
  }
  return operation === 'release' ? 0 : failure
}

function load(offset: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  readSync(disk, bytes, 0, length, offset)
  for (let at = offset - (offset % block); at < offset + length; at += block)
    cache
      .get(at)
      ?.copy(bytes, Math.max(0, at - offset), Math.max(0, offset - at), Math.min(block, offset + length - at))
  return bytes
}

function store(offset: number, data: Buffer): void {
  for (let at = offset - (offset % block); at < offset + data.length; at += block) {
    const whole = load(at, block)
    data.copy(whole, Math.max(0, offset - at), Math.max(0, at - offset), at + block - offset)
    if (random.next() < 0.5) cache.set(at, whole)
    else {
      cache.delete(at)
      writeSync(disk, whole, 0, block, at)
    }
  }
}

function flush(): void {
  for (const [at, bytes] of cache) writeSync(disk, bytes, 0, block, at)
  cache.clear()
}
