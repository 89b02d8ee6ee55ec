import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'
import { type Daemon, daemon } from '../deploy/local/daemon.ts'
import { freePort } from '../deploy/local/ports.ts'
import type { Servers } from '../deploy/local/servers.ts'

export interface BareChain {
  url: string
  http: Daemon
  responder: Daemon
  stop(): Promise<void>
}

/** Starts the two processes of the bare chain, over the same servers as Roster. Its table is in a schema of its own. */
export async function startBareChain({ home, databaseUrl, natsUrl }: Servers): Promise<BareChain> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} })
  await sql`create schema if not exists bench`
  await sql`create table bench.bare (id bigint generated always as identity primary key, body text not null)`
  await sql.end()

  const port = await freePort(0)
  const url = `http://127.0.0.1:${port}`
  const start = async (name: string, ready: (log: string) => Promise<boolean>) => {
    const env = {
      ...process.env,
      BENCH_NATS_URL: natsUrl.admin,
      BENCH_DATABASE_URL: databaseUrl,
      BENCH_PORT: String(port),
    }
    const process_ = daemon(home, {
      name,
      kind: 'service',
      command: process.execPath,
      args: [fileURLToPath(new URL(`./${name}.ts`, import.meta.url))],
      env,
      stopSignal: 'SIGTERM',
      ready: () => ready(home.log(name)),
    })
    await process_.start()
    return process_
  }
  const responder = await start('bare-chain-responder', async (log) => readFileSync(log, 'utf8').includes('ready'))
  const http = await start('bare-chain-http', async () => (await fetch(url, { method: 'POST', body: '{}' })).ok)
  return { url, http, responder, stop: async () => void (await Promise.all([http.stop(), responder.stop()])) }
}
