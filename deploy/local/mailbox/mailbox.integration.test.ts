import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTransport } from 'nodemailer'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startMailbox, type Mailbox } from './mailbox.ts'
import { openMailStore } from './store.ts'

const folder = mkdtempSync(join(tmpdir(), 'roster-mailbox-test-'))
let mailbox: Mailbox

beforeEach(async () => {
  mailbox = await startMailbox({ folder, smtpPort: 0, httpPort: 0 })
})
afterEach(async () => {
  await mailbox.stop()
  rmSync(folder, { recursive: true, force: true })
})

test('a mail is listed, searched and shown as Mailpit would', async () => {
  await send('ada@example.com', {
    subject: 'Grüße',
    text: 'Your code:\n\n  K7XM2P\n',
    html: '<p>Your code: <b>K7XM2P</b></p>',
  })
  await send('bob@example.com')
  const list = await json('/api/v1/messages?limit=1')
  expect(list).toMatchObject({ total: 2, count: 1, messages: [{ To: [{ Address: 'bob@example.com' }] }] })
  const search = await json('/api/v1/search?query=to:ADA@example.com')
  expect(search.messages).toEqual([
    expect.objectContaining({
      Subject: 'Grüße',
      Snippet: 'Your code: K7XM2P',
      From: { Name: 'Roster', Address: 'no-reply@example.com' },
    }),
  ])
  const id = search.messages[0]!.ID
  const mail = await json(`/api/v1/message/${id}`)
  expect(mail).toMatchObject({ ID: id, HTML: expect.stringContaining('<b>K7XM2P</b>'), Headers: { 'X-Test': ['yes'] } })
  expect(mail.MessageID).toMatch(/^[^<>@]+@example\.com$/)
  expect(await text(`/view/${id}.txt`)).toContain('  K7XM2P\n')
  expect(await text('/view/latest.html')).toBe('')
  expect(await text('/view/latest.txt?query=to:ada@example.com')).toContain('  K7XM2P\n')
  expect(await text('/view/latest.txt?query=to:nobody@example.com')).toBe('No such message.')
  const page = await text(`/?id=${id}`)
  expect(page).toContain('<iframe sandbox="allow-popups"')
  expect(page).not.toContain('<b>K7XM2P')
})

test(
  'mails are there after a second start, the newest first, and the oldest over a thousand are gone',
  { timeout: 20_000 },
  async () => {
    for (const to of ['first@example.com', 'second@example.com']) await send(to)
    await mailbox.stop()
    const store = await openMailStore(folder)
    expect(store.list().map((mail) => mail.To[0]?.Address)).toEqual(['second@example.com', 'first@example.com'])
    for (let n = 0; n < 999; n++) await store.add(Buffer.from('Subject: x\r\n\r\nx'), [`${n}@example.com`])
    await store.flush()
    expect(readdirSync(folder)).toHaveLength(1000)
    expect(store.list().at(-1)?.To[0]?.Address).toBe('second@example.com')
    mailbox = await startMailbox({ folder, smtpPort: 0, httpPort: 0 })
    expect(await fetch(`${mailbox.url}/api/v1/messages`, { method: 'DELETE' }).then((r) => r.status)).toBe(200)
    expect(readdirSync(folder)).toEqual([])
  },
)

test('it refuses the next mails, or those to one address, with the code that is asked for', async () => {
  mailbox.refuse({ code: 451, times: 1 })
  mailbox.refuse({ code: 550, recipient: 'gone@example.com' })
  await expect(send('ada@example.com')).rejects.toMatchObject({ responseCode: 451 })
  await send('ada@example.com')
  await expect(send('gone@example.com')).rejects.toMatchObject({ responseCode: 550 })
  mailbox.accept()
  await send('gone@example.com')
  expect(mailbox.mails.list()).toHaveLength(2)
})

test('it goes away and comes back on the same port', async () => {
  await mailbox.pause()
  await expect(send('ada@example.com')).rejects.toThrow('ECONNREFUSED')
  await mailbox.resume()
  const arrival = mailbox.mails.waitFor('ada@example.com')
  await send('ada@example.com')
  expect(await arrival).toMatchObject({ Subject: 'Hello' })
})

test('a web page under another name cannot read the mails', async () => {
  const { port } = new URL(mailbox.url)
  const { request } = await import('node:http')
  const status = await new Promise((resolve, reject) => {
    request({ port, path: '/api/v1/messages', headers: { host: 'evil.example' } }, (answer) =>
      resolve(answer.resume().statusCode),
    )
      .on('error', reject)
      .end()
  })
  expect(status).toBe(421)
})

async function send(to: string, content: { subject?: string; text?: string; html?: string } = {}): Promise<void> {
  const transport = createTransport(mailbox.smtpUrl)
  await transport.sendMail({
    from: 'Roster <no-reply@example.com>',
    to,
    subject: 'Hello',
    text: 'Hi',
    headers: { 'X-Test': 'yes' },
    ...content,
  })
  transport.close()
}

interface Answer {
  messages: { ID: string }[]
  MessageID: string
}

async function json(path: string): Promise<Answer> {
  return (await (await fetch(mailbox.url + path)).json()) as Answer
}

async function text(path: string): Promise<string> {
  return (await fetch(mailbox.url + path)).text()
}
