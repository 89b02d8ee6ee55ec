import { randomUUID } from 'node:crypto'
import { mkdir, readFile, readdir, rm, writeFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import PostalMime, { type Address, type Email } from 'postal-mime'

/** One mail as Mailpit's HTTP API shows it. */
export interface Mail {
  ID: string
  MessageID: string
  From: MailAddress
  To: MailAddress[]
  Subject: string
  /** RFC 3339, when it was received. */
  Created: string
  Snippet: string
  Size: number
  Text: string
  HTML: string
  Headers: Record<string, string[]>
}

export interface MailAddress {
  Name: string
  Address: string
}

/** The newest mails, newest first, kept on disk as they came. */
export interface MailStore {
  list(): readonly Mail[]
  find(id: string): Mail | undefined
  /** Keeps a mail; resolves once it is on disk. */
  add(raw: Buffer, recipients: string[]): Promise<Mail>
  clear(): Promise<void>
  /** Resolves once nothing is left to write or remove. */
  flush(): Promise<void>
  /** The newest mail to that address, already there or received from now on. Rejects after `withinMs` (10 000). */
  waitFor(address: string, options?: { withinMs?: number; count?: number }): Promise<Mail>
}

const capacity = 1000

export async function openMailStore(folder: string): Promise<MailStore> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const mails = await load(folder)
  const arrivals = new Set<() => void>()
  let work: Promise<unknown> = Promise.resolve()

  return {
    list: () => mails,
    find: (id) => mails.find((mail) => mail.ID === id),
    add: async (raw, recipients) => {
      const created = new Date().toISOString()
      const id = `${created.replace(/\D/g, '')}-${randomUUID().slice(0, 8)}`
      const mail = await parse(id, created, raw, recipients)
      const content = Buffer.concat([Buffer.from(`X-Envelope-To: ${recipients.join(', ')}\r\n`), raw])
      await writeFile(join(folder, `${id}.new`), content, { mode: 0o600 })
      await rename(join(folder, `${id}.new`), join(folder, `${id}.eml`))
      mails.unshift(mail)
      void discard(mails.splice(capacity))
      for (const arrived of arrivals) arrived()
      return mail
    },
    clear: () => discard(mails.splice(0)),
    flush: async () => void (await work),
    waitFor,
  }

  function discard(removed: Mail[]): Promise<void> {
    const done = work.then(async () => {
      for (const mail of removed) await rm(join(folder, `${mail.ID}.eml`), { force: true })
    })
    work = done
    return done
  }

  function waitFor(address: string, options: { withinMs?: number; count?: number } = {}): Promise<Mail> {
    const { withinMs = 10_000, count = 1 } = options
    return new Promise((resolve, reject) => {
      const end = (finish: () => void) => {
        arrivals.delete(look)
        clearTimeout(timer)
        finish()
      }
      const look = () => {
        const found = mails.filter((mail) => isTo(mail, address))
        if (found[0] && found.length >= count) end(() => resolve(found[0]!))
      }
      const timer = setTimeout(() => end(() => reject(new Error(`No mail to ${address} in ${withinMs} ms.`))), withinMs)
      arrivals.add(look)
      look()
    })
  }
}

/** True when the mail went to that address, in upper or lower case. */
export function isTo(mail: Mail, address: string): boolean {
  return mail.To.some((to) => to.Address.toLowerCase() === address.toLowerCase())
}

async function load(folder: string): Promise<Mail[]> {
  const ids = (await readdir(folder)).filter((file) => file.endsWith('.eml')).map((file) => file.slice(0, -4))
  const newest = ids.toSorted().toReversed().slice(0, capacity)
  return Promise.all(
    newest.map(async (id) => {
      const content = await readFile(join(folder, `${id}.eml`))
      const end = content.indexOf('\r\n')
      const recipients = content.toString('utf8', 'X-Envelope-To: '.length, end).split(', ')
      const created = id.replace(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d{3}).*$/, '$1-$2-$3T$4:$5:$6.$7Z')
      return parse(id, created, content.subarray(end + 2), recipients)
    }),
  )
}

async function parse(id: string, created: string, raw: Buffer, recipients: string[]): Promise<Mail> {
  const email = await PostalMime.parse(raw)
  const named = mailboxes(email.to ?? [])
  const hidden = recipients.filter((to) => !named.some((known) => known.Address.toLowerCase() === to.toLowerCase()))
  const text = email.text ?? ''
  return {
    ID: id,
    MessageID: (email.messageId ?? '').replace(/^<|>$/g, ''),
    From: mailboxes(email.from ? [email.from] : [])[0] ?? { Name: '', Address: '' },
    To: [...named, ...hidden.map((address) => ({ Name: '', Address: address }))],
    Subject: email.subject ?? '',
    Created: created,
    Snippet: text.replace(/\s+/g, ' ').trim().slice(0, 250),
    Size: raw.length,
    Text: text,
    HTML: email.html ?? '',
    Headers: headers(email),
  }
}

function mailboxes(addresses: Address[]): MailAddress[] {
  return addresses
    .flatMap((address) => address.group ?? [address])
    .map(({ name, address }) => ({ Name: name, Address: address }))
}

function headers(email: Email): Record<string, string[]> {
  const grouped: Record<string, string[]> = {}
  for (const { originalKey, value } of email.headers) (grouped[originalKey] ??= []).push(value)
  return grouped
}
