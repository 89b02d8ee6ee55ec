import { type Setting, url } from '#lib/config/read-config'

const flag = /^(true|false|1|0)$/
const whole = /^[1-9]\d{0,8}$/
const word = /^[\x21-\x7e]+$/

/** The options that `SMTP_URL` may have, each with its texts. docs/settings.md lists them. */
export const smtpOptions: Record<string, RegExp> = {
  name: /^[\w.:[\]-]+$/,
  requireTLS: flag,
  ignoreTLS: flag,
  opportunisticTLS: flag,
  authMethod: /^(PLAIN|LOGIN|CRAM-MD5)$/i,
  localAddress: /^[\da-f.:]+$/i,
  maxMessages: whole,
  rateLimit: whole,
  rateDelta: whole,
  pool: /^(true|1)$/,
  'tls.rejectUnauthorized': flag,
  'tls.servername': word,
  'tls.minVersion': /^TLSv1(\.[123])?$/,
  'tls.ciphers': word,
}

const { read, ...rest } = url(['smtp', 'smtps'])

/**
 * `SMTP_URL`. Refuses an option that there is not, or a value that it does not have: nodemailer passes over most of
 * these, and one that is meant to demand TLS would do nothing.
 */
export const smtpUrl: Setting<string> = {
  ...rest,
  read(text) {
    const options = new URL(read(text)).searchParams
    // No message shows what stands there: it may be a part of a password with a question mark in it.
    for (const [name, value] of options) {
      if (!Object.hasOwn(smtpOptions, name))
        throw new Error(`has an option that is none of ${Object.keys(smtpOptions).join(', ')}`)
      if (options.getAll(name).length > 1) throw new Error(`has the option ${name} twice`)
      if (!smtpOptions[name]!.test(value)) throw new Error(`has an option ${name} with a value that it cannot have`)
    }
    const isOn = (name: string) => /^(true|1)$/.test(options.get(name) ?? '')
    if (isOn('requireTLS') && (isOn('ignoreTLS') || isOn('opportunisticTLS')))
      throw new Error('has options that demand TLS and do without it')
    return text
  },
}

/** The name that an `SMTP_URL` gives to the notifier, if it gives one. */
export function ehloName(url: string): string | undefined {
  return new URL(url).searchParams.get('name') ?? undefined
}
