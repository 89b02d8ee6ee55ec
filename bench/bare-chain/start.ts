import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { connect } from 'nats'
import postgres from 'postgres'
import { daemon } from '../../deploy/local/daemon.ts'
import { freePort } from '../../deploy/local/ports.ts'
import type { Servers } from '../../deploy/local/servers.ts'

export interface BareChain {
  url: string
  grpcUrl: string
  /** Process ids by name. */
  pids: Record<string, number[]>
  /** Changes that it has stored. */
  stored(): Promise<number>
  stop(): Promise<void>
}

/**
 * Starts the processes of the bare chain, over the same servers as Roster. Its tables are in a schema of their own.
 * The processes also answer the evented chain and the echo chain.
 */
export async function startBareChain({ home, databaseUrl, natsUrl }: Servers): Promise<BareChain> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} })
  await sql`create schema if not exists bench`
  await sql`create table bench.bare (id bigint generated always as identity primary key, body text not null)`
  await sql`create table bench.states (user_id text primary key, sequence bigint not null, state jsonb not null)`
  await sql`create table bench.tokens (hash bytea primary key, user_id text not null, secret bytea not null)`
  await sql`
    create table bench.events (
      position bigint generated always as identity primary key,
      user_id text not null, sequence bigint not null, type text not null, payload jsonb not null,
      unique (user_id, sequence)
    )
  `
  await addStream(natsUrl.admin)

  const [port, grpcPort] = [await freePort(0), await freePort(0)]
  const [url, grpcUrl] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${grpcPort}`]
  const start = async (program: string, ready: (log: string) => Promise<boolean>) => {
    const name = `bare-chain-${program}`
    const env = {
      ...process.env,
      BENCH_NATS_URL: natsUrl.admin,
      BENCH_DATABASE_URL: databaseUrl,
      BENCH_PORT: String(port),
      BENCH_GRPC_PORT: String(grpcPort),
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
  const responder = await start('responder', isReady)
  const grpc = await start('grpc', isReady)
  const http = await start('http', async () => (await fetch(url, { method: 'POST', body: '{}' })).ok)
  return {
    url,
    grpcUrl,
    pids: { 'bare http': [http.pid!], 'bare grpc': [grpc.pid!], 'bare responder': [responder.pid!] },
    async stored() {
      const [row] = await sql<[{ count: string }]>`
        select (select count(*) from bench.bare) + (select count(*) from bench.tokens)
          + (select count(*) / 2 from bench.events where type <> 'token.issued') as count
      `
      return Number(row.count)
    },
    async stop() {
      await Promise.all([http.stop(), grpc.stop(), responder.stop(), sql.end()])
    },
  }
}

async function isReady(log: string): Promise<boolean> {
  return readFileSync(log, 'utf8').includes('ready')
}

async function addStream(url: string): Promise<void> {
  const { host, username, password } = new URL(url)
  const nats = await connect({ servers: host, user: username, pass: password })
  await (await nats.jetstreamManager()).streams.add({ name: 'bench', subjects: ['bench.events.>'] })
  await nats.close()
}
