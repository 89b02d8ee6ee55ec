import { createLog } from '#lib/log'
import { connectNats } from '#lib/nats'
import { runProcess } from '#lib/process'
import { readIdpConfig } from './config.ts'
import { startIdp } from './service.ts'

const log = createLog('idp', process.env.LOG_LEVEL)

runProcess(log, async () => {
  const config = readIdpConfig()
  const nats = await connectNats(config.NATS_URL, 'idp', log)
  const service = await startIdp({ config, nats, log })
  return {
    async stop() {
      await service.stop()
      await nats.connection.close()
    },
  }
})
