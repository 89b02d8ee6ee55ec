import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { ServerCredentials } from '@grpc/grpc-js'
import { InternalServiceDefinition as GrantsDefinition } from '#gen/roster/grants/v1/internal_service'
import type { Log } from '#lib/log'
import { flushed, type Nats } from '#lib/nats/connect-nats'
import type { Service } from '#lib/process'
import { type AskingNats, createClient } from '#lib/rpc/call'
import { addMicroService } from '#lib/rpc/micro-service'
import { throttled } from '#lib/throttled'
import { createCallerSigner } from '#lib/rpc/signatures/sign-callers'
import { createClientAddresses } from './listen/client-addresses.ts'
import { createAuthenticator } from './auth/authenticate.ts'
import { countSecondRequests } from './ask-again.ts'
import type { Gateway } from './call/gateway.ts'
import { createRefusals } from './call/refusals.ts'
import type { GatewayConfig } from './config.ts'
import { shareStreams } from './listen/http2-streams.ts'
import { answerBrokenRequests, inOrder } from './listen/http1-requests.ts'
import { createListener } from './listen/listener.ts'
import { createStreamGuard } from './listen/stream-guard.ts'
import { addHealth } from './health/grpc-health.ts'
import { isReady, watchReadiness } from './health/readiness.ts'
import { createHttpHandler } from './protocols/http-handler.ts'
import { createCors } from './listen/cors.ts'
import { createConsoleSessions } from './auth/console-sessions.ts'
import { startKeeper } from './keeper.ts'
import { createRates } from './rate-limits/rates.ts'
import { createStreamPlaces } from './rate-limits/stream-places.ts'
import { createUnderWay } from './rate-limits/under-way.ts'
import { describeApi } from './openapi/pages.ts'
import { createBrands } from './pages/brands.ts'
import { readConsole } from './pages/console.ts'
import { readPages } from './pages/pages.ts'
import { createProviderReports } from './protocols/provider-reports.ts'
import { createGrpcServer } from './protocols/grpc/server.ts'
import { createGrpcHandler, createWatchGuard } from './protocols/grpc/serve.ts'
import { addReflection } from './protocols/grpc/reflection.ts'
import { internalCalls } from '../internal-calls.ts'

export interface GatewayOptions {
  config: GatewayConfig
  /** The caller owns the connection: stopping the gateway does not close it. */
  nats: Nats
  log: Log
  /** Gives milliseconds for the rates, and never goes back. */
  clock?: () => number
}

/** Starts the gateway. `port` is the port that it listens on, also where the configured one is 0. */
export async function startGateway(options: GatewayOptions): Promise<Service & { port: number }> {
  const { config, log, clock = () => performance.now() } = options
  const nats: AskingNats = { ...options.nats, sign: createCallerSigner(config.ROSTER_CALLER_KEYS(log)) }
  const rates = createRates(config, clock)
  const secondRequests = countSecondRequests()
  const authenticator = createAuthenticator(nats, rates.byAddress, secondRequests)
  const streamGuard = createStreamGuard(config, clock)
  const stopping = new AbortController()
  const { UNDER_WAY_BYTES: inAll, UNDER_WAY_BYTES_PER_CONNECTION: perConnection } = config
  const findConsole = readConsole()
  const gateway: Gateway = {
    config,
    nats,
    log,
    authenticator,
    consoleSessions: createConsoleSessions(nats),
    hasConsole: findConsole('/ui/console') !== undefined,
    clientAddresses: createClientAddresses(config.TRUSTED_PROXIES, log),
    rates,
    streamGuard,
    streamPlaces: createStreamPlaces(config),
    refusals: createRefusals(createClient(nats, GrantsDefinition, internalCalls.gateway.grants)),
    brands: createBrands(nats),
    underWay: createUnderWay({ inAll, perConnection }),
    secondRequests,
    warnOfHost: throttled(log, 'pages come under another Host than PUBLIC_URL: let the proxy pass it on'),
    stopping: stopping.signal,
  }
  const grpc = createGrpcServer(config)
  addReflection(grpc)
  const setHealth = addHealth(grpc)
  const injector = grpc.createConnectionInjector(ServerCredentials.createInsecure())
  const readiness = await watchReadiness(nats, log, setHealth)
  const keeper = startKeeper(config, log)
  const serveHttp2 = (socket: Socket) => injector.injectConnection(socket)
  const listener = createListener(config, log, (socket) => streamGuard.admit(socket, serveHttp2))
  const http = listener.server
  const cors = createCors(config.CORS_ORIGINS)
  const ui = readPages(fileURLToPath(new URL('pages', import.meta.url)))
  const pages = new Map([['/', ui.get('/ui/')!], ...ui, ...describeApi(config.PUBLIC_URL)])
  const password = config.MAIL_BOUNCES_PASSWORD
  const providerReports = password === undefined ? undefined : createProviderReports(gateway, password)
  const handle = createHttpHandler({ gateway, cors, pages, console: findConsole, readiness, providerReports })
  const handleInOrder = inOrder(handle)
  http.on('request', handleInOrder).on('checkExpectation', handleInOrder)
  const handlers = { http: handle, grpc: createGrpcHandler(gateway), admit: createWatchGuard(gateway) }
  shareStreams(grpc, handlers, config.REQUEST_TIMEOUT_MS)
  answerBrokenRequests(http, config.REQUEST_TIMEOUT_MS)
  const announced = await addMicroService(nats, 'gateway', {
    deadLetters: () => 0,
    streamIsAhead: () => false,
    refuses: () => false,
  })
  await flushed(nats.connection)
  // A burst of connections waits here. Where Node's default of 511 is full, a client tries again after a second.
  http.listen({ port: config.PORT, backlog: 4096, ...(config.HOST && { host: config.HOST }) })
  await once(http, 'listening')
  const { port } = http.address() as AddressInfo
  log.info({ port }, 'listening')

  return {
    port,
    async problem() {
      const { missing } = await readiness.look()
      return isReady(missing) ? undefined : `gateway misses ${missing.join(', ')}`
    },
    async stop() {
      readiness.close()
      stopping.abort()
      // Do not wait for that: NATS may be away.
      announced.stop().catch(() => {})
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
      gateway.refusals.stop()
      await keeper.stop()
    },
  }
}
