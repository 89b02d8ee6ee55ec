import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import { integer, origin, readConfig, type Setting, url } from '#lib/config'
import { checkpointInterval, largestEvent } from '#lib/eventstore/limits'
import { encryptionKey } from '#lib/keys'
import { logLevel } from '#lib/log'
import { callerKey } from '#lib/rpc/caller-keys'
import { destinations } from './webhooks/destination.ts'

/** Reads the service's settings. Throws one Error that lists every problem. */
export function readNotifierConfig(environment?: Record<string, string | undefined>) {
  const config = readConfig(
    {
      DATABASE_URL: url(['postgres', 'postgresql']),
      NATS_URL: url(['nats', 'tls']),
      REDIS_URL: url(['redis', 'rediss']),
      // User and password in the URL. smtp:// uses STARTTLS if the server offers it. With ?requireTLS=true, no mail
      // goes without TLS.
      SMTP_URL: url(['smtp', 'smtps']),
      PUBLIC_URL: origin('http://localhost:8080'),
      // `Name <address>` or a bare address. Default: Roster <no-reply@host of PUBLIC_URL>.
      MAIL_FROM: sender,
      // How many mails may be under way at a time, each over a connection of its own. Half of them at most to one domain,
      // and half of them at most to domains that are not quick.
      MAIL_CONCURRENCY: integer(1, 1000, 20),
      // Seconds until the mail server is ready for a mail. How long it has to accept a whole one is not set: a notifier
      // that gives up too early sends the mail twice.
      SMTP_TIMEOUT: integer(1, 600, 120),
      // Seconds between two looks for unsent codes.
      SWEEP_INTERVAL: integer(1, 3600, 15),
      ROSTER_ENCRYPTION_KEY: encryptionKey,
      ROSTER_CALLER_KEY: callerKey,
      // Seconds after which the notifier gives up an event that a webhook's receiver did not take.
      WEBHOOK_RETRY_FOR: integer(1, 7 * 24 * 3600, 24 * 3600),
      // Seconds that a webhook's receiver has to answer.
      WEBHOOK_TIMEOUT: integer(1, 300, 15),
      // Tries under way at a time. New webhooks, and webhooks that were slow last, get half of them at most.
      WEBHOOK_CONCURRENCY: integer(2, 10_000, 200),
      // One answer lists them all.
      WEBHOOKS_PER_ORGANIZATION: integer(1, 200, 100),
      // Private addresses and networks, such as 10.1.0.0/16. Webhooks may lead to these, also without TLS, and to no
      // other private ones.
      WEBHOOK_ALLOW_PRIVATE: destinations,
      // Bytes of an event in its published form.
      EVENT_MAX_BYTES: largestEvent,
      CHECKPOINT_INTERVAL: checkpointInterval,
      LOG_LEVEL: logLevel,
    },
    environment,
  )
  const host = new URL(config.PUBLIC_URL).host
  return { ...config, host, MAIL_FROM: config.MAIL_FROM ?? defaultSender(config.PUBLIC_URL) }
}

export type Config = ReturnType<typeof readNotifierConfig>

/** The sender of mails. */
export interface Sender {
  name: string
  address: string
  /** The domain of the address. Message ids end with it. */
  domain: string
}

const sender: Setting<Sender | undefined> = {
  default: undefined,
  read(value) {
    const [, name, bracketed, bare] = /^\s*(?:([^<>]*)<([^<>]*)>|([^<>]*))\s*$/.exec(value) ?? []
    const from = senderOf((name ?? '').trim().replace(/^"(.*)"$/, '$1'), (bracketed ?? bare ?? '').trim())
    if (!from) throw new Error('is not a mail address that every mail server takes, nor of the form: Name <address>')
    return from
  },
}

const atom = /[\w!#$%&'*+/=?^`{|}~-]+/.source
const label = /[a-zA-Z\d]([a-zA-Z\d-]*[a-zA-Z\d])?/.source
const localPart = new RegExp(`^${atom}(\\.${atom})*$`)
const hostName = new RegExp(`^${label}(\\.${label})*$`)

/** The sender with its domain in Punycode; undefined where a mail server could refuse the address. */
function senderOf(name: string, given: string): Sender | undefined {
  const [, local = '', domainAsGiven = ''] = /^([^@]+)@([^@]+)$/.exec(given) ?? []
  const [, isIPv6, literal = ''] = /^\[(IPv6:)?(.+)\]$/.exec(domainAsGiven) ?? []
  const isLiteral = isIP(literal) === (isIPv6 ? 6 : 4)
  const domain = isLiteral ? domainAsGiven : domainToASCII(domainAsGiven)
  const address = `${local}@${domain}`
  const isHost = hostName.test(domain) && isIP(domain) === 0
  if (!localPart.test(local) || !(isLiteral || isHost) || address.length > 254) return undefined
  return { name, address, domain }
}

function defaultSender(publicUrl: string): Sender {
  const { hostname } = new URL(publicUrl)
  const domain = /^[\d.]+$/.test(hostname) ? `[${hostname}]` : hostname.replace(/^\[/, '[IPv6:')
  const from = senderOf('Roster', `no-reply@${domain}`)
  if (!from) throw new Error('Configuration: PUBLIC_URL has a host that no mail can come from: set MAIL_FROM.')
  return from
}
