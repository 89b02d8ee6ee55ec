import { createLog } from '#lib/log'
import { connectNats } from '#lib/nats'
import { runProcess } from '#lib/process'
import { readNotifierConfig } from './config.ts'
import { startNotifier } from './service.ts'

const log = createLog('notifier', process.env.LOG_LEVEL)

runProcess(log, async () => {
  const config = readNotifierConfig()
  const nats = await connectNats(config.NATS_URL, 'notifier', log)
  const service = await startNotifier({ config, nats, log })
  return {
    async stop() {
      await service.stop()
      await nats.connection.close()
    },
  }
})
