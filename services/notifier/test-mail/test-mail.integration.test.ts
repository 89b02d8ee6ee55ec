import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { SenderCheckResult as Result } from '#gen/roster/notifier/v1/mail_service'
import { RosterError } from '#lib/errors'
import { startTxtServer } from '#test/support/upstreams/txt-server'
import { openHouse, type TestHouse } from '../testing/test-house.ts'

const [user, pass] = ['postmaster', 'Giraffe/4711']
const texts = {
  'sound.example': ['another text', 'v=spf1 include:_spf.example.net -all'],
  'mail2026._domainkey.sound.example': [`v=DKIM1; k=rsa; p=${'M'.repeat(350)}`],
  '_dmarc.sound.example': ['v=DMARC1; p=reject'],
  'weak.example': ['v=spf1 ip4:192.0.2.1'],
  'mail2026._domainkey.weak.example': ['v=DKIM1; p='],
  '_dmarc.weak.example': ['v=DMARC1; p=none'],
  'twice.example': ['v=spf1 -all', 'v=spf1 ~all'],
  '_dmarc.example': ['v=DMARC1; p=reject'],
  'open.example': ['v=spf1 +all'],
  '_dmarc.open.example': ['v=DMARC1'],
}

let house: TestHouse
let names: Awaited<ReturnType<typeof startTxtServer>>

beforeAll(async () => {
  house = await openHouse()
  await house.startUsers()
  names = await startTxtServer(texts)
})
afterAll(async () => {
  names?.stop()
  await house?.stop()
})
beforeEach(async () => {
  await house.stopNotifiers()
})

/** Starts the notifier with these settings, and gives its test mails. */
async function start(settings: Record<string, string> = {}) {
  await house.stopNotifiers()
  await house.startNotifier({
    MAIL_FROM: 'Roster <no-reply@sound.example>',
    MAIL_DNS_SERVERS: names.address,
    ...settings,
  })
  await house.webhooksAnswer()
  await house.ledger`delete from uses`
  return (email = 'ada@example.com', within = 10_000) => house.testMail(email, within)
}

const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: RosterError) => error.reason,
  )
const nameOf = (result: number) =>
  Object.entries(Result)
    .find(([, number]) => number === result)![0]
    .replace('SENDER_CHECK_RESULT_', '')
const said = ({ dialogue }: { dialogue: { fromServer: boolean; text: string }[] }) =>
  dialogue.map(({ fromServer, text }) => `${fromServer ? 'S' : 'C'}: ${text}`)

/** A mail server that repeats user and password in its answers. */
async function startIndiscreetServer(method: string): Promise<string> {
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    authMethods: [method],
    onAuth({ username, password, validatePassword }, _session, callback) {
      const isRight = method === 'CRAM-MD5' ? validatePassword(pass) : password === pass
      if (username === user && isRight) return callback(null, { user })
      callback(Object.assign(new Error(`no ${username} with ${password}`), { responseCode: 535 }))
    },
    onMailFrom: (_address, _session, callback) =>
      callback(Object.assign(new Error(`${user} may not (${pass})`), { responseCode: 553 })),
  }).on('error', () => {})
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  onTestFinished(() => server.close())
  return `127.0.0.1:${(server.server.address() as AddressInfo).port}`
}

test('a test mail goes to the address, and the caller sees what was said', async () => {
  const testMail = await start()
  const answer = await testMail('see@example.com')
  expect(answer).toMatchObject({ accepted: true, error: '', sender: 'no-reply@sound.example' })
  expect(said(answer)).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^S: 220 /),
      expect.stringMatching(/^C: EHLO /),
      'C: MAIL FROM:<no-reply@sound.example>',
      'C: RCPT TO:<see@example.com>',
      'C: DATA',
      expect.stringMatching(/^S: 250 .*queued/i),
    ]),
  )
  expect(house.mail.mailsTo('see@example.com')).toMatchObject([{ subject: 'Test mail of id.example.com' }])
})

test('a refusal is no error of the call: the caller sees the reply', async () => {
  const testMail = await start()
  house.mail.answer('not@example.com', { at: 'RCPT TO', code: 550 })
  const answer = await testMail('not@example.com')
  expect(answer).toMatchObject({ accepted: false, error: 'SMTP 550 5.1.1: the mail server refused the address.' })
  expect(said(answer)).toContain('S: 550 5.1.1 <not@example.com> not now')
  const away = await start({ SMTP_URL: 'smtp://127.0.0.1:1' })
  expect(await away()).toMatchObject({ accepted: false, error: expect.stringContaining('ECONNREFUSED'), dialogue: [] })
})

test.each(['PLAIN', 'LOGIN', 'CRAM-MD5'])(
  'neither user nor password is in the answer or the log, by %s',
  async (method) => {
    const server = await startIndiscreetServer(method)
    const codes = [user, pass, `\0${user}\0${pass}`].flatMap((text) => [text, Buffer.from(text).toString('base64')])
    for (const right of [true, false]) {
      const testMail = await start({
        SMTP_URL: `smtp://${user}:${encodeURIComponent(right ? pass : `${pass}!`)}@${server}`,
      })
      const answer = await testMail()
      expect(answer.accepted).toBe(false)
      expect(said(answer).join('\n')).toContain(`C: AUTH ${method}`)
      expect(said(answer).join('\n')).toContain(right ? 'may not' : '535')
      for (const secret of codes) expect(JSON.stringify(answer)).not.toContain(secret)
    }
    expect(house.logged()).not.toContain(pass)
  },
)

test.each([
  ['sound', ['FOUND', 'FOUND', 'FOUND'], [/^$/, /^$/, /^$/]],
  ['weak', ['FOUND', 'FAULTY', 'FOUND'], [/other servers/, /revoked/, /none/]],
  ['twice', ['FAULTY', 'MISSING', 'MISSING'], [/2 such records/, /^$/, /^$/]],
  ['open', ['FAULTY', 'MISSING', 'FAULTY'], [/every server/, /^$/, /no policy/]],
  ['sub.sound', ['MISSING', 'MISSING', 'FOUND'], [/^$/, /^$/, /^$/]],
])('SPF, DKIM and DMARC of %s.example are %j', async (domain, results, problems) => {
  const testMail = await start({ MAIL_FROM: `no-reply@${domain}.example`, MAIL_DKIM_SELECTOR: 'mail2026' })
  const { senderChecks } = await testMail()
  expect(senderChecks.map(({ result }) => nameOf(result))).toEqual(results)
  for (const [at, problem] of problems.entries()) expect(senderChecks[at]!.problem).toMatch(problem)
})

test('without a selector DKIM is not checked, and of an address nothing', async () => {
  const results = async (settings: Record<string, string>) =>
    (await (await start(settings))()).senderChecks.map(({ result }) => result)
  const { SENDER_CHECK_RESULT_FOUND: found, SENDER_CHECK_RESULT_NOT_CHECKED: not } = Result
  expect(await results({})).toEqual([found, not, found])
  expect(await results({ MAIL_FROM: 'no-reply@[192.0.2.1]' })).toEqual([not, not, not])
})

test('where mails have an address for bounces, the test mail has one, and SPF is that of its domain', async () => {
  const testMail = await start({
    MAIL_BOUNCES_IMAP: 'imaps://bounces:secret@127.0.0.1:1',
    MAIL_BOUNCES_ADDRESS: '*@open.example',
  })
  const answer = await testMail('back@example.com')
  expect(answer).toMatchObject({ accepted: true, sender: 'no-reply@sound.example' })
  expect(house.mail.sendersTo('back@example.com')).toEqual([expect.stringMatching(/^[\da-z]{49}@open\.example$/)])
  expect(answer.senderChecks.map(({ name }) => name)).toEqual(['open.example', '', '_dmarc.sound.example'])
})

test('servers that are silent are given up before the call is, and what was said until then is shown', async () => {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => {}))
    socket.write('220 slow\r\n')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void (sockets.forEach((socket) => socket.destroy()), server.close()))
  const { port } = server.address() as AddressInfo
  const testMail = await start({ SMTP_URL: `smtp://127.0.0.1:${port}`, MAIL_FROM: 'no-reply@silent.example' })
  const answer = await testMail('ada@example.com', 3000)
  expect(answer).toMatchObject({ accepted: false, error: expect.stringMatching(/^It was not done within|^ETIMEDOUT/) })
  expect(said(answer)).toEqual(['S: 220 slow', expect.stringMatching(/^C: EHLO/)])
  expect(answer.senderChecks[0]).toMatchObject({ result: Result.SENDER_CHECK_RESULT_UNKNOWN, name: 'silent.example' })
})

test('five go out within a minute, whoever asks, and none in a drill or to what is no address', async () => {
  const testMail = await start()
  expect(await reasonOf(testMail('ada@example.com\r\nRCPT TO:<eve@example.com>'))).toBe('VALIDATION_FAILED')
  const all = await Promise.all(Array.from({ length: 7 }, () => reasonOf(testMail('often@example.com'))))
  expect(all.toSorted()).toEqual([...Array(2).fill('TEST_MAILS_THROTTLED'), ...Array(5).fill('done')])
  expect(house.mail.mailsTo('often@example.com')).toHaveLength(5)
  const inDrill = await start({ ROSTER_DRILL: '1' })
  expect(await reasonOf(inDrill())).toBe('DRILL_UNDER_WAY')
})
