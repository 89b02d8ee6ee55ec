import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { newAddress, openHouse, type TestHouse } from '../../services/notifier/testing/test-house.ts'
import { exim } from './exim.ts'
import { type MailServer, startMailServer, unpackMailServer } from './mail-servers.ts'
import { opensmtpd } from './opensmtpd.ts'
import { type Policy, startPolicy } from './policy.ts'
import { postfix } from './postfix.ts'

const soon = { timeout: 120_000, interval: 50 }
const trusted = getCACertificates('default')
let house: TestHouse

beforeAll(async () => {
  house = await openHouse()
  await house.startUsers()
})
afterAll(() => house?.stop())
afterEach(() => house.stopNotifiers())

const ended = (userId: string, end: string) =>
  vi.waitFor(async () => expect((await house.codeEvents(userId)).at(-1)).toBe(end), soon)
const arrived = (email: string) => vi.waitFor(() => expect(house.mail.mailsTo(email)).toHaveLength(1), soon)

/** Mails to many addresses, more at once than the server lets in. Each arrives once. */
async function mailMany(domain = 'example.com') {
  const people = await Promise.all(
    Array.from({ length: 60 }, (_, n) => house.addHuman({}, `${randomUUID()}@${domain}`, `org-${n % 7}`)),
  )
  for (const { userId } of people) await ended(userId, 'sent')
  for (const { email } of people) await arrived(email)
}

describe.each([
  { kind: postfix, login: '', more: ['smtpd_client_connection_count_limit = 3'] },
  { kind: exim, login: 'roster:secret@', more: ['smtp_accept_max_per_host = 3'] },
  { kind: opensmtpd, login: '', more: [] },
])('$kind.name', ({ kind, login, more }) => {
  const folder = unpackMailServer(kind)
  const why = folder ? '' : ' (skipped: its packages and a mount namespace cannot be had)'
  let server: MailServer

  beforeAll(async () => {
    if (!folder) return
    server = await startMailServer(kind, folder, Number(new URL(house.mail.url).port), more)
    setDefaultCACertificates([...trusted, server.ca])
  })
  afterAll(() => server?.stop())

  test.skipIf(!folder)(`60 mails at once arrive once each, over STARTTLS${why}`, async () => {
    await house.startNotifier({ SMTP_URL: `smtp://${login}localhost:${server.port}?requireTLS=true` })
    await mailMany()
  })

  test.skipIf(!folder || !login)(
    `a wrong password loses no mail: it arrives once the password is right${folder ? (login ? '' : ' (skipped: no login)') : why}`,
    async () => {
      await house.startNotifier({ SMTP_URL: `smtp://roster:wrong@localhost:${server.port}?requireTLS=true` })
      const { userId, email } = await house.addHuman()
      await vi.waitFor(() => expect(house.logged()).toContain('the mail server refused our user and password'), soon)
      expect(house.logged()).toContain('the mail server takes no mail from us: see SMTP_URL, MAIL_FROM')
      await house.stopNotifiers()
      await house.startNotifier({ SMTP_URL: `smtp://${login}localhost:${server.port}?requireTLS=true` })
      await ended(userId, 'sent')
      await arrived(email)
    },
  )
})

const postfixFolder = unpackMailServer(postfix)
const noPostfix = postfixFolder ? '' : ' (skipped: Postfix cannot be had)'

describe.skipIf(!postfixFolder)(`Postfix with a policy${noPostfix}`, () => {
  let server: MailServer
  let policy: Policy
  let url: string

  beforeAll(async () => {
    policy = await startPolicy()
    const more = [policy.setting, 'smtputf8_enable = no']
    server = await startMailServer(postfix, postfixFolder!, Number(new URL(house.mail.url).port), more)
    setDefaultCACertificates([...trusted, server.ca])
    url = `smtp://localhost:${server.port}`
  })
  afterAll(async () => {
    await server?.stop()
    policy?.stop()
  })
  afterEach(() => policy.answer(() => 'DUNNO'))

  test('greylisting delays a mail, and it arrives once', async () => {
    policy.answer((_, times) => (times < 3 ? 'DEFER_IF_PERMIT Greylisted' : 'DUNNO'))
    await house.startNotifier({ SMTP_URL: url })
    const { userId, email } = await house.addHuman()
    await ended(userId, 'sent')
    await arrived(email)
    expect(policy.asked(email)).toBe(3)
  })

  test('a code that was superseded while it was greylisted never arrives', async () => {
    const [old, next] = [newAddress(), newAddress()]
    let open = false
    policy.answer((address) => (address === old && !open ? 'DEFER_IF_PERMIT Greylisted' : 'DUNNO'))
    await house.startNotifier({ SMTP_URL: url })
    const { userId } = await house.addHuman({}, old)
    await vi.waitFor(() => expect(policy.asked(old)).toBeGreaterThan(0), soon)
    await house.setEmail(userId, next)
    open = true
    await arrived(next)
    await vi.waitFor(async () => expect(await house.jobs()).toEqual([]), soon)
    expect(house.mail.mailsTo(old)).toEqual([])
  })

  test('an address that is refused for good fails, and its delivery says why', async () => {
    policy.answer(() => 'REJECT 5.1.1 no such user')
    await house.startNotifier({ SMTP_URL: url })
    const { userId } = await house.addHuman()
    await ended(userId, 'failed: SMTP 554 5.7.1: the mail server refused the address.')
  })

  test('a domain whose answers are slow delays no other', async () => {
    const held = Promise.withResolvers<string>()
    policy.answer((address) => (address.endsWith('@slow.example') ? held.promise : 'DUNNO'))
    await house.startNotifier({ SMTP_URL: url, MAIL_CONCURRENCY: '8' })
    const slow = await Promise.all(Array.from({ length: 20 }, () => house.addHuman({}, `${randomUUID()}@slow.example`)))
    await vi.waitFor(() => expect(slow.some(({ email }) => policy.asked(email) > 0)).toBe(true), soon)
    await mailMany()
    for (const { email } of slow) expect(house.mail.mailsTo(email)).toEqual([])
    held.resolve('DUNNO')
    for (const { email } of slow) await arrived(email)
  })

  test('a server without SMTPUTF8 fails a mail to a Unicode local part, and its delivery says why', async () => {
    await house.startNotifier({ SMTP_URL: url })
    const { userId } = await house.addHuman({}, `jürgen-${randomUUID()}@example.com`)
    await vi.waitFor(async () => expect((await house.codeEvents(userId)).at(-1)).toMatch(/^failed: /), soon)
    expect((await house.codeEvents(userId)).at(-1)).toBe('?')
  })
})

test('a server that cuts the connection after the final dot gets the same mail again, by one Message-ID', async () => {
  const ids: string[] = []
  const server = createServer((socket) => {
    let text = ''
    let inData = false
    socket.on('error', () => {}).write('220 localhost\r\n')
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      if (inData) {
        if (!text.endsWith('\r\n.\r\n')) return
        ids.push(/^message-id: (.*)$/im.exec(text)![1]!)
        if (ids.length < 3) return void socket.destroy()
        inData = false
        text = ''
        return void socket.write('250 taken\r\n')
      }
      if (!text.endsWith('\r\n')) return
      const command = text.slice(0, 4).toUpperCase()
      text = ''
      inData = command === 'DATA'
      socket.write(inData ? '354 go\r\n' : command === 'QUIT' ? '221 bye\r\n' : '250 localhost\r\n')
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  await house.startNotifier({ SMTP_URL: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}` })
  const { userId } = await house.addHuman()
  await ended(userId, 'sent')
  expect(ids).toHaveLength(3)
  expect(new Set(ids).size).toBe(1)
  server.close()
})
