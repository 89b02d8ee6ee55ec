import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

/** A policy server as Postfix asks one for each recipient. */
export interface Policy {
  /** The line of main.cf by which Postfix asks it. */
  setting: string
  /** How often Postfix asked for this address. */
  asked(address: string): number
  /** Sets what it answers: an action of access(5), such as `DEFER_IF_PERMIT Greylisted`. Default: `DUNNO`. */
  answer(decide: (address: string, times: number) => string | Promise<string>): void
  stop(): void
}

export async function startPolicy(): Promise<Policy> {
  const times = new Map<string, number>()
  let decide: (address: string, times: number) => string | Promise<string> = () => 'DUNNO'
  const server = createServer((socket) => {
    let text = ''
    socket.on('error', () => {})
    socket.setEncoding('utf8').on('data', async (chunk: string) => {
      text += chunk
      if (!text.endsWith('\n\n')) return
      const address = /^recipient=(.*)$/m.exec(text)?.[1] ?? ''
      text = ''
      times.set(address, (times.get(address) ?? 0) + 1)
      socket.write(`action=${await decide(address, times.get(address)!)}\n\n`)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    setting: `smtpd_recipient_restrictions = check_policy_service inet:127.0.0.1:${port}`,
    asked: (address) => times.get(address) ?? 0,
    answer: (next) => void (decide = next),
    stop: () => void server.close(),
  }
}
