import { createSecureContext } from 'node:tls'
import { integer, list, optional, readConfig, text, url } from '#lib/config'
import { logLevel } from '#lib/log'

export type GatewayConfig = ReturnType<typeof readGatewayConfig>

/** The gateway's settings. Throws one Error that lists every problem. */
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
  /** Certificate chain and private key in PEM. With both, the port speaks TLS only. */
  TLS_CERT: optional(),
  TLS_KEY: optional(),
}

const settings = {
  ...tlsSettings,
  /** 0: any free port. */
  PORT: integer(0, 65_535, 8080),
  /** Empty: every address of the machine. */
  HOST: text(''),
  NATS_URL: url(['nats', 'tls'], 'nats://127.0.0.1:4222'),
  LOG_LEVEL: logLevel,
  /** Origins whose pages may read answers; none named: any. Credentials of the browser never count. */
  CORS_ORIGINS: list([]),
  /** How many proxies in front add to X-Forwarded-For. */
  TRUSTED_PROXIES: integer(0, 10, 0),
  /** Milliseconds that a call may take when its client names no deadline, and at most. */
  CALL_TIMEOUT_MS: integer(1, 3_600_000, 10_000),
  MAX_CALL_TIMEOUT_MS: integer(1, 3_600_000, 60_000),
  /** Milliseconds after which a stream is ended, and its client begins another. */
  STREAM_MAX_AGE_MS: integer(100, 86_400_000, 3_600_000),
  MAX_CONNECTIONS: integer(1, 1_000_000, 10_000),
  /** Connections of one address (of IPv6, of its /64); counts where no proxy is in front. */
  MAX_CONNECTIONS_PER_ADDRESS: integer(1, 1_000_000, 1_000),
  /** Calls that may be under way on one HTTP/2 connection. */
  MAX_STREAMS_PER_CONNECTION: integer(1, 10_000, 100),
  /** Bytes that the message of a public method may have. */
  PUBLIC_REQUEST_BYTES: integer(1024, 1024 * 1024, 16 * 1024),
  /** Bytes of requests and answers that may be in memory: in all, and of one connection. An address may have an eighth. */
  UNDER_WAY_BYTES: integer(16 * 1024 * 1024, 2 ** 40, 64 * 1024 * 1024),
  UNDER_WAY_BYTES_PER_CONNECTION: integer(2 * 1024 * 1024, 2 ** 40, 4 * 1024 * 1024),
  /** Milliseconds until the head of a request, and the whole request, must have arrived. */
  HEADERS_TIMEOUT_MS: integer(100, 600_000, 10_000),
  REQUEST_TIMEOUT_MS: integer(100, 600_000, 30_000),
  /** Milliseconds that an idle HTTP/1.1 connection is kept. */
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
    throw new Error('Configuration: TLS_CERT and TLS_KEY are no pair of certificate and key in PEM.', { cause })
  }
}
