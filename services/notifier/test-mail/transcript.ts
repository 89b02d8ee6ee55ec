import type { SmtpLine } from '#gen/roster/notifier/v1/mail_service'

const [mostLines, longest] = [200, 500]

/** Writes down what nodemailer logs of a connection, without the user and the password of the mail server's URL. */
export function openTranscript(smtpUrl: string) {
  const began = performance.now()
  const said: SmtpLine[] = []
  const { user, secrets } = secretsOf(smtpUrl)
  let signsIn = false

  const written = (text: string) =>
    text
      .replace(/[^\x20-\x7e]+/g, ' ')
      .trim()
      .slice(0, longest)
  const plain = (text: string) =>
    written([...secrets, ...user].reduce((masked, secret) => masked.replaceAll(secret, '[hidden]'), text))

  function note(fromServer: boolean, text: string) {
    const milliseconds = Math.round(performance.now() - began)
    if (said.length < mostLines) said.push({ fromServer, text, milliseconds })
  }

  function debug({ tnx }: { tnx?: string }, text: unknown) {
    if (typeof text !== 'string') return
    if (tnx === 'server') {
      for (const line of text.split(/\r?\n/)) note(true, plain(line))
      // Until then, it asks for more of user and password.
      if (!text.startsWith('334')) signsIn = false
    } else if (tnx === 'client') {
      const method = /^AUTH \S+/i.exec(text)?.[0]
      signsIn ||= method !== undefined
      note(false, signsIn ? `${method ?? ''} [hidden]`.trim() : written(text))
    }
  }

  const ignore = () => {}
  return {
    /** For nodemailer, with `transactionLog`. */
    logger: { level: ignore, trace: ignore, debug, info: ignore, warn: ignore, error: ignore, fatal: ignore },
    lines: () => said,
    /** A text of the library, without user and password. */
    plain,
  }
}

function secretsOf(smtpUrl: string) {
  const { username, password } = new URL(smtpUrl)
  const [user, pass] = [decodeURIComponent(username), decodeURIComponent(password)]
  const spellings = (text: string) =>
    text === '' ? [] : [text, Buffer.from(text).toString('base64')].filter(({ length }) => length > 2)
  return { user: spellings(user), secrets: [...spellings(pass), ...spellings(`\0${user}\0${pass}`)] }
}
