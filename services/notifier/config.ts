import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import { publicUrl } from '#lib/config/common-settings'
import { described, integer, oneOf, readConfig, type Setting } from '#lib/config/read-config'
import { privateDestinations } from '#lib/outbound/destinations'
import { nameServers } from '#lib/outbound/name-servers'
import { storingSettings } from '#lib/storing-settings'
import { bounceAddress, mailbox } from './bounce-settings.ts'
import { openReturnPaths } from './return-path.ts'
import { ehloName, smtpUrl } from './smtp-url.ts'
import { redisUrl } from './redis.ts'

/** Reads the service's settings. Throws one Error that lists every problem. */
export function readNotifierConfig(environment?: Record<string, string | undefined>) {
  const config = readConfig(settings, environment)
  const host = new URL(config.PUBLIC_URL).host
  const own = defaultSender(config.PUBLIC_URL)
  const from = config.MAIL_FROM ?? own
  if (!from) throw new Error('Configuration: PUBLIC_URL has a host that no mail can come from: set MAIL_FROM.')
  const { MAIL_BOUNCES_ADDRESS: address, MAIL_BOUNCES_IMAP: box } = config
  if ((address === undefined) !== (box === undefined))
    throw new Error('Configuration: MAIL_BOUNCES_IMAP and MAIL_BOUNCES_ADDRESS need each other: set both, or none.')
  const returnPaths = address === undefined ? undefined : openReturnPaths(address, config.ROSTER_ENCRYPTION_KEY)
  return { ...config, host, returnPaths, MAIL_FROM: from, ehloName: ehloName(config.SMTP_URL) ?? (own ?? from).domain }
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
  accepts: '`Name <address>` or an address',
  read(value) {
    const [, name, bracketed, bare] = /^\s*(?:([^<>]*)<([^<>]*)>|([^<>]*))\s*$/.exec(value) ?? []
    const from = senderOf((name ?? '').trim().replace(/^"(.*)"$/, '$1'), (bracketed ?? bare ?? '').trim())
    if (!from) throw new Error('is not a mail address that every mail server takes, nor of the form: Name <address>')
    return from
  },
}

const selector: Setting<string | undefined> = {
  default: undefined,
  accepts: 'a name, such as `mail2026`',
  read(text) {
    if (text.length > 100 || !/^[a-zA-Z\d]([\w-]*[a-zA-Z\d])?(\.[a-zA-Z\d]([\w-]*[a-zA-Z\d])?)*$/.test(text))
      throw new Error('is not the name of a selector')
    return text
  },
}

export const settings = {
  ...storingSettings,
  REDIS_URL: described('Redis, or [its Sentinels](operations.md#several-servers) and the name of the master', redisUrl),
  SMTP_URL: described(
    'The mail server, with user and password, and [options](#options-of-smtp_url). `smtp://` uses STARTTLS if the server offers it; with `?requireTLS=true`, no mail goes without TLS',
    smtpUrl,
  ),
  PUBLIC_URL: publicUrl,
  ROSTER_DRILL: described(
    '`1`: a [restored copy](backup.md#the-monthly-drill) on trial. It sends no mail and nothing to a webhook: all of it waits, until the notifier starts without it. `/readyz` has `"drill":true`',
    oneOf(['0', '1'], '0'),
  ),
  MAIL_FROM: described('The sender of mails. Without it: `Roster <no-reply@…>` at the host of `PUBLIC_URL`', sender),
  MAIL_DKIM_SELECTOR: described(
    'The selector with which your mail server signs (DKIM). [TestMail](operations.md#a-test-mail) looks whether its key is published; the notifier signs nothing itself',
    selector,
  ),
  MAIL_DNS_SERVERS: described(
    "The name servers that [TestMail](operations.md#a-test-mail) asks about the sender's domain, separated by commas. Without it: those of the machine",
    nameServers,
  ),
  MAIL_BOUNCES_IMAP: described(
    'The mailbox to which reports about mails that did not arrive [come back](operations.md#mails-that-bounce), for them alone. Together with `MAIL_BOUNCES_ADDRESS`',
    mailbox,
  ),
  MAIL_BOUNCES_ADDRESS: described(
    'The addresses of that mailbox. Each mail then has one of its own as its envelope sender (Return-Path), with its id and a MAC in place of the `*`',
    bounceAddress((text) => senderOf('', text) !== undefined),
  ),
  MAIL_BOUNCES_INTERVAL: described('Seconds between two looks into that mailbox', integer(1, 3600, 60)),
  MAIL_CONCURRENCY: described(
    'The most mails under way at a time, each over a connection of its own. [Slow domains](limits.md#mails-under-way) get a part of them',
    integer(1, 1000, 20),
  ),
  SMTP_TIMEOUT: described(
    'Seconds until the mail server is ready for a mail. To accept a whole mail it has ten minutes, because a notifier that gives up too early sends the mail twice',
    integer(1, 600, 120),
  ),
  SWEEP_INTERVAL: described(
    'Seconds between two searches for mails and webhook deliveries that no job in Redis stands for',
    integer(1, 3600, 15),
  ),
  WEBHOOK_RETRY_FOR: described(
    "Seconds after which Roster gives up an event that a webhook's receiver did not accept",
    integer(1, 7 * 24 * 3600, 24 * 3600),
  ),
  WEBHOOK_TIMEOUT: described("Seconds that a webhook's receiver has to answer", integer(1, 300, 15)),
  WEBHOOK_CONCURRENCY: described(
    'The most webhook requests under way at a time. New webhooks and slow ones get half of them',
    integer(2, 10_000, 200),
  ),
  // One answer lists them all.
  WEBHOOKS_PER_ORGANIZATION: described(
    'The most webhooks of an organization, and of the instance',
    integer(1, 200, 100),
  ),
  WEBHOOK_ALLOW_PRIVATE: privateDestinations,
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

function defaultSender(publicUrl: string): Sender | undefined {
  const { hostname } = new URL(publicUrl)
  const domain = /^[\d.]+$/.test(hostname) ? `[${hostname}]` : hostname.replace(/^\[/, '[IPv6:')
  return senderOf('Roster', `no-reply@${domain}`)
}
