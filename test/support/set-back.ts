import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Servers } from '../../deploy/local/servers.ts'

/** Copies the files of JetStream while nats-server is stopped. What it gives sets them back to that copy, likewise. */
export async function copyStream({ nats, home }: Servers, part = ''): Promise<() => Promise<void>> {
  const folder = join(home.dir, 'nats/jetstream', part)
  const copy = await mkdtemp(join(tmpdir(), 'roster-stream-'))
  onTestFinished(() => rm(copy, { recursive: true }))
  await nats!.kill()
  await cp(folder, copy, { recursive: true })
  await nats!.start()
  return async () => {
    await nats!.kill()
    await rm(folder, { recursive: true })
    await cp(copy, folder, { recursive: true })
    await nats!.start()
  }
}
