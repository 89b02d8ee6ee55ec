import { createLog } from '#lib/log'
import { connectNats } from '#lib/nats'
import { runProcess } from '#lib/process'
import { readGrantsConfig } from './config.ts'
import { startGrants } from './service.ts'

const log = createLog('grants', process.env.LOG_LEVEL)

runProcess(log, async () => {
  const config = readGrantsConfig()
  const nats = await connectNats(config.NATS_URL, 'grants', log)
  const service = await startGrants({ config, nats, log })
  return {
    async stop() {
      await service.stop()
      await nats.connection.close()
    },
  }
})
