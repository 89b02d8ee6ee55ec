import { randomUUID } from 'node:crypto'
import { chownSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { MailState } from '#gen/roster/notifier/v1/mail_service'
import { newAddress, openHouse, type TestHouse } from '../../services/notifier/testing/test-house.ts'
import { dovecot, maildir } from './dovecot.ts'
import { firstUser, type MailServer, startMailServer, unpackMailServer } from './mail-servers.ts'
import { postfix } from './postfix.ts'

const soon = { timeout: 60_000, interval: 50 }
const trusted = getCACertificates('default')
const unpacked = { postfix: unpackMailServer(postfix), dovecot: unpackMailServer(dovecot) }
const isHere = Boolean(unpacked.postfix && unpacked.dovecot)
const why = isHere ? '' : ' (skipped: Postfix and Dovecot cannot be had: they take packages of Debian, and root)'

let house: TestHouse
let box: MailServer
let relay: MailServer
let settings: Record<string, string>

beforeAll(async () => {
  house = await openHouse()
  await house.startUsers()
  if (!isHere) return
  box = await startMailServer(dovecot, unpacked.dovecot!, 0)
  relay = await startMailServer(postfix, unpacked.postfix!, Number(new URL(house.mail.url).port), [
    'virtual_mailbox_domains = bounces.example',
    'virtual_mailbox_maps = static:box/',
    `virtual_mailbox_base = ${box.folder}`,
    `virtual_uid_maps = static:${firstUser}`,
    `virtual_gid_maps = static:${firstUser}`,
  ])
  setDefaultCACertificates([...trusted, box.ca])
  settings = {
    SMTP_URL: `smtp://localhost:${relay.port}?ignoreTLS=true`,
    MAIL_BOUNCES_IMAP: `imap://bounces:secret@localhost:${box.port}`,
    MAIL_BOUNCES_ADDRESS: 'bounces+*@bounces.example',
    MAIL_BOUNCES_INTERVAL: '1',
    SWEEP_INTERVAL: '1',
  }
})
afterAll(async () => {
  await house?.stop()
  await Promise.all([box?.stop(), relay?.stop()])
  for (const folder of Object.values(unpacked)) if (folder) rmSync(folder, { recursive: true })
})
afterEach(() => house.stopNotifiers())

const start = async (more: Record<string, string> = {}) => {
  await house.startNotifier({ ...settings, ...more })
  await house.webhooksAnswer()
}
const only = async (userId: string) => (await house.mails({ userId }))[0]
const inState = (userId: string, state: MailState) =>
  vi.waitFor(async () => expect(await only(userId)).toMatchObject({ state }), soon)
const folderOf = (name: 'new' | 'cur') => join(box.folder, maildir, name)
const messages = () => [...readdirSync(folderOf('new')), ...readdirSync(folderOf('cur'))]
const isSeen = (name: string) => messages().some((file) => file.startsWith(name) && /:2,\w*S/.test(file))
const logins = () => box.log().match(/imap-login: Info: Login/g)?.length ?? 0

/** A mail that is taken, and the address to which a report about it goes. */
async function sent(): Promise<{ userId: string; mailId: string; returnPath: string }> {
  const { userId, email } = await house.addHuman()
  await inState(userId, MailState.MAIL_STATE_ACCEPTED)
  await vi.waitFor(() => expect(house.mail.mailsTo(email)).toHaveLength(1), soon)
  return { userId, mailId: (await only(userId))!.mailId, returnPath: house.mail.sendersTo(email).at(-1)! }
}

/** Puts a report into the mailbox, as if it had arrived. Returns the name of its file. */
function deliver(to: string, action: string, more: string[] = []): string {
  const name = randomUUID()
  const file = join(folderOf('new'), name)
  const lines = [
    'From: MAILER-DAEMON@mx.example',
    `To: ${to}`,
    ...more,
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=delivery-status; boundary="B"',
    '',
    '--B',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.example',
    '',
    'Final-Recipient: rfc822; gigi@example.com',
    `Action: ${action}`,
    'Status: 5.1.1',
    '',
    '--B--',
    '',
  ]
  writeFileSync(file, lines.join('\n'))
  chownSync(file, firstUser, firstUser)
  return name
}

test.skipIf(!isHere)(
  `a mail that the next server refuses once ours has it is bounced, and its report is deleted${why}`,
  async () => {
    await start()
    const email = newAddress()
    house.mail.answer(email, { at: 'RCPT TO', code: 550 })
    const { userId } = await house.addHuman({}, email)
    await inState(userId, MailState.MAIL_STATE_BOUNCED)
    const mail = (await only(userId))!
    expect(mail).toMatchObject({ bounceStatus: '5.1.1', bounceDate: expect.any(Date) })
    expect(mail.bounceReason).toMatch(/550 5\.1\.1 <\[hidden\]> not now/)
    expect(mail.bounceReason).not.toContain(email.split('@')[0])
    await vi.waitFor(() => expect(messages()).toEqual([]), soon)
    expect(house.logged()).toContain('a mail bounced')
    const bounced = await house.mails({ state: MailState.MAIL_STATE_BOUNCED })
    expect(bounced.map(({ mailId }) => mailId)).toEqual([mail.mailId])
    expect((await house.mails({ state: MailState.MAIL_STATE_ACCEPTED })).map(({ mailId }) => mailId)).not.toContain(
      mail.mailId,
    )
  },
)

test.skipIf(!isHere)(
  `what comes back of a mail that bounced is without its text, in which the code is${why}`,
  async () => {
    await house.redis.set('roster:bounces', 'another notifier')
    await start()
    const email = newAddress()
    house.mail.answer(email, { at: 'RCPT TO', code: 550 })
    const { userId } = await house.addHuman({}, email)
    await vi.waitFor(() => expect(readdirSync(folderOf('new'))).toHaveLength(1), soon)
    const raw = readFileSync(join(folderOf('new'), messages()[0]!), 'utf8')
    expect(raw).toContain('Action: failed')
    expect(raw).toContain('Subject: ')
    expect(raw).not.toContain('code=')
    await house.redis.del('roster:bounces')
    await inState(userId, MailState.MAIL_STATE_BOUNCED)
  },
)

test.skipIf(!isHere)(`a report about another mail by a stranger changes nothing, and stays as seen${why}`, async () => {
  await start()
  const { userId, mailId, returnPath } = await sent()
  const forged = returnPath.replace(/(?<=\+.{33}).{16}/, '0'.repeat(16))
  const names = [
    deliver(forged, 'failed', [`Message-ID: <${mailId}@id.example.com>`, `In-Reply-To: <${mailId}@id.example.com>`]),
    deliver('bounces@bounces.example', 'failed', [`References: <${mailId}@id.example.com>`]),
  ]
  await vi.waitFor(() => expect(names.map(isSeen)).toEqual([true, true]), soon)
  expect(await only(userId)).toMatchObject({ state: MailState.MAIL_STATE_ACCEPTED, bounceStatus: '' })
  deliver(returnPath, 'failed')
  await inState(userId, MailState.MAIL_STATE_BOUNCED)
})

test.skipIf(!isHere)(`a mail that another server still tries to deliver stays accepted${why}`, async () => {
  await start()
  const { userId, returnPath } = await sent()
  const name = deliver(returnPath, 'delayed')
  await vi.waitFor(() => expect(messages().filter((file) => file.startsWith(name))).toEqual([]), soon)
  expect(await only(userId)).toMatchObject({ state: MailState.MAIL_STATE_ACCEPTED })
})

test.skipIf(!isHere)(
  `while another notifier looks, this one does not log in, and takes over after it${why}`,
  async () => {
    await start()
    const { userId, returnPath } = await sent()
    await house.stopNotifiers()
    await house.redis.set('roster:bounces', 'another notifier')
    const before = logins()
    deliver(returnPath, 'failed')
    const watching = await house.redis.duplicate().monitor()
    const asked = Promise.withResolvers<void>()
    let times = 0
    watching.on('monitor', (_time: string, [command, key]: string[]) => {
      if (command!.toLowerCase() === 'set' && key === 'roster:bounces' && ++times === 3) asked.resolve()
    })
    await start()
    await asked.promise
    watching.disconnect()
    expect(logins()).toBe(before)
    expect(await only(userId)).toMatchObject({ state: MailState.MAIL_STATE_ACCEPTED })
    await house.redis.del('roster:bounces')
    await inState(userId, MailState.MAIL_STATE_BOUNCED)
  },
)

test.skipIf(!isHere)(
  `a mailbox that lets nobody in is in the log without its password, and holds up no mail${why}`,
  async () => {
    const before = house.logged().length
    await start({ MAIL_BOUNCES_IMAP: settings['MAIL_BOUNCES_IMAP']!.replace('secret', 'wrong-password') })
    const log = () => house.logged().slice(before)
    await vi.waitFor(() => expect(log()).toContain('the mailbox refuses the user and the password'), soon)
    expect(log()).not.toContain('wrong-password')
    const { userId, returnPath } = await sent()
    await house.stopNotifiers()
    await start()
    deliver(returnPath, 'failed')
    await inState(userId, MailState.MAIL_STATE_BOUNCED)
  },
)
