import { startStreamKeeper } from '#lib/outbox/stream-keeper'
import type { Log } from '#lib/log'
import { connectNats } from '#lib/nats/connect-nats'
import type { Service } from '#lib/process'
import type { GatewayConfig } from './config.ts'

const patience = 10_000

/**
 * Starts the keeper of the event stream, which has a connection and a NATS user of its own. It lives in the gateway
 * because an intruder there can act as every caller already. In any other service, an intruder would gain power by it.
 * No call waits for the keeper.
 */
export function startKeeper(config: GatewayConfig, log: Log): Service {
  let running: Service | undefined
  let stopped = false
  const late = setTimeout(
    () => log.error('the keeper of the stream cannot connect: see NATS_KEEPER_URL; events wait until then'),
    patience,
  )
  const start = async () => {
    const { connection, ...nats } = await connectNats(config.NATS_KEEPER_URL || config.NATS_URL, 'keeper', log)
    clearTimeout(late)
    if (stopped) return connection.close()
    const keeper = startStreamKeeper({
      nats: { connection, ...nats },
      log,
      replicas: config.NATS_STREAM_REPLICAS,
      compression: config.NATS_STREAM_COMPRESSION,
    })
    running = { stop: () => keeper.stop().then(() => connection.close()) }
  }
  start().catch((error: unknown) => log.error({ err: error }, 'the keeper of the stream could not be started'))
  return {
    async stop() {
      clearTimeout(late)
      stopped = true
      await running?.stop()
    },
  }
}
