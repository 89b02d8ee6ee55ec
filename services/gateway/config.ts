import { createSecureContext } from 'node:tls'
import { consoleUrl, healthSettings, lowestLevel, natsUrl, publicUrl } from '#lib/config/common-settings'
import { passkeyOrigins } from '#lib/config/passkey-settings'
import {
  described,
  integer,
  oneOf,
  optional,
  origins,
  readConfig,
  serverUrls,
  type Setting,
  text,
} from '#lib/config/read-config'
import type { StreamCompression } from '#lib/outbox/stream-keeper'
import { reloadedSetting } from '#lib/reloaded-setting'
import { callerKeys } from '#lib/rpc/signatures/caller-keys'
import { loggedCalls } from './call/log-calls.ts'
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
  read(() => checkPair(readConfig({ TLS_CERT: optional(), TLS_KEY: optional() }, environment)))
  if (!config || problems.length > 0) throw new Error(problems.join(' '))
  return config
}

// JetStream knows no other numbers that help: an even one bears no more losses than the number below it.
const { read: readReplicas, accepts } = oneOf(['1', '3', '5'])
const replicas = {
  read: (text: string): number | undefined => Number(readReplicas(text)),
  default: undefined,
  accepts: accepts!,
}

const { read: readCompression, accepts: compressions } = oneOf(['none', 's2'])
const compression = {
  read: (text: string) => readCompression(text) as StreamCompression,
  default: undefined as StreamCompression | undefined,
  accepts: compressions!,
}

const providerPassword: Setting<string | undefined> = {
  default: undefined,
  accepts: '24 to 200 letters and digits',
  read(text) {
    // It stands in an address, where other characters would have to be encoded.
    if (!/^[\w-]{24,200}$/.test(text)) throw new Error('is not 24 to 200 letters, digits, - and _')
    return text
  },
}

const { read: readPem } = reloadedSetting((text) => text)
const pem: Setting<ReturnType<typeof readPem> | undefined> = { read: readPem, default: undefined, accepts: 'PEM' }

export const settings = {
  PORT: described('The port of the gateway. 0: any free port', integer(0, 65_535, 8080)),
  HOST: described('The address on which the gateway listens. Without it, or with `::`: every one', text('')),
  PUBLIC_URL: publicUrl,
  CONSOLE_URL: consoleUrl,
  PASSKEY_ORIGINS: passkeyOrigins,
  TLS_CERT: described(
    'The certificate chain. With it and its key, the port speaks TLS only. From files, a renewed pair counts for new connections within a second',
    pem,
  ),
  TLS_KEY: described('The private key of the certificate', pem),
  NATS_URL: natsUrl('nats://127.0.0.1:4222'),
  NATS_KEEPER_URL: described(
    'NATS with the account that creates and repairs the event stream. Without it: `NATS_URL`, which is enough where all services share one account',
    serverUrls(['nats', 'tls'], ''),
  ),
  NATS_STREAM_REPLICAS: described(
    'The servers of a [cluster of NATS](operations.md#a-cluster-of-nats) that hold the event stream, also where the stream is there already. Without it, a new stream has one, and an existing one keeps what it has',
    replicas,
  ),
  NATS_STREAM_COMPRESSION: described(
    'How NATS stores the event stream. `s2` takes a fifth of the bytes, and has no effect before NATS 2.10. A stream that is there is compressed from the next start of NATS on. Without it, a new stream is not compressed, and an existing one keeps what it has',
    compression,
  ),
  LOG_LEVEL: lowestLevel,
  ...healthSettings,
  LOG_CALLS: described(
    'The calls of which the log has a line: a thousand a second are 200 GB a day. Those that fail are always there',
    loggedCalls,
  ),
  ROSTER_CALLER_KEYS: described(
    'The keys by which the gateway signs callers, one for each service. They are [derived from the root key](decisions/9-keys-of-services.md)',
    { ...callerKeys(services), accepts: `\`${services.map((name) => `${name}:KEY`).join(',')}\`` },
  ),
  CORS_ORIGINS: described(
    "Origins whose pages may read answers. None named: all origins, but for operations that need no token and check or send a secret (CreateSession, VerifyEmail, RequestPasswordReset, ResetPassword, IntrospectToken): pages of an origin that is neither named here nor that of `PUBLIC_URL` may not call these. `*` names none. The OAuth endpoints for tokens, revocation, keys, metadata and userinfo answer every origin, pages under `/ui` and authorize none. The browser's own credentials never count",
    origins([]),
  ),
  MAIL_BOUNCES_PASSWORD: described(
    'The password with which a [mail provider](operations.md#mails-that-bounce) reports bounces at `/mails/bounces`, by HTTP Basic with the user `roster`. Without it there is no such path',
    providerPassword,
  ),
  TRUST_TRACEPARENT: described(
    '`true`: the header `traceparent` of a caller decides which [trace](telemetry.md) a call belongs to, and whether it is sampled',
    oneOf(['true', 'false'], 'false'),
  ),
  TRUSTED_PROXIES: described(
    'How many proxies in front of the gateway add to `X-Forwarded-For`. With 0 behind a proxy, [all clients count as one address](limits.md#behind-a-proxy)',
    integer(0, 10, 0),
  ),
  WRITES_PER_CALLER: described(
    '[Writes a second](limits.md) of a caller without roles; ten times as many reads. 0: no limit',
    integer(0, 1_000_000, 20),
  ),
  WRITES_PER_MEMBER: described('The same, of a caller with a role', integer(0, 1_000_000, 500)),
  WRITES_PER_ORGANIZATION: described(
    'The same, of all callers of an organization together',
    integer(0, 1_000_000, 2_000),
  ),
  CALLS_PER_ADDRESS: described(
    'Calls a second from one address without a valid token. Public reads and OAuth calls count a tenth. 0: no limit',
    integer(0, 1_000_000, 50),
  ),
  STREAMS_PER_CALLER: described('The most open streams of a caller. 0: no limit', integer(0, 1_000_000, 10)),
  STREAMS_PER_ORGANIZATION: described(
    'The most open streams of all callers of an organization. 0: no limit',
    integer(0, 1_000_000, 100),
  ),
  CALL_TIMEOUT_MS: described(
    'Milliseconds that a call may take where its client names no timeout',
    integer(1, 3_600_000, 10_000),
  ),
  MAX_CALL_TIMEOUT_MS: described(
    'Milliseconds that a call may take at most, whatever its client names',
    integer(1, 3_600_000, 60_000),
  ),
  STREAM_MAX_AGE_MS: described(
    'Milliseconds after which the gateway ends a stream. Its client then begins another',
    integer(100, 86_400_000, 3_600_000),
  ),
  MAX_CONNECTIONS: described('The most connections of the gateway', integer(1, 1_000_000, 10_000)),
  MAX_CONNECTIONS_PER_ADDRESS: described(
    'The most connections of one address (of IPv6, its /64). It holds only where `TRUSTED_PROXIES` is 0',
    integer(1, 1_000_000, 1_000),
  ),
  MAX_STREAMS_PER_CONNECTION: described('The most calls under way on one HTTP/2 connection', integer(1, 10_000, 100)),
  PUBLIC_REQUEST_BYTES: described(
    'The most bytes of a request to a public method. Any other request may have 1 MiB',
    integer(1024, 1024 * 1024, 16 * 1024),
  ),
  UNDER_WAY_BYTES: described(
    'The most bytes of requests and unread answers in memory. One address may have an eighth of them, and all callers without a token a half',
    integer(16 * 1024 * 1024, 2 ** 40, 64 * 1024 * 1024),
  ),
  UNDER_WAY_BYTES_PER_CONNECTION: described(
    'The same, of one connection',
    integer(2 * 1024 * 1024, 2 ** 40, 4 * 1024 * 1024),
  ),
  HEADERS_TIMEOUT_MS: described(
    'Milliseconds within which the head of a request must arrive',
    integer(100, 600_000, 10_000),
  ),
  REQUEST_TIMEOUT_MS: described(
    'Milliseconds within which the whole request must arrive',
    integer(100, 600_000, 30_000),
  ),
  KEEP_ALIVE_TIMEOUT_MS: described(
    'Milliseconds for which the gateway keeps an idle HTTP/1.1 connection',
    integer(0, 600_000, 65_000),
  ),
  DRAIN_TIMEOUT_MS: described(
    'Milliseconds that calls under way may still take once the gateway stops',
    integer(0, 60_000, 8_000),
  ),
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
