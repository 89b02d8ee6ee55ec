import { connectNats } from '#lib/nats/connect-nats'
import type { Service } from '#lib/process'
import { silent } from './rpc.ts'
import type { Erasable } from '#lib/outbox/erase-in-stream'
import { startStreamKeeper } from '#lib/outbox/stream-keeper'

/** Starts a keeper of the stream over its own connection. Resolves once NATS knows the keeper's subscription. */
export async function startTestKeeper(natsUrl: { keeper: string }, erasable?: Erasable): Promise<Service> {
  const nats = await connectNats(natsUrl.keeper, 'keeper', silent)
  const keeper = startStreamKeeper({ nats, log: silent, ...(erasable && { erasable }) })
  await nats.connection.flush()
  return {
    async stop() {
      await keeper.stop()
      await nats.connection.close()
    },
  }
}
