import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Home } from '../../deploy/local/home.ts'
import { onPath } from '../../deploy/local/servers/program.ts'
import { postgresPlace } from '../../deploy/local/servers/postgres-user.ts'
import { iniOf, usersOf } from '../support/pgbouncer.ts'
import type { Machine } from './network.ts'

const port = 6432

/** A PgBouncer beside each PostgreSQL. */
export interface Poolers {
  /** The URL by way of them. */
  url: string
  revive(machine: Machine): Promise<void>
}

export async function startPoolers(home: Home, machines: Machine[], url: string): Promise<Poolers> {
  // Its name and password count, not its hosts.
  const user = url.replace(/@[^/]*/, '@none')
  const daemons = machines.map((machine) => {
    const { name, address } = machine
    const { folder, user: as } = postgresPlace(home.dir, name)
    const file = (kind: string) => join(folder, `pgbouncer.${kind}`)
    writeFileSync(file('users'), usersOf([user]))
    const server = new URL(`postgres://${address}:5432`)
    writeFileSync(file('ini'), iniOf(server, { host: address, port }, file('users'), { mode: 'session' }))
    return machine.daemon(home, {
      name: `pgbouncer-${name}`,
      command: onPath('pgbouncer')!,
      args: ['-q', file('ini')],
      ...as,
      stopSignal: 'SIGINT',
      async ready() {
        const socket = connect(port, address)
        await once(socket, 'connect')
        socket.destroy()
        return true
      },
    })
  })
  await Promise.all(daemons.map((daemon) => daemon.start()))
  return {
    url: url.replaceAll(':5432', `:${port}`),
    revive: (machine) => daemons[machines.indexOf(machine)]!.restart(),
  }
}
