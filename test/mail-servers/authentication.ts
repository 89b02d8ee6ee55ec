import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

/** Answers Postfix who may log in, by the protocol in which it asks Dovecot. */
export interface Authentication {
  /** The lines of main.cf by which Postfix asks it, and lets in no one else. */
  settings: string[]
  stop(): void
}

/** The user `roster` has the password `secret`. */
export async function startAuthentication(): Promise<Authentication> {
  const server = createServer((socket) => {
    let text = ''
    socket.on('error', () => {})
    socket.write(`VERSION\t1\t1\nMECH\tPLAIN\tplaintext\nSPID\t1\nCUID\t1\nCOOKIE\t${'0'.repeat(32)}\nDONE\n`)
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (text + chunk).split('\n')
      text = lines.pop()!
      for (const line of lines) {
        const [command, id, ...values] = line.split('\t')
        if (command !== 'AUTH') continue
        const response = values.find((value) => value.startsWith('resp='))?.slice('resp='.length) ?? ''
        const isRight = Buffer.from(response, 'base64').toString() === '\0roster\0secret'
        socket.write(`${isRight ? 'OK' : 'FAIL'}\t${id}\tuser=roster\n`)
      }
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    settings: [
      'smtpd_sasl_auth_enable = yes',
      'smtpd_sasl_type = dovecot',
      `smtpd_sasl_path = inet:127.0.0.1:${port}`,
      'smtpd_tls_auth_only = yes',
      'smtpd_recipient_restrictions = permit_sasl_authenticated, reject',
    ],
    stop: () => void server.close(),
  }
}
