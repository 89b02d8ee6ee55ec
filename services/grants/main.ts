import { runService } from '#lib/process'
import { readGrantsConfig } from './config.ts'
import { startGrants } from './service.ts'

runService('grants', readGrantsConfig, startGrants)
