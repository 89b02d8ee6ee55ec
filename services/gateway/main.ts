import { runService } from '#lib/process'
import { readGatewayConfig } from './config.ts'
import { startGateway } from './server.ts'

runService('gateway', readGatewayConfig, startGateway)
