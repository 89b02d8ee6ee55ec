import { setTimeout as sleep } from 'node:timers/promises'
import { inject } from 'vitest'
import { recordSecret } from './clients/encodings.ts'

/** A mail with a verification code. */
export interface CodeMail {
  subject: string
  text: string
  html: string
  code: string
  /** The target of its link; empty where it has none. */
  link: string
}

/** Whether the tests can read the mails of the run. */
export function hasMailbox(): boolean {
  return inject('roster').mailboxUrl !== undefined
}

/** Waits for a mail with a code to an address: the newest, or the n-th by `count`. `url`: of another mailbox. */
export async function mailTo(address: string, count = 1, url = inject('roster').mailboxUrl): Promise<CodeMail> {
  const end = Date.now() + 20_000
  for (;;) {
    const mails = (await mailsTo(address, url)).filter(({ text }) => codePattern.test(text))
    if (mails.length >= count) return readCode(mails[0]!)
    if (Date.now() > end) throw new Error(`there are ${mails.length} mails to ${address}, not ${count}`)
    await sleep(50)
  }
}

/** Waits for a mail that has no code: a notice. */
export async function noticeTo(address: string): Promise<PlainMail> {
  const end = Date.now() + 20_000
  for (;;) {
    const found = (await mailsTo(address)).find(({ text }) => !codePattern.test(text))
    if (found) return found
    if (Date.now() > end) throw new Error(`there is no notice to ${address}`)
    await sleep(50)
  }
}

/** The first link of a mail. */
export function linkTo(text: string): string {
  return /https?:\/\/\S+/.exec(text)![0]
}

export async function mailCount(address: string): Promise<number> {
  return (await mailsTo(address)).length
}

/** How many of them have a code. */
export async function codeCount(address: string): Promise<number> {
  return (await mailsTo(address)).filter(({ text }) => codePattern.test(text)).length
}

interface PlainMail {
  subject: string
  text: string
  html: string
}

// Newest first. Uses Mailpit's API, or maildev's where the mailbox does not know Mailpit's.
export async function mailsTo(address: string, url = inject('roster').mailboxUrl): Promise<PlainMail[]> {
  const found = await get(`/api/v1/search?query=${encodeURIComponent(`to:"${address}"`)}`, url)
  if (!found) return maildevMailsTo(address)
  const mails: PlainMail[] = []
  for (const { ID } of found.messages) {
    const mail = await get(`/api/v1/message/${ID}`, url)
    mails.push({ subject: mail.Subject, text: mail.Text, html: mail.HTML })
  }
  return mails
}

async function maildevMailsTo(address: string): Promise<PlainMail[]> {
  const all: any[] = (await get('/email')) ?? []
  return all
    .filter(({ to }) => to.some((one: any) => one.address.toLowerCase() === address.toLowerCase()))
    .toSorted((a, b) => Date.parse(b.time) - Date.parse(a.time))
    .map(({ subject, text, html }) => ({ subject, text, html }))
}

async function get(path: string, url = inject('roster').mailboxUrl): Promise<any> {
  const response = await fetch(url + path)
  if (response.status === 404) return undefined
  if (!response.ok) throw new Error(`the mailbox answers ${response.status} to ${path}`)
  return response.json()
}

const codePattern = /\b[2-9A-HJ-NP-Z]{6}\b/

function readCode(mail: PlainMail): CodeMail {
  const code = codePattern.exec(mail.text)?.[0]
  const link = /https?:\/\/\S+/.exec(mail.text)?.[0] ?? ''
  if (!code) throw new Error(`a mail without code: ${mail.text}`)
  recordSecret(code)
  return { ...mail, code, link }
}
