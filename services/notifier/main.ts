import { runService } from '#lib/process'
import { readNotifierConfig } from './config.ts'
import { startNotifier } from './service.ts'

runService('notifier', readNotifierConfig, startNotifier)
