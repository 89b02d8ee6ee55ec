import { ImapFlow } from 'imapflow'
import { withTimeout } from '#lib/with-timeout'
import type { Mailbox } from '../bounce-settings.ts'

/** The most messages of a look, and the most bytes of each that are read: a report comes before the mail that it has. */
const [mostMessages, mostBytes] = [100, 256 * 1024]
const connectWithin = 10_000
const answerWithin = 30_000
/** Milliseconds of a whole look. */
const lookWithin = 5 * 60_000

/** What becomes of a message that was read. */
export type Fate = 'deleted' | 'seen'

/**
 * Hands the unseen messages of the mailbox over, oldest first, and does with each what the answer says. Returns whether there
 * may be more. A message whose handling rejects stays as it is, and ends the look.
 */
export async function readMailbox(
  { host, port, secure, user, pass, folder }: Mailbox,
  stopped: AbortSignal,
  take: (raw: Buffer) => Promise<Fate>,
): Promise<boolean> {
  const client = new ImapFlow({
    host,
    port,
    secure,
    ...(!secure && { doSTARTTLS: true }),
    auth: { user, pass },
    logger: false,
    disableAutoIdle: true,
    connectionTimeout: connectWithin,
    greetingTimeout: connectWithin,
    socketTimeout: answerWithin,
    maxLiteralSize: 2 * mostBytes,
  })
  // An error also rejects whatever waits for an answer.
  client.on('error', () => {})
  const within = AbortSignal.any([stopped, AbortSignal.timeout(lookWithin)])
  const cut = () => client.close()
  within.addEventListener('abort', cut, { once: true })
  try {
    await withTimeout(client.connect(), {
      timeout: 3 * connectWithin,
      late: () => new Error('it did not answer in time'),
    })
    await client.mailboxOpen(folder)
    const unseen = (await client.search({ seen: false, deleted: false }, { uid: true })) || []
    const uids = unseen.toSorted((one, other) => one - other).slice(0, mostMessages)
    for (const uid of uids) {
      const message = await client.fetchOne(uid, { source: { maxLength: mostBytes } }, { uid: true })
      // Somebody else may have deleted it.
      if (!message || !message.source) continue
      const fate = await take(message.source)
      if (fate === 'deleted') await client.messageDelete(uid, { uid: true })
      else await client.messageFlagsAdd(uid, ['\\Seen'], { uid: true })
    }
    await client.logout().catch(() => {})
    return unseen.length > uids.length
  } catch (error) {
    throw new Error(why(error), { cause: error })
  } finally {
    within.removeEventListener('abort', cut)
    client.close()
  }
}

interface ImapError {
  message: string
  code?: string
  authenticationFailed?: boolean
  responseText?: string
}

function why(error: unknown): string {
  const { message, code, authenticationFailed, responseText } = error as ImapError
  if (authenticationFailed) return 'the mailbox refuses the user and the password'
  return (responseText ?? code ?? message).replace(/[^\x20-\x7e]+/g, ' ').slice(0, 200)
}
