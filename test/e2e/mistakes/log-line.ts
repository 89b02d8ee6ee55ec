import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { expect, inject } from 'vitest'

/** A request, by the id that its page, its answer and its log line have. */
export interface WatchedRequest {
  /** To send along. */
  headers: { 'x-request-id': string }
  requestId: string
  /** What a service logged of it: all lines but those that the gateway writes of each call. */
  logged(): Promise<Record<string, unknown>[]>
  /** All lines, once there is the one that the gateway writes at the end of a call. */
  ended(): Promise<Record<string, unknown>[]>
}

/** Begins to watch the log for one request. */
export function watchRequest(): WatchedRequest {
  const { logFile } = inject('roster').house!
  const requestId = randomUUID()
  const from = sizeOf(logFile)
  const read = () =>
    textFrom(logFile, from)
      .split('\n')
      .filter((line) => line.includes(requestId))
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  return {
    headers: { 'x-request-id': requestId },
    requestId,
    async logged() {
      await expect.poll(() => read().filter(({ msg }) => msg !== 'call')).not.toEqual([])
      return read().filter(({ msg }) => msg !== 'call')
    },
    async ended() {
      await expect.poll(() => read().filter(({ msg }) => msg === 'call')).not.toEqual([])
      return read()
    },
  }
}

function sizeOf(path: string): number {
  const file = openSync(path, 'r')
  const { size } = fstatSync(file)
  closeSync(file)
  return size
}

function textFrom(path: string, from: number): string {
  const file = openSync(path, 'r')
  const bytes = Buffer.alloc(fstatSync(file).size - from)
  readSync(file, bytes, 0, bytes.length, from)
  closeSync(file)
  return bytes.toString()
}
