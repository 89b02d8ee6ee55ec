import { createSecureContext } from 'node:tls'
import { integer, oneOf, optional, origin, origins, readConfig, text, url } from '#lib/config'
import { logLevel } from '#lib/log'
import { callerKeys } from '#lib/rpc/caller-keys'
import { services } from './health/readiness.ts'

export type GatewayConfig = ReturnType<typeof readGatewayConfig>

/** Reads the gateway's settings. Throws one Error that lists every problem. */
export function readGatewayConfig(environment: Record<string, string | undefined> = process.env) {
  const problems: string[] = []
  const read = <T>(work: () => T) => {
    try {
      return work()
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error))
      return undefined
    }
  }
  const config = read(() => readConfig(settings, environment))
  read(() => checkPair(readConfig(tlsSettings, environment)))
  if (!config || problems.length > 0) throw new Error(problems.join(' '))
  return config
}

const tlsSettings = {
  /** The certificate chain and its private key, in PEM. With both, the port speaks TLS only. */
  TLS_CERT: optional(),
  TLS_KEY: optional(),
}

const settings = {
  ...tlsSettings,
  /** 0: any free port. */
  PORT: integer(0, 65_535, 8080),
  /** Empty: every address of the machine. */
  HOST: text(''),
  /** The address under which clients reach the gateway: the server of the OpenAPI document. */
  PUBLIC_URL: origin('http://localhost:8080'),
  NATS_URL: url(['nats', 'tls'], 'nats://127.0.0.1:4222'),
  /** NATS as the user of the keeper. Empty: as NATS_URL, which will do where all services share one NATS account. */
  NATS_KEEPER_URL: url(['nats', 'tls'], ''),
  LOG_LEVEL: logLevel,
  /** The keys that sign callers, one for each service. */
  ROSTER_CALLER_KEYS: callerKeys(services),
  /** Origins whose pages may read answers. None named: all origins. The browser's credentials never count. */
  CORS_ORIGINS: origins([]),
  /** Whether callers may say by `traceparent` to which trace a call belongs, and whether it is sampled. */
  TRUST_TRACEPARENT: oneOf(['true', 'false'], 'false'),
  /** How many proxies in front of the gateway add to X-Forwarded-For. */
  TRUSTED_PROXIES: integer(0, 10, 0),
  /**
   * Writes a second: of a caller without roles, of a caller with a role, and of all callers of an organization. Reads
   * may be ten times as many. Ten seconds' worth may come at once. 0: no limit.
   */
  WRITES_PER_CALLER: integer(0, 1_000_000, 20),
  WRITES_PER_MEMBER: integer(0, 1_000_000, 500),
  WRITES_PER_ORGANIZATION: integer(0, 1_000_000, 2_000),
  /** Calls a second from one address without a valid token. Public reads and OAuth calls count a tenth. 0: no limit. */
  CALLS_PER_ADDRESS: integer(0, 1_000_000, 50),
  /** Streams that are open at once. 0: no limit. */
  STREAMS_PER_CALLER: integer(0, 1_000_000, 10),
  STREAMS_PER_ORGANIZATION: integer(0, 1_000_000, 100),
  /** Milliseconds that a call may take: where its client names no timeout, and at most. */
  CALL_TIMEOUT_MS: integer(1, 3_600_000, 10_000),
  MAX_CALL_TIMEOUT_MS: integer(1, 3_600_000, 60_000),
  /** Milliseconds after which a stream ends. Its client then begins another. */
  STREAM_MAX_AGE_MS: integer(100, 86_400_000, 3_600_000),
  MAX_CONNECTIONS: integer(1, 1_000_000, 10_000),
  /** Connections of one address (of IPv6, of its /64). It holds only where no proxy is in front. */
  MAX_CONNECTIONS_PER_ADDRESS: integer(1, 1_000_000, 1_000),
  /** Calls that may be under way on one HTTP/2 connection. */
  MAX_STREAMS_PER_CONNECTION: integer(1, 10_000, 100),
  /** The most bytes of the message of a public method. */
  PUBLIC_REQUEST_BYTES: integer(1024, 1024 * 1024, 16 * 1024),
  /** Bytes of requests and answers in memory: in all, and of one connection. An address may have an eighth of all. */
  UNDER_WAY_BYTES: integer(16 * 1024 * 1024, 2 ** 40, 64 * 1024 * 1024),
  UNDER_WAY_BYTES_PER_CONNECTION: integer(2 * 1024 * 1024, 2 ** 40, 4 * 1024 * 1024),
  /** Milliseconds within which the head of a request, and the whole request, must arrive. */
  HEADERS_TIMEOUT_MS: integer(100, 600_000, 10_000),
  REQUEST_TIMEOUT_MS: integer(100, 600_000, 30_000),
  /** Milliseconds for which an idle HTTP/1.1 connection is kept. */
  KEEP_ALIVE_TIMEOUT_MS: integer(0, 600_000, 65_000),
  /** Milliseconds that calls under way may still take once the gateway stops. */
  DRAIN_TIMEOUT_MS: integer(0, 60_000, 8_000),
}

function checkPair({ TLS_CERT: cert, TLS_KEY: key }: { TLS_CERT: string | undefined; TLS_KEY: string | undefined }) {
  if (cert === undefined && key === undefined) return
  if (cert === undefined) throw new Error('Configuration: TLS_KEY is set without TLS_CERT.')
  if (key === undefined) throw new Error('Configuration: TLS_CERT is set without TLS_KEY.')
  try {
    createSecureContext({ cert, key })
  } catch (cause) {
    throw new Error('Configuration: TLS_CERT and TLS_KEY must be a certificate and its key, both in PEM.', { cause })
  }
}
