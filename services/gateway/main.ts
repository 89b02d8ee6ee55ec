import { createLog } from '#lib/log'
import { connectNats } from '#lib/nats'
import { runProcess } from '#lib/process'
import { readGatewayConfig } from './config.ts'
import { startGateway } from './server.ts'

const log = createLog('gateway', process.env.LOG_LEVEL)

runProcess(log, async () => {
  const config = readGatewayConfig()
  const nats = await connectNats(config.NATS_URL, 'gateway', log)
  const gateway = await startGateway({ config, nats, log })
  log.info({ port: gateway.port }, 'listening')
  return {
    async stop() {
      await gateway.stop()
      await nats.connection.drain()
    },
  }
})
