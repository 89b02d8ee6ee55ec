import { connectNats } from '#lib/nats'
import type { Service } from '#lib/process'
import { silent } from './rpc.ts'
import { startStreamKeeper } from '#lib/events/stream-keeper'

/** A keeper of the stream over a connection of its own, once NATS knows where it is asked. */
export async function startTestKeeper(natsUrl: { keeper: string }): Promise<Service> {
  const nats = await connectNats(natsUrl.keeper, 'keeper', silent)
  const keeper = startStreamKeeper({ nats, log: silent })
  await nats.connection.flush()
  return {
    async stop() {
      await keeper.stop()
      await nats.connection.close()
    },
  }
}
