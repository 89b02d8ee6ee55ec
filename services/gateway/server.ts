import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { ServerCredentials } from '@grpc/grpc-js'
import type { Log } from '#lib/log'
import type { Nats } from '#lib/nats'
import type { Service } from '#lib/process'
import { createAuthenticator } from './authenticate.ts'
import type { Gateway } from './calls.ts'
import { answerBrokenRequests } from './broken-requests.ts'
import type { GatewayConfig } from './config.ts'
import { createHttpHandler } from './http.ts'
import { shareStreams } from './http2-streams.ts'
import { createListener } from './listener.ts'
import { readPages } from './pages.ts'
import { createGrpcHandler, createWatchGuard } from './protocols/grpc.ts'
import { createGrpcServer } from './protocols/grpc-server.ts'
import { addHealth } from './protocols/health.ts'
import { addReflection } from './protocols/reflection.ts'
import { watchReadiness } from './readiness.ts'
import { createUnderWay } from './under-way.ts'

export interface GatewayOptions {
  config: GatewayConfig
  /** Stays the caller's: stopping the gateway does not close it. */
  nats: Nats
  log: Log
}

/** Starts the gateway. `port` is the one it listens on, of use where the configured one is 0. */
export async function startGateway({ config, nats, log }: GatewayOptions): Promise<Service & { port: number }> {
  const authenticator = createAuthenticator(nats)
  const stopping = new AbortController()
  const { UNDER_WAY_BYTES: inAll, UNDER_WAY_BYTES_PER_CONNECTION: perConnection } = config
  const underWay = createUnderWay({ inAll, perConnection })
  const gateway: Gateway = { config, nats, log, authenticator, underWay, stopping: stopping.signal }
  const grpc = createGrpcServer(config)
  addReflection(grpc)
  const setHealth = addHealth(grpc)
  const injector = grpc.createConnectionInjector(ServerCredentials.createInsecure())
  const readiness = watchReadiness(nats, log, setHealth)
  const listener = createListener(config, log, (socket) => injector.injectConnection(socket))
  const http = listener.server
  const handle = createHttpHandler(gateway, readPages(fileURLToPath(new URL('pages', import.meta.url))), readiness)
  http.on('request', handle).on('checkExpectation', handle)
  const handlers = { http: handle, grpc: createGrpcHandler(gateway), admit: createWatchGuard(gateway) }
  shareStreams(grpc, handlers, config.REQUEST_TIMEOUT_MS)
  answerBrokenRequests(http, config.REQUEST_TIMEOUT_MS)
  await nats.connection.flush()
  http.listen({ port: config.PORT, ...(config.HOST && { host: config.HOST }) })
  await once(http, 'listening')
  const { port } = http.address() as AddressInfo
  log.info({ port }, 'listening')

  return {
    port,
    async stop() {
      readiness.close()
      stopping.abort()
      const closed = new Promise((resolve) => http.close(resolve))
      http.prependListener('request', (_request, response) => response.setHeader('connection', 'close'))
      const sweep = setInterval(() => http.closeIdleConnections(), 50)
      listener.closeUndecided()
      grpc.tryShutdown(() => {})
      const force = setTimeout(listener.closeAll, config.DRAIN_TIMEOUT_MS)
      await closed
      clearTimeout(force)
      clearInterval(sweep)
      authenticator.stop()
    },
  }
}
