import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'
import { daemon } from '../../deploy/local/daemon.ts'
import { freePort } from '../../deploy/local/ports.ts'
import type { Servers } from '../../deploy/local/servers.ts'

export interface BareChain {
  url: string
  /** Process ids by name. */
  pids: Record<string, number[]>
  /** Rows in its table. */
  stored(): Promise<number>
  stop(): Promise<void>
}

/** Starts the two processes of the bare chain, over the same servers as Roster. Its table is in a schema of its own. */
export async function startBareChain({ home, databaseUrl, natsUrl }: Servers): Promise<BareChain> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} })
  await sql`create schema if not exists bench`
  await sql`create table bench.bare (id bigint generated always as identity primary key, body text not null)`

  const port = await freePort(0)
  const url = `http://127.0.0.1:${port}`
  const start = async (program: string, ready: (log: string) => Promise<boolean>) => {
    const name = `bare-chain-${program}`
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
      args: [fileURLToPath(new URL(`./${program}.ts`, import.meta.url))],
      env,
      stopSignal: 'SIGTERM',
      ready: () => ready(home.log(name)),
    })
    await process_.start()
    return process_
  }
  const responder = await start('responder', async (log) => readFileSync(log, 'utf8').includes('ready'))
  const http = await start('http', async () => (await fetch(url, { method: 'POST', body: '{}' })).ok)
  return {
    url,
    pids: { 'bare http': [http.pid!], 'bare responder': [responder.pid!] },
    async stored() {
      const [row] = await sql<[{ count: string }]>`select count(*) from bench.bare`
      return Number(row.count)
    },
    async stop() {
      await Promise.all([http.stop(), responder.stop(), sql.end()])
    },
  }
}
