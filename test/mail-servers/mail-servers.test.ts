import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { newAddress, openHouse, type TestHouse } from '../../services/notifier/testing/test-house.ts'
import { type Authentication, startAuthentication } from './authentication.ts'
import { exim } from './exim.ts'
import { type MailServer, startMailServer, unpackMailServer } from './mail-servers.ts'
import { type OddServer, startOddServer } from './odd-server.ts'
import { opensmtpd } from './opensmtpd.ts'
import { type Policy, startPolicy } from './policy.ts'
import { postfix } from './postfix.ts'

const soon = { timeout: 120_000, interval: 50 }
const trusted = getCACertificates('default')
const unpacked = new Map([postfix, exim, opensmtpd].map((kind) => [kind, unpackMailServer(kind)]))
let house: TestHouse

beforeAll(async () => {
  house = await openHouse()
  await house.startUsers()
})
afterAll(async () => {
  await house?.stop()
  for (const folder of unpacked.values()) if (folder) rmSync(folder, { recursive: true })
})
afterEach(() => house.stopNotifiers())

const ended = (userId: string, end: string) =>
  vi.waitFor(async () => expect((await house.codeEvents(userId)).at(-1)).toBe(end), soon)
const arrived = (email: string) => vi.waitFor(() => expect(house.mail.mailsTo(email)).toHaveLength(1), soon)
const noJobs = () => vi.waitFor(async () => expect(await house.jobs()).toEqual([]), soon)
const addMany = (count: number, domain: string) =>
  Promise.all(Array.from({ length: count }, (_, n) => house.addHuman({}, `${randomUUID()}@${domain}`, `org-${n % 7}`)))

/** Starts the server, whose next one is the mailbox. */
async function start(kind: typeof postfix, more: string[]): Promise<MailServer> {
  const server = await startMailServer(kind, unpacked.get(kind)!, Number(new URL(house.mail.url).port), more)
  setDefaultCACertificates([...trusted, server.ca])
  return server
}

function why(kind: typeof postfix): string {
  return unpacked.get(kind) ? '' : ` (skipped: ${kind.name} cannot be had: it takes packages of Debian, and root)`
}

const login = { login: 'roster:secret@', query: '?requireTLS=true', way: ', over STARTTLS and with AUTH' }
const plain = { login: '', query: '', way: '' }

describe.each([
  { kind: postfix, ...login, more: ['smtpd_client_connection_count_limit = 3'] },
  { kind: exim, ...login, more: ['smtp_accept_max_per_host = 3', 'smtp_accept_max_per_connection = 4'] },
  { kind: opensmtpd, ...plain, more: ['smtp limit max-mails 4'] },
])('$kind.name', ({ kind, more, login, query, way }) => {
  const here = test.skipIf(!unpacked.get(kind))
  let authentication: Authentication
  let server: MailServer
  let url: string

  beforeAll(async () => {
    if (!unpacked.get(kind)) return
    authentication = await startAuthentication()
    server = await start(kind, kind === postfix ? [...more, ...authentication.settings] : more)
    url = `smtp://${login}localhost:${server.port}${query}`
  })
  afterAll(async () => {
    await server?.stop()
    authentication?.stop()
  })

  here(`40 mails at once${way} arrive once each in spite of its limits${why(kind)}`, async () => {
    await house.startNotifier({ SMTP_URL: url })
    const people = await addMany(40, 'example.com')
    for (const { userId } of people) await ended(userId, 'sent')
    for (const { email } of people) await arrived(email)
    await noJobs()
    for (const { email } of people) expect(house.mail.mailsTo(email)).toHaveLength(1)
  })

  const withLogin = login ? '' : ' (skipped: this one runs without TLS, and so without AUTH)'
  test.skipIf(!unpacked.get(kind) || !login)(
    `a wrong password loses no mail: it arrives once the password is right${why(kind) || withLogin}`,
    async () => {
      const before = house.logged().length
      await house.startNotifier({ SMTP_URL: url.replace('secret', 'wrong') })
      const { userId, email } = await house.addHuman()
      const log = () => house.logged().slice(before)
      await vi.waitFor(() => expect(log()).toContain('the mail server takes no mail from us: see SMTP_URL'), soon)
      expect(log()).toMatch(/SMTP 535( 5\.7\.8)?: the mail server refused our user and password/)
      await house.stopNotifiers()
      await house.startNotifier({ SMTP_URL: url })
      await ended(userId, 'sent')
      await arrived(email)
    },
  )
})

describe('Postfix with a policy', () => {
  const here = test.skipIf(!unpacked.get(postfix))
  let server: MailServer
  let policy: Policy
  let url: string

  beforeAll(async () => {
    if (!unpacked.get(postfix)) return
    policy = await startPolicy()
    // It ends a connection over which it refused so many addresses.
    server = await start(postfix, [policy.setting, 'smtputf8_enable = no', 'smtpd_hard_error_limit = 3'])
    url = `smtp://localhost:${server.port}`
  })
  afterAll(async () => {
    await server?.stop()
    policy?.stop()
  })
  afterEach(() => policy?.answer(() => 'DUNNO'))

  here(`greylisting delays mails, and they arrive once${why(postfix)}`, async () => {
    policy.answer((_, times) => (times < 3 ? 'DEFER_IF_PERMIT Greylisted' : 'DUNNO'))
    await house.startNotifier({ SMTP_URL: url })
    const people = await addMany(10, 'example.com')
    for (const { userId } of people) await ended(userId, 'sent')
    for (const { email } of people) await arrived(email)
    for (const { email } of people) expect(policy.asked(email)).toBe(3)
  })

  here(`a code that was superseded while it was greylisted never arrives${why(postfix)}`, async () => {
    const [old, next] = [newAddress(), newAddress()]
    let open = false
    policy.answer((address) => (address === old && !open ? 'DEFER_IF_PERMIT Greylisted' : 'DUNNO'))
    await house.startNotifier({ SMTP_URL: url })
    const { userId } = await house.addHuman({}, old)
    await vi.waitFor(() => expect(policy.asked(old)).toBeGreaterThan(0), soon)
    await house.setEmail(userId, next)
    open = true
    await arrived(next)
    await noJobs()
    expect(house.mail.mailsTo(old)).toEqual([])
  })

  here(`a mail that is greylisted until its time is over fails, and its delivery says why${why(postfix)}`, async () => {
    policy.answer(() => 'DEFER_IF_PERMIT Greylisted')
    await house.startNotifier({ SMTP_URL: url })
    const { userId, email } = await house.addHuman()
    await vi.waitFor(() => expect(policy.asked(email)).toBeGreaterThan(0), soon)
    // As long as the link of an invitation lives.
    await house.shiftClock('7 days')
    onTestFinished(() => house.shiftClock('0'))
    const failure =
      'Its time was over before the mail server took the mail. The last try: SMTP 450 4.7.1: the mail server refused the address.'
    await ended(userId, `failed: ${failure}`)
  })

  here(`an address that is refused for good fails, and its delivery says why${why(postfix)}`, async () => {
    policy.answer(() => 'REJECT 5.1.1 no such user')
    await house.startNotifier({ SMTP_URL: url })
    const { userId } = await house.addHuman()
    await ended(userId, 'failed: SMTP 554 5.1.1: the mail server refused the address.')
  })

  here(`a domain whose answers are slow delays no other${why(postfix)}`, async () => {
    const held = Promise.withResolvers<string>()
    policy.answer((address) => (address.endsWith('@slow.example') ? held.promise : 'DUNNO'))
    await house.startNotifier({ SMTP_URL: url, MAIL_CONCURRENCY: '8' })
    const slow = await addMany(20, 'slow.example')
    await vi.waitFor(() => expect(slow.some(({ email }) => policy.asked(email) > 0)).toBe(true), soon)
    const others = await addMany(40, 'example.com')
    for (const { email } of others) await arrived(email)
    for (const { email } of slow) expect(house.mail.mailsTo(email)).toEqual([])
    held.resolve('DUNNO')
    for (const { email } of slow) await arrived(email)
  })

  here(`no address needs SMTPUTF8, which this server refuses${why(postfix)}`, async () => {
    await house.startNotifier({ SMTP_URL: url })
    const local = randomUUID()
    await house.addHuman({ firstName: 'Jürgen', lastName: 'Grün' }, `${local}@bücher.example`)
    // The mailbox shows the domain in Unicode again.
    await arrived(`${local}@bücher.example`)
    expect(policy.asked(`${local}@xn--bcher-kva.example`)).toBe(1)
    // It would fail at every server without SMTPUTF8, so it is refused to whoever enters it.
    await expect(house.addHuman({}, `jürgen-${local}@example.com`)).rejects.toMatchObject({
      violations: [{ field: 'email.email', description: 'must be one address, such as ada@example.com' }],
    })
  })
})

describe('a server that', () => {
  let server: OddServer
  beforeAll(async () => void (server = await startOddServer()))
  afterEach(() => server.at(() => undefined))
  afterAll(() => server?.stop())
  const gotBy = (email: string) => server.got.filter(({ address }) => address === email)

  test('cuts the connection after the final dot gets the same mail again, by one Message-ID', async () => {
    const { promise: cut, resolve } = Promise.withResolvers<void>()
    const email = newAddress()
    server.at((moment) => {
      if (moment !== 'mail' || gotBy(email).length > 2) return undefined
      resolve()
      return 'cut'
    })
    await house.startNotifier({ SMTP_URL: server.url })
    const { userId } = await house.addHuman({}, email)
    await cut
    await ended(userId, 'sent')
    expect(gotBy(email)).toHaveLength(3)
    expect(new Set(gotBy(email).map(({ id }) => id)).size).toBe(1)
  })

  test('cuts the connection after the final dot gets no dead code after a newer one', async () => {
    const [old, next] = [newAddress(), newAddress()]
    server.at((moment, address) => (moment === 'mail' && address === old ? 'cut' : undefined))
    await house.startNotifier({ SMTP_URL: server.url })
    const { userId } = await house.addHuman({}, old)
    await vi.waitFor(() => expect(gotBy(old).length).toBeGreaterThan(0), soon)
    await house.setEmail(userId, next)
    await vi.waitFor(() => expect(gotBy(next)).toHaveLength(1), soon)
    await noJobs()
    expect(server.got.at(-1)!.address).toBe(next)
  })

  test('is ready for a mail only after its code died gets the newer ones, and not that', async () => {
    const held = Promise.withResolvers<undefined>()
    const old = newAddress()
    const asked = vi.fn(() => held.promise)
    server.at((moment, address) => (moment === 'DATA' && address === old ? asked() : undefined))
    await house.startNotifier({ SMTP_URL: server.url })
    const { userId } = await house.addHuman({}, old)
    await vi.waitFor(() => expect(asked).toHaveBeenCalled(), soon)
    for (const next of [newAddress(), newAddress(), newAddress()]) {
      await house.setEmail(userId, next)
      await vi.waitFor(() => expect(gotBy(next)).toHaveLength(1), soon)
    }
    held.resolve(undefined)
    await noJobs()
    expect(gotBy(old)).toEqual([])
  })

  test('answers a whole mail only after SMTP_TIMEOUT gets it once', async () => {
    const held = Promise.withResolvers<undefined>()
    const [email, other] = [newAddress(), newAddress()]
    const ready = vi.fn(() => new Promise<undefined>(() => {}))
    server.at((moment, address) => {
      if (moment === 'mail' && address === email) return held.promise
      return moment === 'DATA' && address === other ? ready() : undefined
    })
    await house.startNotifier({ SMTP_URL: server.url, SMTP_TIMEOUT: '1' })
    const { userId } = await house.addHuman({}, email)
    await vi.waitFor(() => expect(gotBy(email)).toHaveLength(1), soon)
    // The time of this one begins later, and ends.
    await house.addHuman({}, other)
    await vi.waitFor(() => expect(ready).toHaveBeenCalledTimes(2), soon)
    held.resolve(undefined)
    await ended(userId, 'sent')
    expect(gotBy(email)).toHaveLength(1)
  })
})
