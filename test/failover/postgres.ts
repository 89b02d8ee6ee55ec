import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Home } from '../../deploy/local/home.ts'
import postgres from 'postgres'
import { postgresPlace } from '../../deploy/local/servers/postgres-user.ts'
import { onPath } from '../../deploy/local/servers/program.ts'
import { startEtcd } from './etcd.ts'
import { postgresFolder } from './missing.ts'
import type { Machine } from './network.ts'
import { answersOk, until } from './until.ts'

/** PostgreSQL on three machines under Patroni, which knows by etcd who is the primary. */
export interface PostgresCluster {
  /** The administrator's, with all hosts. */
  url: string
  primary(): Promise<Machine>
  synchronous(): Promise<Machine>
  /** Starts again what was killed on a machine. */
  revive(machine: Machine): Promise<void>
  switchover(): Promise<void>
  /** Changes a setting of all servers, and waits until they have it. */
  change(name: string, value: string): Promise<void>
  /** Waits until there are a primary, a synchronous standby, and another one that follows. */
  whole(): Promise<void>
}

const scope = 'roster'

/** Beside etcd on machines of their own: one beside PostgreSQL would be cut off with it, and tell Patroni old things. */
export async function startPostgresCluster(
  home: Home,
  machines: Machine[],
  keepers: Machine[],
): Promise<PostgresCluster> {
  const etcd = await startEtcd(home, keepers)
  const all = machines.map((machine) => prepare(home, machine, etcd))
  await Promise.all(all.map(({ patroni }) => patroni.start()))
  const hosts = machines.map(({ address }) => `${address}:5432`).join(',')
  const url = `postgres://postgres:${home.secret('postgres')}@${hosts}/roster`
  const ofRole = async (role: string) => {
    const found = (await members(machines)).find((member) => member.role === role)
    return machines.find(({ name }) => name === found?.name)!
  }
  return {
    url,
    primary: () => ofRole('leader'),
    synchronous: () => ofRole('sync_standby'),
    revive: (machine) => all[machines.indexOf(machine)]!.patroni.restart(),
    async switchover() {
      const [leader, candidate] = [await ofRole('leader'), await ofRole('sync_standby')]
      const args = ['switchover', scope, '--master', leader.name, '--candidate', candidate.name, '--force']
      await promisify(execFile)(onPath('patronictl')!, ['-c', all[0]!.config, ...args])
    },
    async change(name, value) {
      const body = JSON.stringify({ postgresql: { parameters: { [name]: value } } })
      const { address } = await ofRole('leader')
      await fetch(`http://${address}:8008/config`, { method: 'PATCH', body })
      const sql = postgres(`postgres://postgres:${home.secret('postgres')}@${address}:5432/postgres`, { max: 1 })
      await until(
        `${name} is ${value}`,
        async () => (await sql`select current_setting(${name}) = ${value} as it`)[0]!['it'],
      )
      await sql.end()
    },
    whole: () =>
      until('PostgreSQL has a primary and two standbys', async () => {
        const found = await members(machines)
        const isFollowing = ({ role, state }: Member) =>
          role === 'leader' || state === 'streaming' || state === 'running'
        return (
          found.length === machines.length &&
          found.every(isFollowing) &&
          found.some(({ role }) => role === 'sync_standby')
        )
      }),
  }
}

/** Patroni of one machine, and the file that it reads. */
function prepare(home: Home, machine: Machine, etcd: string[]) {
  const { name, address } = machine
  const place = postgresPlace(home.dir, name)
  const config = join(place.folder, 'patroni.yml')
  // JSON is YAML, too.
  writeFileSync(config, JSON.stringify(patroniSettings(home, machine, etcd, place.folder)), { mode: 0o644 })
  const patroni = machine.daemon(home, {
    name: `patroni-${name}`,
    command: onPath('patroni')!,
    args: [config],
    env: { PATH: process.env['PATH'], HOME: place.folder, LC_ALL: 'C.UTF-8', TZ: 'UTC' },
    ...place.user,
    stopSignal: 'SIGTERM',
    // PostgreSQL may take longer, where the machine is busy: `whole` waits for it.
    ready: () => answersOk(`http://${address}:8008/liveness`),
  })
  return { patroni, config }
}

// docs/reliability.md explains those that matter.
function patroniSettings(home: Home, { name, address }: Machine, etcd: string[], folder: string) {
  const password = home.secret('postgres')
  return {
    scope,
    name,
    restapi: { listen: `${address}:8008`, connect_address: `${address}:8008` },
    etcd3: { hosts: etcd },
    bootstrap: {
      dcs: {
        ttl: 20,
        loop_wait: 5,
        retry_timeout: 5,
        synchronous_mode: true,
        synchronous_mode_strict: true,
        postgresql: {
          use_pg_rewind: true,
          parameters: { synchronous_commit: 'on', max_connections: 300, wal_log_hints: 'on' },
        },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C' }],
    },
    postgresql: {
      listen: `${address}:5432`,
      connect_address: `${address}:5432`,
      data_dir: join(folder, 'data'),
      bin_dir: postgresFolder(),
      pgpass: join(folder, 'pgpass'),
      pg_hba: ['host all all 198.18.77.0/24 scram-sha-256', 'host replication all 198.18.77.0/24 scram-sha-256'],
      authentication: Object.fromEntries(
        ['superuser', 'replication', 'rewind'].map((role) => [
          role,
          { username: role === 'superuser' ? 'postgres' : role, password },
        ]),
      ),
      parameters: { unix_socket_directories: '' },
    },
  }
}

interface Member {
  name: string
  role: string
  state: string
}

// As any of them knows it: one may be dead or cut off.
async function members(machines: Machine[]): Promise<Member[]> {
  for (const { address } of machines) {
    const answer = await fetch(`http://${address}:8008/cluster`, { signal: AbortSignal.timeout(2000) }).catch(() => {})
    if (answer?.ok) return ((await answer.json()) as { members: Member[] }).members
  }
  throw new Error('no Patroni answers')
}
