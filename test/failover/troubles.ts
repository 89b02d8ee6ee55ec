import type { ServiceName } from '../../deploy/local/service-environment.ts'
import { serviceNames } from '../../deploy/local/service-environment.ts'
import type { Redundant } from './redundant.ts'
import { until } from './until.ts'

/** A trouble that a redundant Roster survives. */
export interface Trouble {
  name: string
  /** Begins it, and waits until what took over has taken over. Returns what ends it. */
  begin(roster: Redundant): Promise<() => Promise<void> | void>
}

const nothing = () => {}

export const troubles: Trouble[] = [
  ...serviceNames.map(killService),
  {
    name: 'kill -9 of all on the machine of PostgreSQL’s primary',
    async begin({ postgres, revive }) {
      const machine = await postgres.primary()
      machine.kill()
      await until('another primary', async () => (await postgres.primary())?.name !== machine.name)
      return () => revive(machine)
    },
  },
  {
    name: 'PostgreSQL’s primary is cut off, and comes back',
    async begin({ postgres }) {
      const machine = await postgres.primary()
      machine.cut()
      await until('another primary', async () => (await postgres.primary())?.name !== machine.name)
      return () => machine.mend()
    },
  },
  {
    name: 'PostgreSQL’s synchronous standby is cut off',
    async begin({ postgres }) {
      const machine = await postgres.synchronous()
      machine.cut()
      await until(
        'another standby',
        async () => ![undefined, machine.name].includes((await postgres.synchronous())?.name),
      )
      return () => machine.mend()
    },
  },
  {
    name: 'patronictl switchover',
    async begin({ postgres }) {
      await postgres.switchover()
      return nothing
    },
  },
  {
    name: 'kill -9 of the server of NATS that leads the stream',
    async begin({ nats }) {
      const machine = await nats.leader()
      machine.kill()
      await until('another leader', async () => ![undefined, machine.name].includes((await nats.leader())?.name))
      return () => nats.server(machine).restart()
    },
  },
  {
    name: 'the server of NATS that leads the stream is cut off',
    async begin({ nats }) {
      const machine = await nats.leader()
      machine.cut()
      await until('another leader', async () => ![undefined, machine.name].includes((await nats.leader())?.name))
      return () => machine.mend()
    },
  },
  {
    name: 'the three servers of NATS restart, one after the other',
    async begin({ nats }) {
      for (const machine of nats.machines) {
        await nats.server(machine).restart()
        await nats.whole()
      }
      return nothing
    },
  },
  {
    name: 'kill -9 of Redis’ master',
    async begin({ redis }) {
      const machine = await redis.master()
      await redis.server(machine).kill()
      await until('another master', async () => (await redis.master()).name !== machine.name)
      return () => redis.server(machine).start()
    },
  },
]

function killService(name: ServiceName): Trouble {
  return {
    name: `kill -9 of a process of ${name}`,
    async begin({ services }) {
      await services.handles[name].kill()
      await until(`${name} runs again`, async () => services.handles[name].pid !== undefined)
      return nothing
    },
  }
}
