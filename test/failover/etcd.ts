import { join } from 'node:path'
import type { Home } from '../../deploy/local/home.ts'
import { onPath } from '../../deploy/local/servers/program.ts'
import type { Machine } from './network.ts'
import { answersOk } from './until.ts'

/** Starts etcd on these machines. Returns where each answers. */
export async function startEtcd(home: Home, machines: Machine[]): Promise<string[]> {
  const peers = machines.map(({ name, address }) => `${name}=http://${address}:2380`).join(',')
  const daemons = machines.map((machine) => {
    const { name, address } = machine
    const settings = {
      name,
      'data-dir': join(home.dir, name),
      'listen-client-urls': `http://${address}:2379`,
      'advertise-client-urls': `http://${address}:2379`,
      'listen-peer-urls': `http://${address}:2380`,
      'initial-advertise-peer-urls': `http://${address}:2380`,
      'initial-cluster': peers,
      'log-level': 'warn',
    }
    return machine.daemon(home, {
      name,
      command: onPath('etcd')!,
      args: Object.entries(settings).map(([setting, value]) => `--${setting}=${value}`),
      stopSignal: 'SIGTERM',
      ready: () => answersOk(`http://${address}:2379/health`),
    })
  })
  await Promise.all(daemons.map((daemon) => daemon.start()))
  return machines.map(({ address }) => `${address}:2379`)
}
