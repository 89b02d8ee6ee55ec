import { runService } from '#lib/process'
import { readIdpConfig } from './config.ts'
import { startIdp } from './service.ts'

runService('idp', readIdpConfig, startIdp)
