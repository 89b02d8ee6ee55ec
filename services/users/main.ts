import { createLog } from '#lib/log'
import { connectNats } from '#lib/nats'
import { runProcess } from '#lib/process'
import { readUsersConfig } from './config.ts'
import { startUsers } from './service.ts'

const log = createLog('users', process.env.LOG_LEVEL)

runProcess(log, async () => {
  const config = readUsersConfig()
  const nats = await connectNats(config.NATS_URL, 'users', log)
  const service = await startUsers({ config, nats, log })
  return {
    async stop() {
      await service.stop()
      await nats.connection.close()
    },
  }
})
