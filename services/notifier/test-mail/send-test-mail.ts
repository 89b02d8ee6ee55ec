import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import SMTPTransport from 'nodemailer/lib/smtp-transport'
import type { SmtpLine, TestMailResponse } from '#gen/roster/notifier/v1/mail_service'
import type { Config } from '../config.ts'
import { compose } from '../mails/compose.ts'
import { dsn } from '../mails/smtp/smtp-pool.ts'
import { readRefusal } from '../mails/smtp/smtp-refusal.ts'
import { openTranscript } from './transcript.ts'

type Sent = Pick<TestMailResponse, 'accepted' | 'error' | 'dialogue'>

/**
 * Sends a mail over a connection of its own, to the mail server of the settings alone, and writes down what the two say.
 * Takes `within` milliseconds at most. `to` is as `writtenAddress` gives it.
 */
export async function sendTestMail(config: Config, to: string, within: number): Promise<Sent> {
  const transcript = openTranscript(config.SMTP_URL)
  const transport = new SMTPTransport({
    url: config.SMTP_URL,
    name: config.ehloName,
    connectionTimeout: within,
    greetingTimeout: within,
    dnsTimeout: within,
    socketTimeout: within,
    logger: transcript.logger,
    transactionLog: true,
  })
  const signal = AbortSignal.timeout(within)
  const { promise, resolve } = Promise.withResolvers<Error | undefined>()
  transport.send(written(config, to, signal), (error) => resolve(error ?? undefined))
  const error = await promise
  transport.close()
  const dialogue: SmtpLine[] = transcript.lines()
  if (!error) return { accepted: true, error: '', dialogue }
  if (signal.aborted)
    return { accepted: false, error: `It was not done within ${Math.round(within / 1000)} s.`, dialogue }
  const { reason, answered } = readRefusal(error)
  // Without a reply, such as for a certificate, the library's own words help.
  return { accepted: false, error: answered ? reason : `${reason}: ${transcript.plain(error.message)}`, dialogue }
}

// As much of nodemailer's message as its transport asks for.
function written({ MAIL_FROM: from, host, returnPaths }: Config, to: string, signal: AbortSignal) {
  const id = randomUUID()
  const subject = `Test mail of ${host}`
  const text = `This mail was sent by an administrator of ${host}, to see whether its mails arrive.\n`
  const raw = compose({
    from,
    to,
    id,
    date: new Date(Date.now()),
    language: 'en',
    subject,
    text,
    html: `<p>${text}</p>\n`,
  })
  const message = {
    // As of any mail. What comes back about it is of no mail that is found.
    getEnvelope: () => ({ from: returnPaths?.addressOf(id) ?? from.address, to: [to] }),
    messageId: () => `<${id}@${from.domain}>`,
    getHeader: () => '',
    createReadStream: () => Readable.from([Buffer.from(raw)]),
  }
  return { data: { signal, ...(returnPaths && { dsn }) }, message } as unknown as Parameters<SMTPTransport['send']>[0]
}
