import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { majorVersion, npmBinaries } from '../../deploy/local/servers/postgres-binaries.ts'
import { killAll } from '../faults/inflict.ts'
import { acknowledged } from '../faults/load.ts'
import { type Running, startRunning } from '../faults/running.ts'
import { canHaveDisks, type Disk, makeDisk, whyNoDisks } from './disk.ts'
import { throughOutage } from './through-outage.ts'

/** Each server has a disk of its own, so that no flush of another one saves its writes. */
const servers = ['postgres', 'nats', 'redis'] as const
type Server = (typeof servers)[number]
const places: Record<Server, string> = {
  postgres: `postgres-${majorVersion(npmBinaries()!)}`,
  nats: 'nats',
  redis: 'redis',
}
const mebibytes = { postgres: 1024, nats: 256, redis: 128 }

describe.skipIf(!canHaveDisks())(`a power cut of the machines of servers${whyNoDisks}`, () => {
  let home: string
  let disks: Record<Server, Disk>
  let running: Running

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'roster-power-'))
    chmodSync(home, 0o711)
    const made = servers.map(async (name, index) => {
      const disk = await makeDisk(join(home, `disk-${name}`), join(home, places[name]), mebibytes[name], index)
      return [name, disk] as const
    })
    disks = Object.fromEntries(await Promise.all(made)) as Record<Server, Disk>
    running = await startRunning({}, { dataDir: home, ephemeral: false })
  })
  afterAll(async () => {
    await running?.stop()
    await Promise.all(Object.values(disks ?? {}).map((disk) => disk.remove()))
    if (home) rmSync(home, { recursive: true })
  })

  async function cut(names: readonly Server[]) {
    await Promise.all(names.map((name) => disks[name].cut()))
    for (const name of names) killAll(running.servers[name]!.pid)
    await Promise.all(names.map((name) => running.servers[name]!.kill('SIGKILL')))
    await sleep(1000)
    for (const name of names) await disks[name].plugIn()
    await Promise.all(names.map((name) => running.servers[name]!.start()))
  }

  test.each([
    [1, ['postgres']],
    [2, ['nats']],
    [3, ['redis']],
    [4, ['postgres', 'nats', 'redis']],
  ] as const)('loses nothing that was acknowledged (%i, %j)', async (seed, names) => {
    const outcome = await throughOutage(running, seed, async (load) => {
      // The consumer was made long ago, and there were events before.
      execFileSync('sync', ['-f', join(home, places.nats)])
      await acknowledged(load, load.acknowledged + 60)
      await cut(names)
    })
    console.log(names.join(', '), JSON.stringify(outcome))
    expect(outcome.violations).toEqual([])
    expect(outcome.missed).toEqual([])
  })
})
