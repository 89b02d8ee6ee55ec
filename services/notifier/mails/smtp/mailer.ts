import type { EmailCode } from '#gen/roster/users/v1/internal_service'
import { inSpan } from '#lib/telemetry/in-span'
import type { Config } from '../../config.ts'
import type { Clock } from '../clock.ts'
import { compose } from '../compose.ts'
import type { Logos } from '../logos.ts'
import { kindOf, type MailName } from '../mail-kinds.ts'
import { providerHeaders } from './provider-headers.ts'
import type { Mails } from '../render.ts'
import { openSmtpPool } from './smtp-pool.ts'
import { writtenAddress, writtenId, writtenLink } from './written.ts'

const connectWithin = 10_000

export interface Mailer {
  /** Whether the mail server lets somebody like us in. Rejects where not. */
  verify(): Promise<unknown>
  /**
   * Resolves once the mail server took the mail, with its reply. Rejects with an error that `readRefusal` reads. Once the
   * server is ready for the mail, asks whether it is still due. If not, keeps it back: false.
   */
  send(kind: MailName, id: string, content: EmailCode, isDue?: () => Promise<boolean>): Promise<string | false>
  /** Ends the connections. Mails under way fail. */
  close(): void
}

/** Sends mails over a few connections that stay open. */
export function openMailer(config: Config, mails: Mails, clock: Clock, logos: Logos): Mailer {
  const from = config.MAIL_FROM
  const pool = openSmtpPool({
    url: config.SMTP_URL,
    // A pod's own host has a name without a dot, for which strict relays refuse a client.
    name: config.ehloName,
    maxConnections: config.MAIL_CONCURRENCY,
    connectionTimeout: connectWithin,
    greetingTimeout: connectWithin,
    dnsTimeout: connectWithin,
    readyWithin: config.SMTP_TIMEOUT * 1000,
    wantsReports: config.returnPaths !== undefined,
  })
  const { hostname, port } = new URL(config.SMTP_URL)
  const attributes = {
    'network.protocol.name': 'smtp',
    'server.address': hostname,
    ...(port && { 'server.port': Number(port) }),
  }
  const span = { name: 'SMTP send', kind: 'client', attributes } as const
  return {
    async send(kind, id, content, isDue) {
      const { email, code, url, displayName, preferredLanguage, expirationDate, changeDate } = content
      const recipient = writtenAddress(email)
      const { shows } = kindOf(kind)
      const { name, brand } = content
      const logo = brand?.logoHash === undefined ? undefined : await logos(brand.logoHash)
      const mail = mails.render(preferredLanguage, {
        kind,
        displayName,
        host: config.host,
        name,
        brand,
        logo,
        ...(shows.includes('code') && { code }),
        ...(shows.includes('url') && { url: writtenLink(url) }),
        ...(shows.includes('validFor') && { validFor: expirationDate!.getTime() - clock.time() }),
        ...(shows.includes('changedAt') && { changedAt: changeDate! }),
        inviter: content.inviter,
        application: content.applicationName,
        domains: content.domains ?? '',
        providers: content.providers,
        message: content.message,
      })
      const headers = providerHeaders(hostname, writtenId(id))
      const raw = compose({ ...mail, from, to: recipient, id: writtenId(id), date: new Date(clock.time()), headers })
      const sender = config.returnPaths?.addressOf(id) ?? from.address
      return inSpan(span, () => pool.send(sender, recipient, raw, isDue))
    },
    verify: () => pool.verify(),
    close: () => pool.close(),
  }
}
