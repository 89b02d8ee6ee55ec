import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { connect } from 'nats'
import postgres from 'postgres'
import { daemon } from '../../deploy/local/daemon.ts'
import { freePort } from '../../deploy/local/ports.ts'
import type { Servers } from '../../deploy/local/servers.ts'

export interface BareChain {
  /** One for each replica. */
  urls: string[]
  grpcUrl: string
  /** Process ids by name. */
  pids: Record<string, number[]>
  /** Changes that it has stored. */
  stored(): Promise<number>
  stop(): Promise<void>
}

/**
 * Starts the processes of the bare chain, over the same servers as Roster, so many of each but for gRPC. Its tables are in
 * a schema of their own. The processes also answer the other chains.
 */
export async function startBareChain({ home, databaseUrl, natsUrl }: Servers, replicas = 1): Promise<BareChain> {
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

  const start = async (program: string, number = 1) => {
    const name = `bare-chain-${program}-${number}`
    const port = await freePort(0)
    const url = `http://127.0.0.1:${port}`
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
      ready: async () =>
        program === 'http' ? (await fetch(url, { method: 'POST', body: '{}' })).ok : isReady(home.log(name)),
    })
    await process_.start()
    return { url, pid: process_.pid!, stop: () => process_.stop() }
  }
  const numbers = Array.from({ length: replicas }, (_, index) => index + 1)
  const responders = await Promise.all(numbers.map((number) => start('responder', number)))
  const [grpc, ...https] = await Promise.all([start('grpc'), ...numbers.map((number) => start('http', number))])
  const pidsOf = (processes: { pid: number }[]) => processes.map(({ pid }) => pid)
  return {
    urls: https.map(({ url }) => url),
    grpcUrl: grpc.url,
    pids: { 'bare http': pidsOf(https), 'bare grpc': [grpc.pid], 'bare responder': pidsOf(responders) },
    async stored() {
      const [row] = await sql<[{ count: string }]>`
        select (select count(*) from bench.bare) + (select count(*) from bench.tokens)
          + (select count(*) / 2 from bench.events where type like 'email.%') as count
      `
      return Number(row.count)
    },
    async stop() {
      await Promise.all([...https, grpc, ...responders].map((process_) => process_.stop()))
      await sql.end()
    },
  }
}

function isReady(log: string): boolean {
  return readFileSync(log, 'utf8').includes('ready')
}

async function addStream(url: string): Promise<void> {
  const { host, username, password } = new URL(url)
  const nats = await connect({ servers: host, user: username, pass: password })
  await (await nats.jetstreamManager()).streams.add({ name: 'bench', subjects: ['bench.events.>'] })
  await nats.close()
}
