import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { daemon, type Daemon, type DaemonSpec } from '../../deploy/local/daemon.ts'
import type { Home } from '../../deploy/local/home.ts'

/** A machine of its own for the network: a namespace on a bridge to the others. */
export interface Machine {
  name: string
  address: string
  /** A program that runs there. */
  daemon(home: Home, spec: Omit<DaemonSpec, 'kind'>): Daemon
  /** Cuts it off from all others: what is sent is lost without a word. */
  cut(): void
  mend(): void
  /** Kills every process there with SIGKILL, as a lost machine would end them. */
  kill(): void
}

export interface Network {
  /** Three for each of `db`, `etcd`, `nats` and `redis`. */
  machines(kind: string): Machine[]
  stop(): void
}

const names = ['db', 'etcd', 'nats', 'redis'].flatMap((kind) => [1, 2, 3].map((number) => `${kind}${number}`))

const bridge = 'roster-failover'
// Addresses that RFC 2544 keeps for such tests.
const addressOf = (number: number) => `198.18.77.${number}`

/** Makes the machines, after it has removed those of a run that was killed. This machine is on the bridge, too. */
export function makeNetwork(): Network {
  remove()
  ip('link', 'add', bridge, 'type', 'bridge')
  ip('address', 'add', `${addressOf(1)}/24`, 'dev', bridge)
  ip('link', 'set', bridge, 'up')
  const machines = names.map((name, index) => makeMachine(name, addressOf(11 + index)))
  return { machines: (kind) => machines.filter(({ name }) => name.startsWith(kind)), stop: remove }
}

function makeMachine(name: string, address: string): Machine {
  const [space, link] = [spaceOf(name), linkOf(name)]
  ip('netns', 'add', space)
  ip('link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', space)
  ip('-n', space, 'address', 'add', `${address}/24`, 'dev', 'eth0')
  for (const inside of ['lo', 'eth0']) ip('-n', space, 'link', 'set', inside, 'up')
  ip('link', 'set', link, 'master', bridge, 'up')
  return {
    name,
    address,
    daemon(home, { command, args, uid, gid, ...spec }) {
      const as = uid === undefined ? [] : ['-S', String(uid), '-G', String(gid)]
      const within = [`--net=/run/netns/${space}`, ...as, '--', command, ...args]
      return daemon(home, { ...spec, kind: 'server', command: 'nsenter', args: within })
    },
    cut: () => void ip('link', 'set', link, 'nomaster'),
    mend: () => void ip('link', 'set', link, 'master', bridge),
    kill: () => killAll(space),
  }
}

function killAll(space: string): void {
  for (const pid of ip('netns', 'pids', space).split('\n').filter(Boolean))
    try {
      process.kill(Number(pid), 'SIGKILL')
    } catch {
      // It ended in the meantime.
    }
}

function remove(): void {
  for (const name of names) {
    const space = spaceOf(name)
    // The links that a namespace holds outlive it for a moment.
    unlink(linkOf(name))
    if (!existsSync(`/run/netns/${space}`)) continue
    killAll(space)
    ip('netns', 'delete', space)
  }
  unlink(bridge)
}

function unlink(link: string): void {
  if (existsSync(`/sys/class/net/${link}`)) ip('link', 'delete', link)
}

const spaceOf = (name: string) => `${bridge}-${name}`
// It has 15 characters at most.
const linkOf = (name: string) => `roster-${name}`

function ip(...args: string[]): string {
  return execFileSync('ip', args, { encoding: 'utf8' })
}
