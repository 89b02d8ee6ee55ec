import { connectNats } from '../nats.ts'
import type { Service } from '../process.ts'
import { silent } from '../rpc/test-rpc.ts'
import { startStreamKeeper } from './stream-keeper.ts'

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
