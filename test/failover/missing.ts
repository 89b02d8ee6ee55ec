import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { onPath } from '../../deploy/local/servers/program.ts'

// By Debian's package.
const programs = {
  patroni: ['patroni', 'patronictl'],
  'etcd-server': ['etcd'],
  postgresql: ['postgres', 'initdb', 'pg_basebackup', 'pg_rewind'],
  'nats-server': ['nats-server'],
  'redis-server': ['redis-server'],
  pgbouncer: ['pgbouncer'],
  iproute2: ['ip'],
  'util-linux': ['nsenter'],
}

/** What this machine lacks for the suite, in one sentence. Undefined: nothing. */
export function whatIsMissing(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return 'The failover suite needs Linux and root, because it makes network namespaces.'
  const packages = Object.entries(programs).filter(([, needed]) => needed.some((name) => onPath(name) === undefined))
  if (packages.length === 0 && dropsForwarded())
    return 'A packet filter, such as Docker’s, drops what bridged machines send each other: iptables -P FORWARD ACCEPT.'
  if (packages.length === 0) return undefined
  return `The failover suite needs more of Debian’s packages: apt-get install ${packages.map(([name]) => name).join(' ')}.`
}

function dropsForwarded(): boolean {
  const isFiltered = '/proc/sys/net/bridge/bridge-nf-call-iptables'
  if (!existsSync(isFiltered) || readFileSync(isFiltered, 'utf8').trim() === '0') return false
  return (
    onPath('iptables') !== undefined &&
    execFileSync('iptables', ['-S', 'FORWARD'], { encoding: 'utf8' }).includes('-P FORWARD DROP')
  )
}

/** Where Debian keeps PostgreSQL's programs. */
export const postgresFolder = () => dirname(onPath('pg_rewind')!)
