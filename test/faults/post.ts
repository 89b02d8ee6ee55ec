import { setTimeout as sleep } from 'node:timers/promises'
import type { Mailbox } from '../../deploy/local/mailbox/mailbox.ts'
import type { Inspection } from './inspect.ts'

/** Every mail of a run, read during the run, because the mailbox keeps only the newest. */
export interface Post {
  /** The codes mailed to each address, including repetitions. */
  codes: Map<string, string[]>
  /** Waits for the last mails. Returns the faults by address. */
  check(inspection: Inspection, url: string): Promise<Map<string, string>>
  stop(): void
}

const mailedWithin = 90_000
const mostVerified = 200

export function collectPost({ mails }: Mailbox): Post {
  const codes = new Map<string, string[]>()
  const timer = setInterval(collect, 200)

  function collect() {
    for (const mail of mails.list()) {
      const code = /code=([A-Z0-9]{6})/.exec(mail.Text)?.[1] ?? 'none'
      for (const { Address } of mail.To) codes.set(Address, [...(codes.get(Address) ?? []), code])
    }
    void mails.clear()
  }

  return {
    codes,
    stop: () => clearInterval(timer),
    async check(inspection, url) {
      const wrong = new Map<string, string>()
      const awaited = await inspection.awaited()
      const missing = () => awaited.filter(({ email }) => !codes.has(email))
      for (const end = Date.now() + mailedWithin; missing().length > 0 && Date.now() < end;) await sleep(200)
      for (const { email } of missing()) wrong.set(email, `the living code of ${email} was not mailed`)
      for (const [email, all] of codes)
        if (new Set(all).size > 1 || all.includes('none')) wrong.set(email, `${email} was mailed ${all.join(', ')}`)
      for (const { userId, email } of awaited.slice(-mostVerified)) {
        const code = codes.get(email)?.[0]
        if (code !== undefined && !(await verifies(url, userId, code))) wrong.set(email, `${email}: its code is dead`)
      }
      return wrong
    },
  }
}

async function verifies(url: string, userId: string, verificationCode: string): Promise<boolean> {
  const { status } = await fetch(`${url}/v2/users/${userId}/email/verify`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ verificationCode }),
  })
  return status === 200
}
