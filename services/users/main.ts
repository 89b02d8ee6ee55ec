import { runService } from '#lib/process'
import { readUsersConfig } from './config.ts'
import { startUsers } from './service.ts'

runService('users', readUsersConfig, startUsers)
