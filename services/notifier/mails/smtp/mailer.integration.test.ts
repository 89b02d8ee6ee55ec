import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createClock } from '../clock.ts'
import { loadMails } from '../render.ts'
import { type Mailer, openMailer } from './mailer.ts'
import { readNotifierConfig } from '../../config.ts'
import { readRefusal } from './smtp-refusal.ts'
import { startTestMailServer, type TestMailServer } from '../../testing/test-mail-server.ts'

let server: TestMailServer
let mailer: Mailer

beforeAll(async () => {
  server = await startTestMailServer()
  mailer = open()
})
afterAll(async () => {
  mailer?.close()
  await server?.pause()
})

function open(options = ''): Mailer {
  const config = readNotifierConfig({
    DATABASE_URL: 'postgres://none',
    NATS_URL: 'nats://none',
    REDIS_URL: 'redis://none',
    SMTP_URL: server.url + options,
    PUBLIC_URL: 'https://id.example.com',
    ROSTER_ENCRYPTION_KEY: Buffer.alloc(32).toString('base64'),
    ROSTER_CALLER_KEY: Buffer.alloc(32).toString('base64'),
  })
  return openMailer(config, loadMails(), createClock(), async () => undefined)
}

const sound = {
  email: 'ada@example.com',
  code: 'ABC234',
  url: 'https://id.example.com/v#code=ABC234',
  displayName: 'Ada',
  preferredLanguage: 'en',
  expirationDate: new Date(Date.now() + 3_600_000),
  changeDate: undefined,
  inviter: '',
  applicationName: '',
  message: '',
  name: '',
  kind: 0 as const,
  providers: [],
}
const refusal = (change: Partial<typeof sound>) =>
  mailer.send('email-code', 'id', { ...sound, ...change }).then(() => undefined, readRefusal)

// Each value comes as if no earlier check had seen it.
describe('no value becomes syntax for the mail server:', () => {
  test.each([
    'victim@example.com,evil@example.net',
    'victim@example.com, evil@example.net',
    'victim@example.com;evil@example.net',
    'victim@example.com evil@example.net',
    'victim@example.com>,<evil@example.net',
    'victim@example.com>\r\nRCPT TO:<evil@example.net',
    'victim@example.com\r\nBcc: evil@example.net',
    'victim@example.com\nevil@example.net',
    'victim@example.com\0@example.net',
    'Victim <evil@example.net>',
    '<evil@example.net>',
    '"victim@example.com"@example.net',
    '"a b"@example.net',
    'victim(@example.com)evil@example.net',
    'group:victim@example.com,evil@example.net;',
    '@example.org:evil@example.net',
    'a@b@example.net',
    'evil@[127.0.0.1]',
    'evil@example.net SIZE=1',
    'evil@bücher.example',
    '\u202eevil@example.net',
    'evil@example.net.',
    'evil@-example.net',
    '=?utf-8?Q?=41?=@example.net',
    'evil',
    '',
    `${'a'.repeat(300)}@example.net`,
  ])('the address %j reaches no one and is not tried again', async (email) => {
    expect(await refusal({ email })).toMatchObject({
      permanent: true,
      reason: 'The address cannot be written in SMTP.',
    })
    expect(server.tried()).toEqual([])
  })

  test.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'data:text/html,x',
    'https://id.example.com@evil.example/',
    'no link',
    '',
  ])('the link %j is in no mail', async (url) => {
    expect(await refusal({ url })).toMatchObject({ permanent: true, reason: 'The link cannot be written in a mail.' })
    expect(server.tried()).toEqual([])
  })

  test('a name, a code, a language and an id write no header and no link', async () => {
    const evil = '\r\nBcc: evil@example.net\r\n\r\n<a href="https://evil.example">click</a>\u202e'
    const email = "o'neil+tag@example.com"
    const all = {
      email,
      displayName: `Ada${evil}`,
      code: evil,
      preferredLanguage: `en${evil}`,
      url: `https://x/"><b>${evil}`,
    }
    await mailer.send('email-code', `id>${evil}`, { ...sound, ...all })
    expect(server.tried()).toEqual([email])
    const [mail] = server.mailsTo(email)
    expect(mail!.to).toEqual([{ name: '', address: email }])
    expect(mail!.bcc).toBeUndefined()
    expect(mail!.headers.map(({ key }) => key).filter((key) => key === 'bcc')).toEqual([])
    expect(mail!.messageId).toMatch(/^<[\w-]+@id\.example\.com>$/)
    expect(mail!.html).not.toMatch(/<a href="https:\/\/evil|<b>/)
    expect(mail!.text).toMatch(/^Hello,\n/)
  })
})

test('greets by the host of PUBLIC_URL, or by the name that SMTP_URL gives', async () => {
  const named = open('?name=mail.example.net')
  onTestFinished(() => named.close())
  await mailer.send('email-code', 'id', sound)
  expect(server.greetedAs()).toEqual(['id.example.com'])
  await named.send('email-code', 'id', sound)
  expect(server.greetedAs()).toEqual(['id.example.com', 'mail.example.net'])
})
