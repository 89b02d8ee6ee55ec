import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { majorVersion, npmBinaries } from '../../deploy/local/servers/postgres-binaries.ts'
import { type Running, startRunning } from '../faults/running.ts'
import { throughOutage } from './through-outage.ts'

const postgres = `postgres-${majorVersion(npmBinaries()!)}`
const mebibytes = { [postgres]: 512, nats: 128, redis: 64 }
const isRoot = process.getuid?.() === 0
const fullFor = 10_000

describe.skipIf(!isRoot)(`a disk that is full${isRoot ? '' : ' (skipped: it needs root)'}`, () => {
  let home: string
  let running: Running

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'roster-full-'))
    chmodSync(home, 0o711)
    for (const [place, size] of Object.entries(mebibytes)) {
      mkdirSync(join(home, place))
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}m`, 'tmpfs', join(home, place)])
    }
    running = await startRunning({}, { dataDir: home, ephemeral: false })
  })
  afterAll(async () => {
    await running?.stop()
    for (const place of Object.keys(mebibytes)) spawnSync('umount', [join(home, place)])
    if (home) rmSync(home, { recursive: true })
  })

  /** Fills the disk to the last byte, and gives the function that makes room again. */
  function fill(place: string): () => void {
    const ballast = join(home, place, 'ballast')
    spawnSync('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=64k'])
    return () => rmSync(ballast)
  }

  test.each([
    ['postgres', postgres],
    ['nats', 'nats'],
    ['redis', 'redis'],
  ] as const)('of %s loses nothing, and all goes on once there is room', async (name, place) => {
    const seed = name.length
    let ended = false
    const outcome = await throughOutage(running, seed, async () => {
      const empty = fill(place)
      await sleep(fullFor)
      empty()
      ended = running.servers[name]!.pid === undefined
      // nats-server 2.9.10 hangs from then on. Others may have ended, and a supervisor starts them.
      if (name === 'nats') await running.servers.nats!.restart()
      else await running.servers[name]!.start()
    })
    console.log(name, ended ? 'ended by itself' : 'went on', JSON.stringify(outcome))
    expect([...outcome.violations, ...outcome.missed]).toEqual([])
  })
})
